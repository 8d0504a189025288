/* Tables, plain or in gzip, which are also read as a matrix where their columns can be edges. The
 * first four bytes of an input say what the table is read as, the file is behind them:
 *
 *   0   two bits: columns - 1; header no, yes, guess (modulo 3, two bits); ids from 0 or 1; ids
 *       limited to LIMIT or not
 *   1,2 three bits a column: its kind (modulo 6; what is not last is no LD_COLUMN_NUMBERS)
 *   3   the separator (modulo 5): guess, blank, tab, comma, semicolon */
#include <math.h>
#include <string.h>

#include "fuzz.h"
#include "io/text/text.h"
#include "memory/memory.h"

enum {
    SETTINGS = 4,
    MOST_COLUMNS = 4,
    LIMIT = 100,
    ALWAYS = 1 << 22,
    BYTES_PER_BYTE = 64,
    MOST_NODES = 1 << 16, /* of a table that is made a matrix */
    BYTES_PER_NODE = 32,
};

static const char separators[] = "\0 \t,;";

static void set_up(ld_table *t, ld_column *columns, const uint8_t *settings)
{
    int kinds = settings[1] | settings[2] << 8;
    *t = (ld_table){
        .columns = columns,
        .n_columns = 1 + settings[0] % MOST_COLUMNS,
        .header = (settings[0] >> 2 & 3) % 3,
        .first_id = settings[0] >> 4 & 1,
        .n_ids = settings[0] >> 5 & 1 ? LIMIT : 0,
        .n_labels = settings[0] >> 6 & 1 ? LIMIT : 0,
        .separator = separators[settings[3] % 5],
    };
    for (int i = 0; i < t->n_columns; i++) {
        int kind = (kinds >> (3 * i) & 7) % 6;
        bool last = i == t->n_columns - 1;
        if (kind == LD_COLUMN_NUMBERS && !last)
            kind = LD_COLUMN_NUMBER;
        columns[i] = (ld_column){.kind = (ld_column_kind)kind};
        if (columns[i].kind == LD_COLUMN_NAME)
            FUZZ_REQUIRE(fuzz_ok(ld_names_new(&columns[i].names)), "no names");
    }
}

static void clear(ld_table *t)
{
    ld_table_clear(t);
    for (int i = 0; i < t->n_columns; i++)
        ld_names_free(t->columns[i].names);
}

static void check_ids(ld_table *t, int64_t i)
{
    const ld_column *c = &t->columns[i];
    ld_index *x = NULL;
    if (!fuzz_ok(ld_grow_index(&x, &t->columns[i].cells)))
        return;
    FUZZ_REQUIRE(x->size == t->n_rows, "%" PRId64 " ids in %" PRId64 " rows", x->size, t->n_rows);
    int64_t limit = c->kind == LD_COLUMN_LABEL ? t->n_labels : t->n_ids;
    int64_t most = c->names ? ld_names_count(c->names) : limit > 0 ? limit : INT32_MAX;
    for (int64_t row = 0; row < x->size; row++)
        FUZZ_REQUIRE(x->data[row] >= (c->kind == LD_COLUMN_LABEL ? -1 : 0) && x->data[row] < most,
                     "id %d", x->data[row]);
    ld_index_unref(x);
}

/* A table of numbers that is written and read again must be the same table. */
static void check_written(const ld_tensor *t)
{
    char path[100];
    snprintf(path, sizeof path, "%s/table.csv", fuzz_folder());
    if (ld_tensor_size(t) == 0)
        return;
    FUZZ_REQUIRE(fuzz_ok(ld_text_write(path, t)), "%s", ld_message());
    ld_column column = {.kind = LD_COLUMN_NUMBERS};
    ld_table again = {.columns = &column, .n_columns = 1, .separator = ','};
    ld_tensor *u = NULL;
    FUZZ_REQUIRE(fuzz_ok(ld_table_read(&again, path)) && fuzz_ok(ld_table_tensor(&u, &again, 0)),
                 "%s", ld_message());
    FUZZ_REQUIRE(u->n_rows == t->n_rows && u->n_cols == t->n_cols &&
                     memcmp(u->data, t->data, (size_t)ld_tensor_size(t) * sizeof *t->data) == 0,
                 "the table comes back as another");
    ld_tensor_unref(u);
    ld_table_clear(&again);
}

static void check_numbers(ld_table *t, int64_t i)
{
    ld_tensor *x = NULL;
    bool rest = t->columns[i].kind == LD_COLUMN_NUMBERS;
    if (!fuzz_ok(ld_table_tensor(&x, t, i)))
        return;
    FUZZ_REQUIRE(x->n_rows == t->n_rows && x->n_cols == (rest ? t->n_fields - i : 1),
                 "%s numbers in %" PRId64 " rows", ld_tensor_shape(x), t->n_rows);
    for (int64_t k = 0; k < ld_tensor_size(x); k++)
        FUZZ_REQUIRE(isfinite(x->data[k]), "number %g", (double)x->data[k]);
    if (rest && i == 0)
        check_written(x);
    ld_tensor_unref(x);
}

static void check_table(ld_table *t)
{
    const char *title = t->titles;
    for (int64_t i = 0; title && i < t->n_fields; i++)
        title += strlen(title) + 1; /* a sanitizer sees whether they are there */
    for (int64_t i = 0; i < t->n_columns; i++) {
        switch (t->columns[i].kind) {
        case LD_COLUMN_SKIP: break;
        case LD_COLUMN_ID:
        case LD_COLUMN_LABEL:
        case LD_COLUMN_NAME: check_ids(t, i); break;
        default: check_numbers(t, i);
        }
    }
}

static bool is_node(const ld_column *c)
{
    return c->kind == LD_COLUMN_ID || c->kind == LD_COLUMN_NAME;
}

/* Returns true if the table may be one of edges between few enough nodes. */
static bool is_of_edges(const ld_table *t)
{
    const ld_column *c = t->columns;
    if (t->n_columns < 2 || t->n_columns > 3 || !is_node(&c[0]) || !is_node(&c[1]) ||
        (t->n_columns == 3 && c[2].kind != LD_COLUMN_NUMBER))
        return false;
    for (int64_t row = 0; row < t->n_rows; row++)
        if (c[0].cells.cells[row].id >= MOST_NODES || c[1].cells.cells[row].id >= MOST_NODES)
            return false;
    return true;
}

/* Counts the entry of an edge, which must be there. */
static void mark(bool *seen, const ld_structure *s, int32_t source, int32_t target)
{
    int64_t low = s->offsets[target], high = s->offsets[target + 1];
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (s->columns[middle] < source)
            low = middle + 1;
        else
            high = middle;
    }
    FUZZ_REQUIRE(low < s->offsets[target + 1] && s->columns[low] == source,
                 "the edge from %d to %d is missing", source, target);
    seen[low] = true;
}

/* The matrix of a table of edges has an entry for each edge, and no other. */
static void check_edges(const char *path, const uint8_t *settings)
{
    ld_column columns[MOST_COLUMNS] = {0};
    ld_table t;
    ld_csr *a = NULL;
    set_up(&t, columns, settings);
    if (fuzz_ok(ld_table_read(&t, path)) && is_of_edges(&t)) {
        int64_t n = t.n_rows;
        int32_t *ends = calloc((size_t)n + 1, 2 * sizeof *ends);
        FUZZ_REQUIRE(ends, "out of memory");
        for (int64_t i = 0; i < 2 * n; i++)
            ends[i] = columns[i % 2].cells.cells[i / 2].id;
        if (fuzz_ok(ld_table_matrix(&a, &t, path))) {
            fuzz_check_matrix(a);
            bool *seen = calloc((size_t)a->s->nnz + 1, sizeof *seen);
            FUZZ_REQUIRE(seen && !a->values == (t.n_columns == 2),
                         "values where there are none, or none");
            for (int64_t i = 0; i < n; i++)
                mark(seen, a->s, ends[2 * i], ends[2 * i + 1]);
            FUZZ_REQUIRE(!memchr(seen, false, (size_t)a->s->nnz), "an entry of no edge");
            free(seen);
        }
        free(ends);
    }
    ld_csr_unref(a);
    clear(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ld_column columns[MOST_COLUMNS] = {0};
    ld_table t;
    char *fields = NULL;
    int64_t n_fields;
    if (size < SETTINGS)
        return 0;
    const char *path = fuzz_file(data + SETTINGS, size - SETTINGS);
    int64_t unpacked = fuzz_unpacked_size(path);
    fuzz_begin();
    set_up(&t, columns, data);
    if (fuzz_ok(ld_table_peek(&fields, &n_fields, path, t.separator)))
        FUZZ_REQUIRE(n_fields > 0, "a line without fields");
    ld_free(fields);
    if (fuzz_ok(ld_table_read(&t, path)))
        check_table(&t);
    clear(&t);
    check_edges(path, data);
    fuzz_end(ALWAYS + unpacked * BYTES_PER_BYTE + MOST_NODES * BYTES_PER_NODE);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    return fuzz_mutate_gzip(data, size, most, seed, SETTINGS);
}

#include "io/array/safetensors_grow.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "io/array/npy_values.h"
#include "io/array/safetensors.h"
#include "io/file.h"

enum { LENGTH = 8, DATA = 1 << 14, TENSORS = 64, NAME = 64 }; /* the data begin with a page */

typedef struct {
    char name[NAME];
    ld_npy_header header;
    int64_t begin, end;
} entry;

struct ld_safetensors_grow {
    ld_writer *w;
    int64_t end;     /* of the data so far, from DATA on */
    int64_t left;    /* rows of the last tensor that are still to come */
    int64_t nnz;     /* of a matrix */
    int64_t offsets; /* where its next offset goes, in the file; 0: the last tensor is a table */
    int count;
    entry entries[TENSORS];
};

ld_status ld_safetensors_create(ld_safetensors_grow **out, const char *path)
{
    static const char zeros[DATA];
    ld_status st;
    ld_safetensors_grow *g = ld_calloc_array(1, sizeof *g, LD_MEM_IO);
    if (!g)
        return LD_NOMEM;
    LD_TRY(ld_writer_open(&g->w, path, "safetensors"));
    LD_TRY(ld_writer_put(g->w, zeros, DATA));
    *out = g;
    g = NULL;
done:
    ld_safetensors_abandon(g);
    return st;
}

void ld_safetensors_abandon(ld_safetensors_grow *g)
{
    if (!g)
        return;
    ld_writer_abandon(g->w);
    ld_free(g);
}

static ld_status put_bytes(ld_safetensors_grow *g, const void *data, int64_t size)
{
    ld_status st = ld_writer_put(g->w, data, size);
    g->end += size;
    g->entries[g->count - 1].end = g->end;
    return st;
}

/* Leaves room at the end, which reads as zeros as long as nothing is written there. */
static ld_status skip_bytes(ld_safetensors_grow *g, int64_t size)
{
    g->end += size;
    g->entries[g->count - 1].end = g->end;
    return fseeko(g->w->stream, DATA + g->end, SEEK_SET) == 0 ? LD_OK : ld_writer_fail(g->w);
}

/* Writes bytes elsewhere than at the end. */
static ld_status put_at(ld_safetensors_grow *g, int64_t position, const void *data, int64_t size)
{
    if (fseeko(g->w->stream, position, SEEK_SET) != 0)
        return ld_writer_fail(g->w);
    ld_status st = ld_writer_put(g->w, data, size);
    if (st == LD_OK && fseeko(g->w->stream, 0, SEEK_END) != 0)
        st = ld_writer_fail(g->w);
    return st;
}

static ld_status check_whole(const ld_safetensors_grow *g)
{
    if (g->left == 0)
        return LD_OK;
    return ld_fail(LD_VALUE, "%s: \"%s\" lacks %" PRId64 " rows", g->w->label.text,
                   g->entries[g->count - 1].name, g->left);
}

static bool is_name(const char *name)
{
    static const char ours[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    return *name && strlen(name) < NAME && name[strspn(name, ours)] == '\0';
}

/* Adds a tensor whose bytes come next. */
static ld_status add_entry(ld_safetensors_grow *g, const char *name, const ld_npy_header *h)
{
    ld_status st = check_whole(g);
    bool taken = !is_name(name) || g->count == TENSORS;
    for (int i = 0; i < g->count; i++)
        taken = taken || strcmp(g->entries[i].name, name) == 0;
    if (st == LD_OK && taken)
        st = ld_fail(LD_VALUE, "%s: a tensor cannot be called \"%.80s\", or there are too many",
                     g->w->label.text, name);
    if (st == LD_OK && g->end % h->type.size != 0)
        st = ld_fail(LD_VALUE, "%s: \"%s\" must come before tensors of smaller elements",
                     g->w->label.text, name);
    if (st != LD_OK)
        return st;
    entry *e = &g->entries[g->count++];
    *e = (entry){.header = *h, .begin = g->end, .end = g->end};
    snprintf(e->name, sizeof e->name, "%s", name);
    return LD_OK;
}

ld_status ld_safetensors_put(ld_safetensors_grow *g, const ld_npy_array *array)
{
    ld_status st;
    LD_TRY(add_entry(g, array->name, &array->header));
    LD_TRY(put_bytes(g, array->data, ld_npy_bytes(&array->header)));
done:
    return st;
}

ld_status ld_safetensors_begin_rows(ld_safetensors_grow *g, const char *name, ld_npy_type type,
                                    int64_t n_rows, int64_t n_cols)
{
    ld_npy_header h = {.type = type, .ndim = 2, .n_rows = n_rows, .n_cols = n_cols};
    ld_status st = add_entry(g, name, &h);
    if (st == LD_OK) {
        g->left = n_rows;
        g->offsets = 0;
    }
    return st;
}

/* LD_VALUE unless n more rows of this width may come. */
static ld_status check_rows(const ld_safetensors_grow *g, bool matrix, int64_t n, int64_t n_cols)
{
    const entry *e = g->count > 0 ? &g->entries[g->count - 1] : NULL;
    bool fits = e && n <= g->left && matrix == (g->offsets > 0);
    if (fits && (matrix || e->header.n_cols == n_cols))
        return LD_OK;
    return ld_fail(LD_VALUE,
                   "%s: %" PRId64 " x %" PRId64 " are not the next rows of what was begun",
                   g->w->label.text, n, n_cols);
}

typedef struct {
    const float *numbers;
    char *items;
    ld_npy_type type;
    ld_loop_failure failure;
} conversion;

static void convert(void *ctx, int64_t begin, int64_t end)
{
    conversion *c = ctx;
    ld_loop_note(&c->failure, ld_npy_put_floats(c->items, c->type, c->numbers, begin, end));
}

/* The numbers as the last tensor's type. */
static ld_status put_numbers(ld_safetensors_grow *g, const float *numbers, int64_t size)
{
    enum { PIECE = 1 << 20, GRAIN = 1 << 14 };
    conversion c = {.type = g->entries[g->count - 1].header.type};
    int64_t room = size < PIECE ? size : PIECE;
    ld_status st = LD_OK;
    if (!(c.items = ld_alloc_array(room, (size_t)c.type.size, LD_MEM_IO)))
        return LD_NOMEM;
    for (int64_t first = 0; first < size; first += PIECE) {
        int64_t n = size - first < PIECE ? size - first : PIECE;
        c.numbers = numbers + first;
        LD_TRY(ld_loop_result(&c.failure, ld_parallel_for(n, GRAIN, convert, &c)));
        LD_TRY(put_bytes(g, c.items, n * c.type.size));
    }
done:
    ld_free(c.items);
    return st;
}

ld_status ld_safetensors_put_rows(ld_safetensors_grow *g, const ld_tensor *rows)
{
    ld_status st;
    LD_TRY(check_rows(g, false, rows->n_rows, rows->n_cols));
    LD_TRY(put_numbers(g, rows->data, ld_tensor_size(rows)));
    g->left -= rows->n_rows;
done:
    return st;
}

ld_status ld_safetensors_begin_csr(ld_safetensors_grow *g, const char *prefix, int64_t n_rows,
                                   int64_t n_cols)
{
    ld_npy_header h = {.type = {'i', 8}, .ndim = 1, .n_rows = n_rows + 1, .n_cols = 1};
    int64_t shape[2] = {n_rows, n_cols}, at;
    char name[2 * NAME];
    ld_status st;
    snprintf(name, sizeof name, "%.80s_indptr", prefix);
    LD_TRY(add_entry(g, name, &h));
    at = DATA + g->end;
    LD_TRY(skip_bytes(g, 8 * (n_rows + 1))); /* they come with the rows */
    snprintf(name, sizeof name, "%.80s_shape", prefix);
    h.n_rows = 2;
    LD_TRY(ld_safetensors_put(g, &(ld_npy_array){name, h, shape}));
    snprintf(name, sizeof name, "%.80s_indices", prefix);
    h = (ld_npy_header){.type = {'i', 4}, .ndim = 1, .n_rows = 0, .n_cols = 1};
    LD_TRY(add_entry(g, name, &h));
    g->left = n_rows;
    g->nnz = 0;
    g->offsets = at + 8; /* the first is 0 */
done:
    return st;
}

ld_status ld_safetensors_put_csr(ld_safetensors_grow *g, const ld_csr *rows)
{
    const ld_structure *s = rows->s;
    int64_t *offsets = NULL;
    ld_status st;
    LD_TRY(check_rows(g, true, s->n_rows, s->n_cols));
    if (!(offsets = ld_alloc_array(s->n_rows, sizeof *offsets, LD_MEM_IO))) {
        st = LD_NOMEM;
        goto done;
    }
    for (int64_t r = 0; r < s->n_rows; r++)
        offsets[r] = g->nnz + s->offsets[r + 1];
    LD_TRY(put_at(g, g->offsets, offsets, 8 * s->n_rows));
    LD_TRY(put_bytes(g, s->columns, s->nnz * (int64_t)sizeof *s->columns));
    g->nnz += s->nnz;
    g->offsets += 8 * s->n_rows;
    g->left -= s->n_rows;
    g->entries[g->count - 1].header.n_rows = g->nnz;
done:
    ld_free(offsets);
    return st;
}

static const char *name_of_type(ld_npy_type type)
{
    const ld_safetensors_type *t = ld_safetensors_types;
    while (t->name && (t->type.kind != type.kind || t->type.size != type.size))
        t++;
    return t->name;
}

ld_status ld_safetensors_commit(ld_safetensors_grow *g)
{
    char *text = ld_alloc(DATA, LD_MEM_IO);
    uint64_t length = DATA - LENGTH;
    int64_t n = LENGTH;
    ld_status st = text ? check_whole(g) : LD_NOMEM;
    for (int i = 0; st == LD_OK && i < g->count; i++) {
        const entry *e = &g->entries[i];
        const char *type = name_of_type(e->header.type);
        if (!type || e->header.ndim > 2)
            st = ld_fail(LD_VALUE, "%s: \"%s\" is of a type or a shape that the format has not",
                         g->w->label.text, e->name);
        else /* at most 64 of less than 256 bytes: they have room */
            n += snprintf(text + n, (size_t)(DATA - n), "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[",
                          i ? "," : "{", e->name, type);
        if (st == LD_OK && e->header.ndim > 0)
            n += snprintf(text + n, (size_t)(DATA - n), "%" PRId64, e->header.n_rows);
        if (st == LD_OK && e->header.ndim > 1)
            n += snprintf(text + n, (size_t)(DATA - n), ",%" PRId64, e->header.n_cols);
        if (st == LD_OK)
            n += snprintf(text + n, (size_t)(DATA - n),
                          "],\"data_offsets\":[%" PRId64 ",%" PRId64 "]}", e->begin, e->end);
    }
    if (st == LD_OK) {
        n += snprintf(text + n, (size_t)(DATA - n), "%s", g->count ? "}" : "{}");
        memset(text + n, ' ', (size_t)(DATA - n));
        for (int i = 0; i < LENGTH; i++)
            text[i] = (char)(length >> 8 * i);
        st = put_at(g, 0, text, DATA);
    }
    ld_free(text);
    if (st == LD_OK) {
        st = ld_writer_commit(g->w);
        g->w = NULL;
        ld_free(g);
    } else {
        ld_safetensors_abandon(g);
    }
    return st;
}

#include "io/text/text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "io/text/number.h"
#include "memory/memory.h"

static const char COMMENTS[] = "#%";

enum { NODES_ALWAYS = 1000000, NODES_FOR_EACH_LINE = 100 };

typedef struct ld_table_rows {
    ld_lines lines;
    ld_table *table;
    char separator;
    bool in_pieces;   /* memory does not grow with the file */
    char *line, *end; /* the next row; NULL behind the last */
} reader;

/* --- fields ----------------------------------------------------------------------------------- */

static bool is_blank(const reader *r, char c)
{
    return c == ' ' || (c == '\t' && r->separator != '\t');
}

static char *skip_blanks(const reader *r, char *p)
{
    while (is_blank(r, *p))
        p++;
    return p;
}

/* Returns true if a field ends at p, and moves *p to the next field, or makes it NULL behind the
 * last one. */
static bool end_field(const reader *r, char **p, const char *end)
{
    char *at = skip_blanks(r, *p);
    if (at == end) {
        *p = NULL;
        return true;
    }
    bool separated = r->separator == ' ' ? at > *p : *at == r->separator;
    *p = r->separator == ' ' ? at : skip_blanks(r, at + 1);
    return separated;
}

/* Returns where a field without quotes ends, before blanks. */
static char *bare_end(const reader *r, char *p, char *end)
{
    char *q = p;
    if (r->separator == ' ') {
        while (q < end && !is_blank(r, *q))
            q++;
        return q;
    }
    q = memchr(p, r->separator, (size_t)(end - p));
    q = q ? q : end;
    while (q > p && is_blank(r, q[-1]))
        q--;
    return q;
}

/* Takes a text at p, and its quotes off in place. Returns where it ends in the line, or NULL when
 * the closing quote is missing. */
static char *take_text(const reader *r, char *p, char *end, char **text, int64_t *length)
{
    if (*p != '"') {
        char *stop = bare_end(r, p, end);
        *text = p;
        *length = stop - p;
        return stop;
    }
    char *to = p, *from = p + 1;
    for (; from < end; from++) {
        if (*from == '"' && *++from != '"') {
            *text = p;
            *length = to - p;
            return from;
        }
        *to++ = *from;
    }
    return NULL;
}

static const char *kind_text(const reader *r, ld_column_kind kind)
{
    bool one = r->table->first_id == 1;
    switch (kind) {
    case LD_COLUMN_ID: return one ? "a whole number from 1 on" : "a whole number from 0 on";
    case LD_COLUMN_LABEL:
        return one ? "a whole number from 1 on, or 0 or nothing: none"
                   : "a whole number from 0 on, or -1 or nothing: none";
    case LD_COLUMN_NAME: return "a name";
    default: return "a number";
    }
}

static ld_status fail_field(const reader *r, int64_t column, char *p, char *end,
                            const char *expected)
{
    return ld_lines_fail(&r->lines, column + 1, p, bare_end(r, p, end), expected);
}

/* Fails with the text of the first field that lacks, or that is too many. */
static ld_status fail_ragged(const reader *r, int64_t column, char *p, char *end)
{
    char expected[80];
    snprintf(expected, sizeof expected, "%s%lld columns%s", p ? "no more than " : "",
             (long long)r->table->n_fields, p ? "" : " as before");
    return fail_field(r, column, p ? p : end, end, expected);
}

/* --- values ----------------------------------------------------------------------------------- */

static ld_status push(const reader *r, ld_column *c, ld_cell cell)
{
    ld_grow *g = &c->cells;
    if (g->count == g->room) {
        bool number = c->kind == LD_COLUMN_NUMBER || c->kind == LD_COLUMN_NUMBERS;
        LD_CHECK(ld_grow_more(g, r->in_pieces ? 1 : ld_lines_share(&r->lines),
                              number ? LD_MEM_TENSOR : LD_MEM_INDEX));
    }
    g->cells[g->count++] = cell;
    return LD_OK;
}

static void note_largest(const reader *r, int64_t id, int64_t column)
{
    ld_table *t = r->table;
    if (id <= t->most)
        return;
    t->most = id;
    t->most_line = r->lines.number;
    t->most_column = column + 1;
}

static ld_status store_id(const reader *r, ld_column *c, int64_t column, char **p, char *end)
{
    const ld_table *t = r->table;
    char expected[80];
    int64_t value = 0;
    char *start = *p;
    bool empty = c->kind == LD_COLUMN_LABEL && (start == end || *start == r->separator);
    char *stop = empty ? start : (char *)ld_parse_integer(&value, start);
    value = empty ? -1 : value;
    bool none = c->kind == LD_COLUMN_LABEL && (value == -1 || value == t->first_id - 1);
    *p = stop;
    if (!stop || (value < t->first_id && !none) || !end_field(r, p, end))
        return fail_field(r, column, start, end, kind_text(r, c->kind));
    int64_t id = none ? -1 : value - t->first_id;
    int64_t limit = c->kind == LD_COLUMN_LABEL ? t->n_labels : t->n_ids;
    limit = limit > 0 ? limit : INT32_MAX - 1;
    if (id >= limit) {
        snprintf(expected, sizeof expected, "at most %lld%s", (long long)limit - 1 + t->first_id,
                 c->kind == LD_COLUMN_LABEL ? ", the limit of labels" : "");
        return fail_field(r, column, start, end, expected);
    }
    if (c->kind == LD_COLUMN_ID)
        note_largest(r, id, column);
    return push(r, c, (ld_cell){.id = (int32_t)id});
}

/* Returns where a field that stands for no number ends: an empty one, "nan" or "na"; NULL for
 * another. */
static char *missing_end(const reader *r, char *p, char *end)
{
    char *stop = bare_end(r, p, end);
    bool missing = stop == p || (stop - p == 3 && strncasecmp(p, "nan", 3) == 0) ||
                   (stop - p == 2 && strncasecmp(p, "na", 2) == 0);
    return missing ? stop : NULL;
}

static ld_status store_number(const reader *r, ld_column *c, int64_t column, char **p, char *end)
{
    ld_cell cell = {.number = NAN};
    char *start = *p, *missing = r->table->missing ? missing_end(r, start, end) : NULL;
    *p = missing ? missing : (char *)ld_parse_float(&cell.number, start);
    if (!*p || !end_field(r, p, end))
        return fail_field(r, column, start, end, "a number");
    if (isinf(cell.number))
        return fail_field(r, column, start, end, "a number that fits float32");
    return push(r, c, cell);
}

static ld_status store_name(const reader *r, ld_column *c, int64_t column, char **p, char *end)
{
    ld_cell cell;
    char *text, *start = *p;
    int64_t length;
    *p = take_text(r, start, end, &text, &length);
    if (!*p || !end_field(r, p, end))
        return ld_lines_fail(&r->lines, column + 1, start, end, "a closing quote and a separator");
    bool empty = length == 0 && ld_names_find(c->names, text, 0) < 0;
    if (empty || memchr(text, '\0', (size_t)length))
        return ld_lines_fail(&r->lines, column + 1, text, text + length, "a name");
    LD_CHECK(ld_names_add(c->names, &cell.id, text, length));
    return push(r, c, cell);
}

static ld_status skip_field(const reader *r, int64_t column, char **p, char *end)
{
    char *text, *start = *p;
    int64_t length;
    *p = take_text(r, start, end, &text, &length);
    if (!*p || !end_field(r, p, end))
        return ld_lines_fail(&r->lines, column + 1, start, end, "a closing quote and a separator");
    return LD_OK;
}

static ld_status store_field(const reader *r, ld_column *c, int64_t column, char **p, char *end)
{
    switch (c->kind) {
    case LD_COLUMN_ID:
    case LD_COLUMN_LABEL: return store_id(r, c, column, p, end);
    case LD_COLUMN_NAME: return store_name(r, c, column, p, end);
    case LD_COLUMN_SKIP: return skip_field(r, column, p, end);
    default: return store_number(r, c, column, p, end);
    }
}

static ld_status store_line(const reader *r, char *p, char *end)
{
    const ld_table *t = r->table;
    for (int64_t i = 0; i < t->n_fields; i++) {
        if (!p)
            return fail_ragged(r, i, NULL, end);
        ld_status st =
            store_field(r, &t->columns[i < t->n_columns ? i : t->n_columns - 1], i, &p, end);
        if (st != LD_OK)
            return st;
    }
    return p ? fail_ragged(r, t->n_fields, p, end) : LD_OK;
}

/* --- the first line --------------------------------------------------------------------------- */

static char guess_separator(const char *line, const char *end)
{
    for (const char *s = "\t,;"; *s; s++)
        if (memchr(line, *s, (size_t)(end - line)))
            return *s;
    return ' ';
}

/* Copies the texts of a line, a zero behind each, to a new block. */
static ld_status split(const reader *r, char **fields, int64_t *n_fields, const char *line,
                       const char *line_end)
{
    int64_t size = line_end - line, length;
    char *text, *to;
    LD_FREED char *copy = ld_alloc((size_t)size + 1, LD_MEM_IO); /* quotes are taken off in place */
    LD_FREED char *out = ld_alloc((size_t)size + 1, LD_MEM_IO);
    if (!copy || !out)
        return LD_NOMEM;
    memcpy(copy, line, (size_t)size + 1);
    to = out;
    *n_fields = 0;
    for (char *p = copy; p; ++*n_fields) {
        char *start = p;
        p = take_text(r, p, copy + size, &text, &length);
        if (!p || !end_field(r, &p, copy + size))
            return ld_lines_fail(&r->lines, *n_fields + 1, start, copy + size,
                                 "a closing quote and a separator");
        memcpy(to, text, (size_t)length);
        to += length;
        *to++ = '\0';
    }
    *fields = ld_take(&out);
    return LD_OK;
}

/* Returns true if a field is a title: it begins as words do. "inf" and "nan" do, too, but are bad
 * numbers. */
static bool is_title(const char *field)
{
    bool letter = (*field | 32) >= 'a' && (*field | 32) <= 'z';
    if (strcasecmp(field, "inf") == 0 || strcasecmp(field, "infinity") == 0 ||
        strcasecmp(field, "nan") == 0 || strcasecmp(field, "na") == 0)
        return false;
    return letter || *field == '_' || (*field & 0x80);
}

static bool looks_like_header(const ld_table *t, const char *fields, int64_t n_fields)
{
    bool numeric = false;
    for (int64_t i = 0; i < n_fields; i++, fields += strlen(fields) + 1) {
        const ld_column *c = &t->columns[i < t->n_columns ? i : t->n_columns - 1];
        if (c->kind == LD_COLUMN_NAME || c->kind == LD_COLUMN_SKIP)
            continue;
        if (!is_title(fields))
            return false;
        numeric = true;
    }
    return numeric;
}

/* Learns the separator from the first line, and if that is a header: *line becomes NULL then. */
static ld_status begin(reader *r, char **line, const char *end)
{
    ld_table *t = r->table;
    char *fields;
    bool rest = t->columns[t->n_columns - 1].kind == LD_COLUMN_NUMBERS;
    r->separator = t->separator ? t->separator : guess_separator(*line, end);
    ld_status st = split(r, &fields, &t->n_fields, *line, end);
    if (st != LD_OK)
        return st;
    if (rest ? t->n_fields < t->n_columns : t->n_fields != t->n_columns) {
        st = ld_fail(LD_FORMAT, "%s: line %lld: found %lld columns, expected %lld%s",
                     ld_ahead_name(r->lines.file), (long long)r->lines.number,
                     (long long)t->n_fields, (long long)t->n_columns, rest ? " or more" : "");
    } else if (t->header == LD_HEADER_YES ||
               (t->header == LD_HEADER_GUESS && looks_like_header(t, fields, t->n_fields))) {
        *line = NULL;
        t->titles = fields;
        fields = NULL;
    }
    ld_free(fields);
    return st;
}

/* Gives the next line of a table. A blank line before it is refused: it may be a row whose value is
 * missing, and without it all rows behind would be those of other nodes. */
static ld_status next_row(reader *r, char **line, char **end)
{
    ld_status st = ld_lines_next_full(&r->lines, COMMENTS, line, end);
    if (st == LD_OK && *line && r->lines.blank > 0)
        return ld_fail(LD_FORMAT,
                       "%s: line %" PRId64 " is blank; only lines behind the last row may be",
                       ld_ahead_name(r->lines.file), r->lines.blank);
    return st;
}

/* --- tables ----------------------------------------------------------------------------------- */

/* Opens the file and learns from its first line; r->line is the first row then. */
static ld_status start(reader *r, const char *path)
{
    LD_CHECK(ld_lines_open(&r->lines, path, "text", r->table->progress, r->table->context));
    LD_CHECK(next_row(r, &r->line, &r->end));
    if (!r->line)
        return ld_fail(LD_FORMAT, "%s: has no lines", ld_ahead_name(r->lines.file));
    LD_CHECK(begin(r, &r->line, r->end));
    if (!r->line)
        LD_CHECK(next_row(r, &r->line, &r->end));
    return LD_OK;
}

/* Reads the next n rows, or as many as there are. */
static ld_status read_rows(reader *r, int64_t n)
{
    for (; r->line && n > 0; n--, r->table->n_rows++) {
        LD_CHECK(store_line(r, r->line, r->end));
        LD_CHECK(next_row(r, &r->line, &r->end));
    }
    return LD_OK;
}

static void close_lines(reader *r)
{
    ld_lines_close(&r->lines);
}

ld_status ld_table_read(ld_table *t, const char *path)
{
    LD_CLEANED(close_lines) reader r = {.table = t};
    LD_CHECK(start(&r, path));
    LD_CHECK(read_rows(&r, INT32_MAX));
    if (r.line)
        return ld_fail(LD_FORMAT, "%s: line %" PRId64 ": more than %d lines of data; no more fit",
                       ld_ahead_name(r.lines.file), r.lines.number, INT32_MAX);
    return LD_OK;
}

ld_status ld_table_open(ld_table_rows **out, ld_table *t, const char *path)
{
    LD_OWN(ld_table_rows) *r = ld_calloc_array(1, sizeof *r, LD_MEM_IO);
    if (!r)
        return LD_NOMEM;
    r->table = t;
    r->in_pieces = true;
    LD_CHECK(start(r, path));
    *out = ld_take(&r);
    return LD_OK;
}

ld_status ld_table_next(ld_table_rows *r, int64_t n)
{
    return read_rows(r, n);
}

void ld_table_close(ld_table_rows *r)
{
    if (r)
        ld_lines_close(&r->lines);
    ld_free(r);
}

ld_status ld_table_peek(char **fields, int64_t *n_fields, const char *path, char separator)
{
    LD_CLEANED(close_lines) reader r = {0};
    char *line, *end;
    LD_CHECK(ld_lines_open(&r.lines, path, "text", NULL, NULL));
    LD_CHECK(next_row(&r, &line, &end));
    if (!line)
        return ld_fail(LD_FORMAT, "%s: has no lines", ld_ahead_name(r.lines.file));
    r.separator = separator ? separator : guess_separator(line, end);
    return split(&r, fields, n_fields, line, end);
}

ld_status ld_table_index(ld_index **out, ld_table *t, int64_t column)
{
    return ld_grow_index(out, &t->columns[column].cells);
}

ld_status ld_table_tensor(ld_tensor **out, ld_table *t, int64_t column)
{
    bool rest = t->columns[column].kind == LD_COLUMN_NUMBERS;
    return ld_grow_tensor(out, &t->columns[column].cells,
                          rest ? t->n_fields - t->n_columns + 1 : 0);
}

/* Returns how many nodes there are: as many as the caller said, or as the two columns of them
 * need. */
static int64_t count_nodes(const ld_table *t)
{
    int64_t n = t->n_ids;
    for (int i = 0; i < 2; i++) {
        const ld_column *c = &t->columns[i];
        if (c->names && ld_names_count(c->names) > n)
            n = ld_names_count(c->names);
        if (!c->names && t->n_ids == 0 && c->cells.count > 0 && t->most >= n)
            n = t->most + 1;
    }
    return n;
}

ld_status ld_table_matrix(ld_csr **out, ld_table *t, const char *path)
{
    LD_OWN(ld_structure) *s = NULL;
    LD_OWN(ld_tensor) *values = NULL;
    LD_FREED int32_t *rows = NULL;
    int64_t count = t->columns[0].cells.count, n = count_nodes(t);
    if (t->n_ids == 0 && t->most > NODES_ALWAYS + NODES_FOR_EACH_LINE * t->n_rows)
        return ld_fail(LD_RANGE,
                       "text: %s: line %lld, column %lld: id %lld is far beyond the %lld lines; "
                       "n_ids says how many nodes there are",
                       path, (long long)t->most_line, (long long)t->most_column,
                       (long long)t->most + t->first_id, (long long)t->n_rows);
    if (count > 0) {
        LD_CHECK(ld_structure_of_block(&s, n, n, count, ld_grow_block(&t->columns[0].cells)));
        rows = ld_grow_block(&t->columns[1].cells);
    } else {
        LD_CHECK(ld_structure_new(&s, n, n, 0, false));
    }
    if (t->n_columns > 2 && t->columns[2].kind == LD_COLUMN_NUMBER)
        LD_CHECK(ld_grow_tensor(&values, &t->columns[2].cells, 0));
    return ld_csr_from_entries(out, s, rows, values);
}

void ld_table_clear(ld_table *t)
{
    for (int64_t i = 0; i < t->n_columns; i++)
        ld_grow_clear(&t->columns[i].cells);
    ld_free(t->titles);
    t->titles = NULL;
}

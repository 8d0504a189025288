#include "io/mtx.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "io/number.h"
#include "io/print.h"

static const char COMMENTS[] = "%";

typedef enum { GENERAL, SYMMETRIC, SKEW } symmetry;

typedef struct {
    ld_lines lines;
    bool coordinate, pattern;
    symmetry symmetry;
    int64_t n_rows, n_cols;
    int64_t count; /* of entries in the file */
} reader;

/* --- banner and sizes ------------------------------------------------------------------------- */

static ld_status fail(const reader *r, const char *found, const char *end, const char *expected)
{
    return ld_lines_fail(&r->lines, 0, found, end, expected);
}

/* The next word of a line, with its end as a zero. */
static char *next_word(char **p)
{
    char *word = *p + strspn(*p, " \t"), *end = word + strcspn(word, " \t");
    *p = *end ? end + 1 : end;
    *end = '\0';
    return word;
}

/* The position of a word in a list that ends with NULL, or -1. */
static int position_of(const char *word, const char *const *list)
{
    for (int i = 0; list[i]; i++)
        if (strcasecmp(word, list[i]) == 0)
            return i;
    return -1;
}

static ld_status read_banner(reader *r)
{
    static const char *const formats[] = {"array", "coordinate", NULL};
    static const char *const fields[] = {"real", "double", "integer", "pattern", NULL};
    static const char *const kinds[] = {"general", "symmetric", "skew-symmetric", NULL};
    char *p, *end;
    ld_status st = ld_lines_next(&r->lines, &p, &end);
    if (st != LD_OK)
        return st;
    if (!p || strncasecmp(p, "%%MatrixMarket", 14) != 0)
        return fail(r, p, end, "%%MatrixMarket at the beginning of the file");
    p += 14;
    char *word = next_word(&p);
    if (strcasecmp(word, "matrix") != 0)
        return fail(r, word, word + strlen(word), "\"matrix\"");
    word = next_word(&p);
    int format = position_of(word, formats);
    if (format < 0)
        return fail(r, word, word + strlen(word), "\"coordinate\" or \"array\"");
    word = next_word(&p);
    int field = position_of(word, fields);
    r->coordinate = format == 1;
    r->pattern = field == 3;
    if (field < 0 || (r->pattern && !r->coordinate))
        return fail(r, word, word + strlen(word),
                    r->coordinate ? "\"real\", \"integer\" or \"pattern\""
                                  : "\"real\" or \"integer\"");
    word = next_word(&p);
    int kind = position_of(word, kinds);
    if (kind < 0)
        return fail(r, word, word + strlen(word),
                    "\"general\", \"symmetric\" or \"skew-symmetric\"");
    r->symmetry = (symmetry)kind;
    return LD_OK;
}

static const char *skip_blanks(const char *p)
{
    while (*p == ' ' || *p == '\t')
        p++;
    return p;
}

/* A whole number in 0 .. high and the blanks behind it; NULL when there is none. */
static const char *take_count(int64_t *out, const char *p, int64_t high)
{
    p = ld_parse_integer(out, skip_blanks(p));
    return p && *out >= 0 && *out <= high ? skip_blanks(p) : NULL;
}

static ld_status read_sizes(reader *r)
{
    char *line, *end;
    int64_t high = INT32_MAX - 1;
    ld_status st = ld_lines_next_full(&r->lines, COMMENTS, &line, &end);
    if (st != LD_OK)
        return st;
    const char *p = line ? take_count(&r->n_rows, line, high) : NULL;
    p = p ? take_count(&r->n_cols, p, high) : NULL;
    if (p && r->coordinate)
        p = take_count(&r->count, p, INT64_MAX - 1);
    if (p != end || !p)
        return fail(r, line, end, r->coordinate ? "rows, columns and entries" : "rows and columns");
    if (r->symmetry != GENERAL && r->n_rows != r->n_cols)
        return fail(r, line, end, "as many rows as columns, as the matrix is symmetric");
    return LD_OK;
}

/* A declared number of entries of at least so many bytes in a file that cannot hold them would
 * reserve memory for nothing. */
static ld_status check_room(const reader *r, int64_t count, int64_t bytes)
{
    int64_t left = ld_ahead_bound(r->lines.file) + 1;
    if (count <= left / bytes)
        return LD_OK;
    return ld_fail(LD_FORMAT, "%s: line %" PRId64 ": %" PRId64 " entries are more than it can hold",
                   ld_ahead_name(r->lines.file), r->lines.number, count);
}

/* The rows' offsets take memory whether there are entries or not: a line of text must not be able to
 * ask for gigabytes. */
static ld_status check_shape(const reader *r)
{
    enum { ALWAYS = 1 << 24, FOR_EACH_ENTRY = 64 };
    int64_t side = r->n_rows > r->n_cols ? r->n_rows : r->n_cols;
    if (side <= ALWAYS || side / FOR_EACH_ENTRY <= r->count)
        return LD_OK;
    return ld_fail(LD_FORMAT,
                   "%s: line %" PRId64 ": %" PRId64 " rows or columns are too many for %" PRId64
                   " entries",
                   ld_ahead_name(r->lines.file), r->lines.number, side, r->count);
}

/* --- entries ---------------------------------------------------------------------------------- */

static ld_status next_entry(reader *r, int64_t i, int64_t count, char **line, char **end)
{
    ld_status st = ld_lines_next_full(&r->lines, COMMENTS, line, end);
    if (st == LD_OK && !*line)
        st = ld_fail(LD_FORMAT, "%s: ends after %" PRId64 " of %" PRId64 " entries",
                     ld_ahead_name(r->lines.file), i, count);
    return st;
}

static ld_status expect_end(reader *r, int64_t count)
{
    char *line, *end, expected[64];
    ld_status st = ld_lines_next_full(&r->lines, COMMENTS, &line, &end);
    if (st != LD_OK || !line)
        return st;
    snprintf(expected, sizeof expected, "the end after %" PRId64 " entries", count);
    return fail(r, line, end, expected);
}

static ld_status fail_id(const reader *r, int column, const char *found, int64_t high)
{
    char expected[64];
    snprintf(expected, sizeof expected, "a %s from 1 to %" PRId64, column == 1 ? "row" : "column",
             high);
    return ld_lines_fail(&r->lines, column, found, found + strcspn(found, " \t"), expected);
}

static ld_status parse_value(const reader *r, int column, const char *p, const char *end,
                             float *value)
{
    p = skip_blanks(p);
    const char *stop = ld_parse_float(value, p);
    if (!stop || skip_blanks(stop) != end)
        return ld_lines_fail(&r->lines, column, p, end, "a number and the end of the line");
    if (isinf(*value))
        return ld_lines_fail(&r->lines, column, p, end, "a number that fits float32");
    return LD_OK;
}

static ld_status parse_entry(const reader *r, const char *line, const char *end, int64_t *row,
                             int64_t *col, float *value)
{
    const char *p = take_count(row, line, r->n_rows);
    if (!p || *row == 0)
        return fail_id(r, 1, line, r->n_rows);
    const char *second = p;
    p = take_count(col, second, r->n_cols);
    if (!p || *col == 0)
        return fail_id(r, 2, second, r->n_cols);
    if (r->symmetry != GENERAL && *row < *col + (r->symmetry == SKEW))
        return fail(r, line, end,
                    r->symmetry == SKEW ? "an entry below the diagonal"
                                        : "an entry on or below the diagonal");
    --*row;
    --*col;
    if (!r->pattern)
        return parse_value(r, 3, p, end, value);
    return p == end ? LD_OK : ld_lines_fail(&r->lines, 3, p, end, "the end of the line");
}

static ld_status read_coordinate(reader *r, ld_csr **out)
{
    int64_t copies = r->symmetry == GENERAL ? 1 : 2, n = 0, row = 0, col = 0;
    ld_structure *s = NULL;
    ld_tensor *values = NULL;
    int32_t *rows = NULL;
    float value = 1;
    char *line, *end;
    ld_status st;
    LD_TRY(check_room(r, r->count, r->pattern ? 4 : 6));
    LD_TRY(check_shape(r));
    LD_TRY(ld_structure_new(&s, r->n_rows, r->n_cols, copies * r->count, false));
    if (!r->pattern || r->symmetry == SKEW)
        LD_TRY(ld_tensor_new(&values, 1, s->nnz, 1));
    rows = ld_alloc_array(s->nnz, sizeof *rows, LD_MEM_IO);
    if (!rows) {
        st = LD_NOMEM;
        goto done;
    }
    for (int64_t i = 0; i < r->count; i++) {
        LD_TRY(next_entry(r, i, r->count, &line, &end));
        LD_TRY(parse_entry(r, line, end, &row, &col, &value));
        rows[n] = (int32_t)row;
        s->columns[n] = (int32_t)col;
        if (values)
            values->data[n] = value;
        n++;
        if (copies == 1 || row == col)
            continue;
        rows[n] = (int32_t)col;
        s->columns[n] = (int32_t)row;
        if (values)
            values->data[n] = r->symmetry == SKEW ? -value : value;
        n++;
    }
    LD_TRY(expect_end(r, r->count));
    s->nnz = n;
    LD_TRY(ld_csr_from_entries(out, s, rows, values));
done:
    ld_structure_unref(s);
    ld_tensor_unref(values);
    ld_free(rows);
    return st;
}

/* Columns one after the other; symmetric ones from the diagonal down, or from below it. */
static ld_status read_array(reader *r, ld_tensor **out)
{
    int64_t n = r->n_rows, below = r->symmetry == SKEW;
    int64_t count = r->symmetry == GENERAL ? n * r->n_cols : n * (n + 1) / 2 - below * n;
    ld_tensor *t = NULL;
    char *line, *end;
    float value;
    int64_t i = 0;
    ld_status st;
    LD_TRY(check_room(r, count, 2));
    LD_TRY(ld_tensor_full(&t, 2, n, r->n_cols, 0));
    for (int64_t col = 0; col < r->n_cols; col++) {
        for (int64_t row = r->symmetry == GENERAL ? 0 : col + below; row < n; row++, i++) {
            LD_TRY(next_entry(r, i, count, &line, &end));
            LD_TRY(parse_value(r, 1, line, end, &value));
            t->data[row * r->n_cols + col] = value;
            if (r->symmetry != GENERAL)
                t->data[col * n + row] = r->symmetry == SKEW ? -value : value;
        }
    }
    LD_TRY(expect_end(r, count));
    *out = t;
    t = NULL;
done:
    ld_tensor_unref(t);
    return st;
}

ld_status ld_mtx_read(ld_csr **sparse, ld_tensor **dense, const char *path, ld_progress *progress,
                      void *context)
{
    reader r = {0};
    ld_status st;
    LD_TRY(ld_lines_open(&r.lines, path, "mtx", progress, context));
    LD_TRY(read_banner(&r));
    LD_TRY(read_sizes(&r));
    st = r.coordinate ? read_coordinate(&r, sparse) : read_array(&r, dense);
done:
    ld_lines_close(&r.lines);
    return st;
}

/* --- writing ---------------------------------------------------------------------------------- */

static ld_status put_sizes(ld_print *x, const char *banner, const char *kind, const int64_t *sizes,
                           int count)
{
    ld_status st;
    LD_TRY(ld_print_text(x, banner));
    LD_TRY(ld_print_text(x, kind));
    for (int i = 0; i < count; i++) {
        LD_TRY(ld_print_text(x, i ? " " : "\n"));
        LD_TRY(ld_print_integer(x, sizes[i]));
    }
    LD_TRY(ld_print_text(x, "\n"));
done:
    return st;
}

static ld_status put_entries(ld_print *x, const ld_csr *a, bool lower, bool pattern)
{
    ld_status st = LD_OK;
    for (int64_t r = 0; r < a->s->n_rows; r++) {
        for (int64_t e = a->s->offsets[r]; e < a->s->offsets[r + 1]; e++) {
            if (lower && a->s->columns[e] > r)
                continue;
            LD_TRY(ld_print_integer(x, r + 1));
            LD_TRY(ld_print_text(x, " "));
            LD_TRY(ld_print_integer(x, (int64_t)a->s->columns[e] + 1));
            if (!pattern) {
                LD_TRY(ld_print_text(x, " "));
                LD_TRY(ld_print_float(x, ld_csr_value(a, r, e)));
            }
            LD_TRY(ld_print_text(x, "\n"));
        }
    }
done:
    return st;
}

static int64_t count_lower(const ld_csr *a)
{
    int64_t count = 0;
    for (int64_t r = 0; r < a->s->n_rows; r++)
        for (int64_t e = a->s->offsets[r]; e < a->s->offsets[r + 1]; e++)
            count += a->s->columns[e] <= r;
    return count;
}

/* Ends the file that was begun, whole or not at all. */
static ld_status finish(ld_print *x, ld_status st)
{
    if (st == LD_OK)
        return ld_print_commit(x);
    ld_print_abandon(x);
    return st;
}

ld_status ld_mtx_write(const char *path, ld_csr *a, bool symmetric)
{
    bool pattern = !a->values && !a->row_scale && !a->col_scale, is_so = true;
    const int64_t sizes[] = {a->s->n_rows, a->s->n_cols, symmetric ? count_lower(a) : a->s->nnz};
    ld_print *x = NULL;
    ld_status st;
    if (symmetric)
        LD_TRY(ld_csr_is_symmetric(&is_so, a));
    if (!is_so)
        return ld_fail(LD_VALUE, "mtx: the matrix is not symmetric");
    LD_TRY(ld_print_open(&x, path, "mtx"));
    st = put_sizes(x, "%%MatrixMarket matrix coordinate ",
                   symmetric ? (pattern ? "pattern symmetric" : "real symmetric")
                             : (pattern ? "pattern general" : "real general"),
                   sizes, 3);
    if (st == LD_OK)
        st = put_entries(x, a, symmetric, pattern);
    return finish(x, st);
done:
    return st;
}

static ld_status put_values(ld_print *x, const ld_tensor *t)
{
    ld_status st = LD_OK;
    for (int64_t c = 0; c < t->n_cols; c++) {
        for (int64_t r = 0; r < t->n_rows; r++) {
            LD_TRY(ld_print_float(x, t->data[r * t->n_cols + c]));
            LD_TRY(ld_print_text(x, "\n"));
        }
    }
done:
    return st;
}

ld_status ld_mtx_write_dense(const char *path, const ld_tensor *t)
{
    const int64_t sizes[] = {t->n_rows, t->n_cols};
    ld_print *x;
    ld_status st = ld_print_open(&x, path, "mtx");
    if (st != LD_OK)
        return st;
    st = put_sizes(x, "%%MatrixMarket matrix array ", "real general", sizes, 2);
    if (st == LD_OK)
        st = put_values(x, t);
    return finish(x, st);
}

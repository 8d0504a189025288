#include "io/text/mtx.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "io/text/mtx_entries.h"
#include "io/text/number.h"

/* --- banner and sizes ------------------------------------------------------------------------- */

static ld_status fail(const ld_mtx_reader *r, const char *found, const char *end,
                      const char *expected)
{
    return ld_lines_fail(&r->lines, 0, found, end, expected);
}

/* Takes the next word of a line, with its end as a zero. */
static char *next_word(char **p)
{
    char *word = *p + strspn(*p, " \t"), *end = word + strcspn(word, " \t");
    *p = *end ? end + 1 : end;
    *end = '\0';
    return word;
}

/* Returns the position of a word in a list that ends with NULL, or -1. */
static int position_of(const char *word, const char *const *list)
{
    for (int i = 0; list[i]; i++)
        if (strcasecmp(word, list[i]) == 0)
            return i;
    return -1;
}

static ld_status read_banner(ld_mtx_reader *r)
{
    static const char *const formats[] = {"array", "coordinate", NULL};
    static const char *const fields[] = {"real", "double", "integer", "pattern", NULL};
    static const char *const kinds[] = {"general", "symmetric", "skew-symmetric", NULL};
    char *p, *end;
    LD_CHECK(ld_lines_next(&r->lines, &p, &end));
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
    r->symmetry = (ld_mtx_symmetry)kind;
    return LD_OK;
}

static ld_status read_sizes(ld_mtx_reader *r)
{
    char *line, *end;
    int64_t high = INT32_MAX - 1;
    LD_CHECK(ld_lines_next_full(&r->lines, LD_MTX_COMMENTS, &line, &end));
    const char *p = line ? ld_mtx_integer(&r->n_rows, line, 0, high) : NULL;
    p = p ? ld_mtx_integer(&r->n_cols, p, 0, high) : NULL;
    if (p && r->coordinate)
        p = ld_mtx_integer(&r->count, p, 0, INT64_MAX - 1);
    if (p != end || !p)
        return fail(r, line, end, r->coordinate ? "rows, columns and entries" : "rows and columns");
    if (r->symmetry != LD_MTX_GENERAL && r->n_rows != r->n_cols)
        return fail(r, line, end, "as many rows as columns, as the matrix is symmetric");
    return LD_OK;
}

/* --- arrays ----------------------------------------------------------------------------------- */

static ld_status next_entry(ld_mtx_reader *r, int64_t i, int64_t count, char **line, char **end)
{
    LD_CHECK(ld_lines_next_full(&r->lines, LD_MTX_COMMENTS, line, end));
    if (!*line)
        return ld_fail(LD_FORMAT, "%s: ends after %" PRId64 " of %" PRId64 " entries",
                       ld_ahead_name(r->lines.file), i, count);
    return LD_OK;
}

static ld_status expect_end(ld_mtx_reader *r, int64_t count)
{
    char *line, *end, expected[64];
    ld_status st = ld_lines_next_full(&r->lines, LD_MTX_COMMENTS, &line, &end);
    if (st != LD_OK || !line)
        return st;
    snprintf(expected, sizeof expected, "the end after %" PRId64 " entries", count);
    return fail(r, line, end, expected);
}

/* Reads an array: its columns one after the other; symmetric ones from the diagonal down, or from
 * below it. */
static ld_status read_array(ld_mtx_reader *r, ld_tensor **out)
{
    int64_t n = r->n_rows, below = r->symmetry == LD_MTX_SKEW;
    int64_t count = r->symmetry == LD_MTX_GENERAL ? n * r->n_cols : n * (n + 1) / 2 - below * n;
    LD_OWN(ld_tensor) *t = NULL;
    char *line, *end;
    float value;
    int64_t i = 0;
    LD_CHECK(ld_mtx_check_room(r, count, 2));
    LD_CHECK(ld_tensor_full(&t, 2, n, r->n_cols, 0));
    for (int64_t col = 0; col < r->n_cols; col++) {
        for (int64_t row = r->symmetry == LD_MTX_GENERAL ? 0 : col + below; row < n; row++, i++) {
            LD_CHECK(next_entry(r, i, count, &line, &end));
            LD_CHECK(ld_mtx_value(r, 1, line, end, &value));
            t->data[row * r->n_cols + col] = value;
            if (r->symmetry != LD_MTX_GENERAL)
                t->data[col * n + row] = r->symmetry == LD_MTX_SKEW ? -value : value;
        }
    }
    LD_CHECK(expect_end(r, count));
    *out = ld_take(&t);
    return LD_OK;
}

static void close_lines(ld_mtx_reader *r)
{
    ld_lines_close(&r->lines);
}

ld_status ld_mtx_read(ld_csr **sparse, ld_tensor **dense, const char *path, ld_progress *progress,
                      void *context)
{
    LD_CLEANED(close_lines) ld_mtx_reader r = {0};
    LD_CHECK(ld_lines_open(&r.lines, path, "mtx", progress, context));
    LD_CHECK(read_banner(&r));
    LD_CHECK(read_sizes(&r));
    return r.coordinate ? ld_mtx_read_entries(&r, sparse) : read_array(&r, dense);
}

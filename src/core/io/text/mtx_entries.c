/* Parses the entries of a coordinate file in parallel, in pieces that are put behind each other as
 * in text.c. A line that is not right stops its piece; the first of them is parsed once more, with
 * its number known by then, for the message. */
#include "io/text/mtx_entries.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "io/text/number.h"
#include "memory/memory.h"
#include "system/threads.h"

enum { PIECES = 32, PIECE = 1 << 15, SHORTEST_LINE = 4 };

typedef struct {
    char *begin, *end; /* whole lines, each ending in \n */
    char *at;          /* the line at which it stopped; `end` if all is right */
    int64_t lines;     /* before that */
    int64_t taken;     /* lines of entries among them */
    int64_t limit;     /* entries that may be taken */
    int64_t n;         /* entries that came of them: symmetric ones make two */
    int32_t *rows, *columns;
    float *values;
} piece;

typedef struct {
    ld_mtx_reader *reader;
    ld_structure *s;
    ld_tensor *values;
    int32_t *rows;
    int64_t n;     /* entries so far */
    int64_t taken; /* lines of entries so far */
    char *room;    /* for the entries of all pieces */
    piece pieces[PIECES];
} parser;

/* --- what mtx.c needs, too -------------------------------------------------------------------- */

static const char *skip_blanks(const char *p)
{
    while (*p == ' ' || *p == '\t')
        p++;
    return p;
}

const char *ld_mtx_integer(int64_t *out, const char *p, int64_t low, int64_t high)
{
    p = ld_parse_integer(out, skip_blanks(p));
    bool is_whole = p && strchr(" \t\r\n", *p); /* or the text ends */
    return is_whole && *out >= low && *out <= high ? skip_blanks(p) : NULL;
}

ld_status ld_mtx_value(const ld_mtx_reader *r, int column, const char *p, const char *end,
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

/* Entries that the file cannot hold would take memory for nothing. */
ld_status ld_mtx_check_room(const ld_mtx_reader *r, int64_t count, int64_t bytes)
{
    int64_t left = ld_ahead_bound(r->lines.file) + 1;
    if (count <= left / bytes)
        return LD_OK;
    return ld_fail(LD_FORMAT, "%s: line %" PRId64 ": %" PRId64 " entries are more than it can hold",
                   ld_ahead_name(r->lines.file), r->lines.number, count);
}

/* --- one line --------------------------------------------------------------------------------- */

typedef struct {
    int64_t row, column; /* from 1 */
    float value;
} entry;

static const char *take_integer(int64_t *out, const char *p)
{
    const char *end = ld_parse_short(out, p);
    return end ? end : ld_parse_integer(out, p);
}

/* Reads a line of the form that nearly all have. Returns the place of the next line, or NULL for a
 * line of another form. */
static char *take_plain(const ld_mtx_reader *r, char *line, entry *x)
{
    const char *p = take_integer(&x->row, line);
    if (!p || *p != ' ' || !(p = take_integer(&x->column, p + 1)))
        return NULL;
    if (!r->pattern && (*p != ' ' || !(p = ld_parse_float(&x->value, p + 1)) || isinf(x->value)))
        return NULL;
    bool in_range = x->row >= 1 && x->row <= r->n_rows && x->column >= 1 && x->column <= r->n_cols;
    bool placed =
        r->symmetry == LD_MTX_GENERAL || x->row >= x->column + (r->symmetry == LD_MTX_SKEW);
    return *p == '\n' && in_range && placed ? (char *)p + 1 : NULL;
}

static ld_status fail_id(const ld_mtx_reader *r, int column, const char *found, int64_t high)
{
    char expected[64];
    snprintf(expected, sizeof expected, "a %s from 1 to %" PRId64, column == 1 ? "row" : "column",
             high);
    return ld_lines_fail(&r->lines, column, found, found + strcspn(found, " \t\r\n"), expected);
}

/* Reads any line, or says what is wrong with it. */
static ld_status take_any(const ld_mtx_reader *r, const char *line, const char *end, entry *x)
{
    const char *p = ld_mtx_integer(&x->row, line, 1, r->n_rows);
    if (!p)
        return fail_id(r, 1, line, r->n_rows);
    const char *second = p;
    p = ld_mtx_integer(&x->column, second, 1, r->n_cols);
    if (!p)
        return fail_id(r, 2, second, r->n_cols);
    if (r->symmetry == LD_MTX_SKEW && x->row <= x->column)
        return ld_lines_fail(&r->lines, 0, line, end, "an entry below the diagonal");
    if (r->symmetry == LD_MTX_SYMMETRIC && x->row < x->column)
        return ld_lines_fail(&r->lines, 0, line, end, "an entry on or below the diagonal");
    if (!r->pattern)
        return ld_mtx_value(r, 3, p, end, &x->value);
    return p == end ? LD_OK : ld_lines_fail(&r->lines, 3, p, end, "the end of the line");
}

/* --- pieces ----------------------------------------------------------------------------------- */

static void put(piece *x, int64_t row, int64_t column, float value)
{
    x->rows[x->n] = (int32_t)row - 1;
    x->columns[x->n] = (int32_t)column - 1;
    x->values[x->n++] = value;
}

/* Parses lines until one is wrong or one entry too many. */
static void parse(const ld_mtx_reader *r, piece *x)
{
    ld_mtx_symmetry symmetry = r->symmetry;
    x->lines = x->taken = x->n = 0;
    for (x->at = x->begin; x->at < x->end; x->lines++) {
        entry e = {.value = 1};
        char *next = take_plain(r, x->at, &e);
        if (!next) {
            char *line, *end;
            next = ld_lines_trim(x->at, x->end, &line, &end);
            if (ld_lines_is_empty(line, end, LD_MTX_COMMENTS)) {
                x->at = next;
                continue;
            }
            if (take_any(r, line, end, &e) != LD_OK)
                return;
        }
        if (x->taken == x->limit)
            return;
        x->taken++;
        x->at = next;
        put(x, e.row, e.column, e.value);
        if (symmetry != LD_MTX_GENERAL && e.row != e.column)
            put(x, e.column, e.row, symmetry == LD_MTX_SKEW ? -e.value : e.value);
    }
}

static void parse_pieces(void *context, int64_t begin, int64_t end)
{
    parser *p = context;
    for (int64_t i = begin; i < end; i++)
        parse(p->reader, &p->pieces[i]);
}

/* Fails with the error of the line at which a piece stopped; the lines before it have been
 * counted. */
static ld_status fail_at(parser *p, const piece *x)
{
    ld_mtx_reader *r = p->reader;
    char *line, *end, expected[64];
    entry e;
    r->lines.number++;
    ld_lines_trim(x->at, x->end, &line, &end);
    if (x->taken < r->count - p->taken)
        return take_any(r, line, end, &e);
    snprintf(expected, sizeof expected, "the end after %" PRId64 " entries", r->count);
    return ld_lines_fail(&r->lines, 0, line, end, expected);
}

/* Puts a piece behind those before it. */
static ld_status append(parser *p, piece *x)
{
    if (x->taken > p->reader->count - p->taken) {
        x->limit = p->reader->count - p->taken;
        parse(p->reader, x);
    }
    p->reader->lines.number += x->lines;
    if (x->at < x->end)
        return fail_at(p, x);
    memcpy(p->rows + p->n, x->rows, (size_t)x->n * sizeof *x->rows);
    memcpy(p->s->columns + p->n, x->columns, (size_t)x->n * sizeof *x->columns);
    if (p->values)
        memcpy(p->values->data + p->n, x->values, (size_t)x->n * sizeof *x->values);
    p->n += x->n;
    p->taken += x->taken;
    return LD_OK;
}

/* --- blocks ----------------------------------------------------------------------------------- */

/* Cuts a block into pieces with room for all entries that they can hold; returns how many. */
static int64_t cut(parser *p, char *begin, char *end)
{
    int64_t size = end - begin, count = size / PIECE + 1;
    int64_t copies = p->reader->symmetry == LD_MTX_GENERAL ? 1 : 2;
    int32_t *room = (int32_t *)p->room;
    char *from = begin;
    count = count < PIECES ? count : PIECES;
    for (int64_t i = 0; i < count; i++) {
        char *to = ld_lines_part_end(begin, end, from, i, count);
        int64_t most = (to - from) / SHORTEST_LINE * copies;
        p->pieces[i] = (piece){.begin = from,
                               .end = to,
                               .limit = p->reader->count,
                               .rows = room,
                               .columns = room + most,
                               .values = (float *)(room + 2 * most)};
        room += 3 * most;
        from = to;
    }
    return count;
}

/* Makes room for all entries that a block can hold. */
static ld_status reserve(parser *p, int64_t size, int64_t *reserved)
{
    int64_t copies = p->reader->symmetry == LD_MTX_GENERAL ? 1 : 2;
    if (size <= *reserved)
        return LD_OK;
    ld_free(p->room);
    p->room = ld_alloc_array(size / SHORTEST_LINE * copies, 3 * sizeof(int32_t), LD_MEM_IO);
    *reserved = p->room ? size : 0;
    return p->room ? LD_OK : LD_NOMEM;
}

static ld_status parse_blocks(parser *p)
{
    int64_t reserved = 0;
    char *begin, *end;
    LD_CHECK(ld_lines_widen(&p->reader->lines, PIECES * PIECE));
    LD_CHECK(ld_lines_block(&p->reader->lines, &begin, &end));
    while (begin) {
        LD_CHECK(reserve(p, end - begin, &reserved));
        int64_t count = cut(p, begin, end);
        LD_CHECK(ld_parallel_for(count, 1, parse_pieces, p));
        for (int64_t i = 0; i < count; i++)
            LD_CHECK(append(p, &p->pieces[i]));
        LD_CHECK(ld_lines_block(&p->reader->lines, &begin, &end));
    }
    if (p->taken < p->reader->count)
        return ld_fail(LD_FORMAT, "%s: ends after %" PRId64 " of %" PRId64 " entries",
                       ld_ahead_name(p->reader->lines.file), p->taken, p->reader->count);
    return LD_OK;
}

/* Refuses a matrix with far more rows or columns than entries. The rows' offsets take memory
 * whether there are entries or not, and a line of text must not be able to ask for gigabytes. */
static ld_status check_shape(const ld_mtx_reader *r)
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

static void free_parser(parser *p)
{
    ld_free(p->room);
    ld_free(p->rows);
}

ld_status ld_mtx_read_entries(ld_mtx_reader *r, ld_csr **out)
{
    int64_t copies = r->symmetry == LD_MTX_GENERAL ? 1 : 2;
    LD_OWN(ld_structure) *s = NULL;
    LD_OWN(ld_tensor) *values = NULL;
    LD_CLEANED(free_parser) parser p = {.reader = r};
    LD_CHECK(ld_mtx_check_room(r, r->count, r->pattern ? SHORTEST_LINE : SHORTEST_LINE + 2));
    LD_CHECK(check_shape(r));
    LD_CHECK(ld_structure_new(&s, r->n_rows, r->n_cols, copies * r->count, false));
    if (!r->pattern || r->symmetry == LD_MTX_SKEW)
        LD_CHECK(ld_tensor_new(&values, 1, s->nnz, 1));
    p.s = s;
    p.values = values;
    p.rows = ld_alloc_array(s->nnz, sizeof *p.rows, LD_MEM_IO);
    if (!p.rows)
        return LD_NOMEM;
    LD_CHECK(parse_blocks(&p));
    s->nnz = p.n;
    return ld_csr_from_entries(out, s, p.rows, values);
}

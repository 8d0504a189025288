/* Reads tables in parallel. A block of text is cut into pieces at the ends of lines, each piece is
 * parsed into room of its own, and the rows are put behind each other in the order of the file: cuts
 * depend on the block alone, so the number of threads changes nothing. Names are numbered in that
 * order too. A line that is not right stops its piece; of those the first is the error. */
#include "io/text/text.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "io/text/text_reader.h"
#include "memory/memory.h"
#include "system/threads.h"

enum { PIECE = 1 << 14, NODES_ALWAYS = 1000000, NODES_FOR_EACH_LINE = 100 };

typedef ld_text_reader reader;

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
        p = ld_text_take(r, p, copy + size, &text, &length);
        if (!p || !ld_text_end_field(r, &p, copy + size))
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

/* Learns the separator from the first line, and whether it is a header: *line becomes NULL then. */
static ld_status begin(reader *r, char **line, const char *end)
{
    ld_table *t = r->table;
    LD_FREED char *fields = NULL;
    bool rest = t->columns[t->n_columns - 1].kind == LD_COLUMN_NUMBERS;
    r->separator = t->separator ? t->separator : guess_separator(*line, end);
    LD_CHECK(split(r, &fields, &t->n_fields, *line, end));
    if (rest ? t->n_fields < t->n_columns : t->n_fields != t->n_columns)
        return ld_fail(LD_FORMAT, "%s: line %lld: found %lld columns, expected %lld%s",
                       ld_ahead_name(r->lines.file), (long long)r->lines.number,
                       (long long)t->n_fields, (long long)t->n_columns, rest ? " or more" : "");
    if (t->header == LD_HEADER_YES ||
        (t->header == LD_HEADER_GUESS && looks_like_header(t, fields, t->n_fields))) {
        *line = NULL;
        t->titles = ld_take(&fields);
    }
    return LD_OK;
}

/* Fails because of a blank line before a row: it may be a row whose value is missing, and without it
 * all rows behind would be those of other nodes. */
static ld_status fail_blank(const reader *r, int64_t line)
{
    return ld_fail(LD_FORMAT,
                   "%s: line %" PRId64 " is blank; only lines behind the last row may be",
                   ld_ahead_name(r->lines.file), line);
}

/* Gives the first line that is not empty. */
static ld_status first_line(reader *r, char **line, char **end)
{
    LD_CHECK(ld_lines_next_full(&r->lines, LD_TEXT_COMMENTS, line, end));
    if (!*line)
        return ld_fail(LD_FORMAT, "%s: has no lines", ld_ahead_name(r->lines.file));
    return r->lines.blank > 0 ? fail_blank(r, r->lines.blank) : LD_OK;
}

/* --- pieces ----------------------------------------------------------------------------------- */

/* Learns what a row is, of which the number of fields is known. */
static void learn_row(reader *r)
{
    r->plain = true;
    for (int64_t i = 0; i < r->table->n_fields; i++) {
        ld_column_kind kind = ld_text_column(r, i)->kind;
        bool number = kind == LD_COLUMN_NUMBER || kind == LD_COLUMN_NUMBERS;
        bool full = kind == LD_COLUMN_ID || (number && !r->table->missing);
        r->plain &= kind == LD_COLUMN_ID || number;
        r->named |= kind == LD_COLUMN_NAME;
        r->n_cells += kind != LD_COLUMN_SKIP;
        r->shortest += full ? 2 : 1; /* with the separator, or the end of the line */
    }
}

/* Returns how many cells of a row column i has. */
static int64_t width_of(const reader *r, int64_t i)
{
    switch (r->table->columns[i].kind) {
    case LD_COLUMN_SKIP: return 0;
    case LD_COLUMN_NUMBERS: return r->table->n_fields - i;
    default: return 1;
    }
}

static void parse_pieces(void *context, int64_t begin, int64_t end)
{
    reader *r = context;
    for (int64_t i = begin; i < end; i++)
        ld_text_parse(r, &r->pieces[i]);
}

/* Makes room for the cells that `count` pieces of a block can have. It is made for the largest block,
 * unless a line is longer. */
static ld_status reserve(reader *r, int64_t size, int64_t count)
{
    size = size < r->lines.room ? r->lines.room : size;
    int64_t cells = (size / r->shortest + count) * r->n_cells;
    if (cells <= r->reserved)
        return LD_OK;
    ld_free(r->room);
    r->room = ld_alloc_array(cells, sizeof *r->room, LD_MEM_IO);
    r->reserved = r->room ? cells : 0;
    return r->room ? LD_OK : LD_NOMEM;
}

/* Cuts some lines into pieces and parses them. */
static ld_status parse(reader *r, char *begin, char *end)
{
    int64_t size = end - begin, count = size / PIECE + 1;
    count = count < LD_TEXT_PIECES ? count : LD_TEXT_PIECES;
    LD_CHECK(reserve(r, size, count));
    ld_cell *room = r->room;
    for (int64_t i = 0; i < count; i++) {
        char *to = ld_lines_part_end(begin, end, i > 0 ? r->pieces[i - 1].end : begin, i, count);
        ld_text_piece *x = &r->pieces[i];
        *x = (ld_text_piece){
            .begin = i > 0 ? r->pieces[i - 1].end : begin, .end = to, .cells = room, .most = -1};
        room += ((x->end - x->begin) / r->shortest + 1) * r->n_cells;
    }
    r->at = r->row = 0;
    r->count = count;
    return ld_parallel_for(count, 1, parse_pieces, r);
}

/* Makes room for the cells of so many rows in column i. */
static ld_status make_room(const reader *r, int64_t i, int64_t rows)
{
    ld_column *c = &r->table->columns[i];
    bool number = c->kind == LD_COLUMN_NUMBER || c->kind == LD_COLUMN_NUMBERS;
    return ld_grow_more(&c->cells, rows * width_of(r, i),
                        r->bounded ? 1 : ld_lines_share(&r->lines),
                        number ? LD_MEM_TENSOR : LD_MEM_INDEX);
}

/* Makes room in the columns for the rows of all pieces up to the first wrong line: together, since
 * that many are before the end of the block, by which the length of the columns is foreseen. */
static ld_status make_room_for_all(const reader *r)
{
    int64_t rows = 0;
    for (int64_t i = 0; i < r->count && (i == 0 || !r->pieces[i - 1].stopped); i++)
        rows += r->pieces[i].n_rows;
    for (int64_t i = 0; i < r->table->n_columns; i++)
        LD_CHECK(make_room(r, i, rows));
    return LD_OK;
}

/* Reads and parses the next lines; without any r->count becomes 0. */
static ld_status next_block(reader *r)
{
    char *begin, *end;
    r->at = r->count = 0;
    LD_CHECK(ld_lines_block(&r->lines, &begin, &end));
    if (!begin)
        return LD_OK;
    LD_CHECK(parse(r, begin, end));
    return make_room_for_all(r);
}

/* Puts the numbers of names in the place of their texts, row by row: columns may share their names. */
static ld_status number_names(const reader *r, const ld_text_piece *x, int64_t first, int64_t n)
{
    const ld_table *t = r->table;
    for (int64_t row = first; row < first + n; row++) {
        ld_cell *cell = x->cells + row * r->n_cells;
        for (int64_t i = 0; i < t->n_columns; cell += t->columns[i++].kind != LD_COLUMN_SKIP) {
            const char *text = x->begin + cell->id;
            if (t->columns[i].kind == LD_COLUMN_NAME)
                LD_CHECK(ld_names_add(t->columns[i].names, &cell->id, text, (int64_t)strlen(text)));
        }
    }
    return LD_OK;
}

/* Adds n rows of a piece, from row `first` on, to column i, whose cells are the k-th of a row on. */
static ld_status append_column(const reader *r, int64_t i, const ld_text_piece *x, int64_t k,
                               int64_t first, int64_t n)
{
    ld_grow *cells = &r->table->columns[i].cells;
    int64_t width = width_of(r, i);
    const ld_cell *from = x->cells + first * r->n_cells + k;
    LD_CHECK(make_room(r, i, n)); /* the caller may have taken what was made for all */
    for (int64_t row = 0; row < n; row++, from += r->n_cells)
        for (int64_t j = 0; j < width; j++)
            cells->cells[cells->count++] = from[j];
    return LD_OK;
}

static ld_status append(reader *r, const ld_text_piece *x, int64_t first, int64_t n)
{
    ld_table *t = r->table;
    if (r->named)
        LD_CHECK(number_names(r, x, first, n));
    for (int64_t i = 0, k = 0; i < t->n_columns; i++)
        if (t->columns[i].kind != LD_COLUMN_SKIP)
            LD_CHECK(append_column(r, i, x, k++, first, n));
    t->n_rows += n;
    return LD_OK;
}

/* Goes on behind a piece whose rows were taken. Fails if it was stopped by a wrong line. */
static ld_status leave(reader *r, const ld_text_piece *x)
{
    ld_table *t = r->table;
    int64_t before = r->lines.number;
    if (x->most > t->most) {
        t->most = x->most;
        t->most_line = before + x->most_line;
        t->most_column = x->most_column;
    }
    if (x->stopped && x->blank > 0)
        return fail_blank(r, before + x->blank);
    if (x->stopped) {
        r->lines.number += x->lines + 1;
        ld_status st = ld_lines_fail(&r->lines, x->column, x->found, x->found_end, x->expected);
        r->lines.number = before; /* the piece stays, and may be asked for again */
        return st;
    }
    r->lines.number += x->lines;
    if (r->blank == 0 && x->blank > 0)
        r->blank = before + x->blank;
    r->at++;
    r->row = 0;
    return LD_OK;
}

ld_status ld_table_next(ld_table_rows *r, int64_t n)
{
    while (n > 0) {
        if (r->at == r->count)
            LD_CHECK(next_block(r));
        if (r->count == 0)
            return LD_OK;
        const ld_text_piece *x = &r->pieces[r->at];
        int64_t rest = x->n_rows - r->row, some = rest < n ? rest : n;
        if (r->blank > 0 && (rest > 0 || x->stopped))
            return fail_blank(r, r->blank);
        LD_CHECK(append(r, x, r->row, some));
        r->row += some;
        n -= some;
        if (r->row == x->n_rows)
            LD_CHECK(leave(r, x));
    }
    return LD_OK;
}

/* --- tables ----------------------------------------------------------------------------------- */

/* Opens the file and learns from its first line, which is a piece by itself if it is a row. */
static ld_status start(reader *r, const char *path)
{
    char *line, *end;
    LD_CHECK(ld_lines_open(&r->lines, path, "text", r->table->progress, r->table->context));
    LD_CHECK(first_line(r, &line, &end));
    LD_CHECK(begin(r, &line, end));
    learn_row(r);
    if (!line)
        return LD_OK;
    *end = '\n';
    r->lines.number--;
    LD_CHECK(parse(r, line, end + 1));
    return make_room_for_all(r);
}

static void close_reader(reader *r)
{
    ld_lines_close(&r->lines);
    ld_free(r->room);
}

ld_status ld_table_read(ld_table *t, const char *path)
{
    LD_CLEANED(close_reader) reader r = {.table = t};
    LD_CHECK(start(&r, path));
    LD_CHECK(ld_table_next(&r, (int64_t)INT32_MAX + 1));
    if (t->n_rows > INT32_MAX)
        return ld_fail(LD_FORMAT, "%s: more than %d lines of data; no more fit",
                       ld_ahead_name(r.lines.file), INT32_MAX);
    return LD_OK;
}

ld_status ld_table_open(ld_table_rows **out, ld_table *t, const char *path)
{
    LD_OWN(ld_table_rows) *r = ld_calloc_array(1, sizeof *r, LD_MEM_IO);
    if (!r)
        return LD_NOMEM;
    r->table = t;
    r->bounded = true;
    LD_CHECK(start(r, path));
    *out = ld_take(&r);
    return LD_OK;
}

void ld_table_close(ld_table_rows *r)
{
    if (r)
        close_reader(r);
    ld_free(r);
}

ld_status ld_table_peek(char **fields, int64_t *n_fields, const char *path, char separator)
{
    LD_CLEANED(close_reader) reader r = {0};
    char *line, *end;
    LD_CHECK(ld_lines_open(&r.lines, path, "text", NULL, NULL));
    LD_CHECK(first_line(&r, &line, &end));
    r.separator = separator ? separator : guess_separator(line, end);
    return split(&r, fields, n_fields, line, end);
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

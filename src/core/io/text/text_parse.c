/* Parses lines of a table. Pieces of a file are parsed side by side, so nothing here changes the
 * table or the reader, and what is wrong with a line is kept for whoever knows the line's number. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "io/text/number.h"
#include "io/text/text_reader.h"

/* --- fields ----------------------------------------------------------------------------------- */

static bool is_blank(const ld_text_reader *r, char c)
{
    return c == ' ' || (c == '\t' && r->separator != '\t');
}

static char *skip_blanks(const ld_text_reader *r, char *p)
{
    while (is_blank(r, *p))
        p++;
    return p;
}

bool ld_text_end_field(const ld_text_reader *r, char **p, const char *end)
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
static char *bare_end(const ld_text_reader *r, char *p, char *end)
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

char *ld_text_take(const ld_text_reader *r, char *p, char *end, char **text, int64_t *length)
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

/* Keeps what is wrong with a field; returns false. */
static bool fail(ld_text_piece *x, int64_t column, const char *found, const char *end,
                 const char *expected)
{
    x->column = column + 1;
    x->found = found;
    x->found_end = end;
    snprintf(x->expected, sizeof x->expected, "%s", expected);
    return false;
}

static bool fail_field(const ld_text_reader *r, ld_text_piece *x, int64_t column, char *p,
                       char *end, const char *expected)
{
    return fail(x, column, p, bare_end(r, p, end), expected);
}

/* Fails with the text of the first field that lacks, or that is too many. */
static bool fail_ragged(const ld_text_reader *r, ld_text_piece *x, int64_t column, char *p,
                        char *end)
{
    char expected[sizeof x->expected];
    snprintf(expected, sizeof expected, "%s%lld columns%s", p ? "no more than " : "",
             (long long)r->table->n_fields, p ? "" : " as before");
    return fail_field(r, x, column, p ? p : end, end, expected);
}

/* --- values ----------------------------------------------------------------------------------- */

static const char *kind_text(const ld_text_reader *r, ld_column_kind kind)
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

/* Returns the number of ids, or labels, that there may be. */
static int64_t limit_of(const ld_text_reader *r, ld_column_kind kind)
{
    int64_t limit = kind == LD_COLUMN_LABEL ? r->table->n_labels : r->table->n_ids;
    return limit > 0 ? limit : INT32_MAX - 1;
}

static void note_largest(ld_text_piece *x, int64_t id, int64_t column)
{
    if (id <= x->most)
        return;
    x->most = id;
    x->most_line = x->lines + 1;
    x->most_column = column + 1;
}

static bool store_id(const ld_text_reader *r, ld_text_piece *x, ld_cell *cell, int64_t column,
                     char **p, char *end)
{
    const ld_table *t = r->table;
    ld_column_kind kind = ld_text_column(r, column)->kind;
    char expected[sizeof x->expected];
    int64_t value = 0;
    char *start = *p;
    bool empty = kind == LD_COLUMN_LABEL && (start == end || *start == r->separator);
    char *stop = empty ? start : (char *)ld_parse_integer(&value, start);
    value = empty ? -1 : value;
    bool none = kind == LD_COLUMN_LABEL && (value == -1 || value == t->first_id - 1);
    *p = stop;
    if (!stop || (value < t->first_id && !none) || !ld_text_end_field(r, p, end))
        return fail_field(r, x, column, start, end, kind_text(r, kind));
    int64_t id = none ? -1 : value - t->first_id, limit = limit_of(r, kind);
    if (id >= limit) {
        snprintf(expected, sizeof expected, "at most %lld%s", (long long)limit - 1 + t->first_id,
                 kind == LD_COLUMN_LABEL ? ", the limit of labels" : "");
        return fail_field(r, x, column, start, end, expected);
    }
    if (kind == LD_COLUMN_ID)
        note_largest(x, id, column);
    cell->id = (int32_t)id;
    return true;
}

/* Returns where a field that stands for no number ends: an empty one, "nan" or "na"; NULL for
 * another. */
static char *missing_end(const ld_text_reader *r, char *p, char *end)
{
    char *stop = bare_end(r, p, end);
    bool missing = stop == p || (stop - p == 3 && strncasecmp(p, "nan", 3) == 0) ||
                   (stop - p == 2 && strncasecmp(p, "na", 2) == 0);
    return missing ? stop : NULL;
}

static bool store_number(const ld_text_reader *r, ld_text_piece *x, ld_cell *cell, int64_t column,
                         char **p, char *end)
{
    char *start = *p, *missing = r->table->missing ? missing_end(r, start, end) : NULL;
    cell->number = NAN;
    *p = missing ? missing : (char *)ld_parse_float(&cell->number, start);
    if (!*p || !ld_text_end_field(r, p, end))
        return fail_field(r, x, column, start, end, "a number");
    if (isinf(cell->number))
        return fail_field(r, x, column, start, end, "a number that fits float32");
    return true;
}

/* Takes the text of a field that may be in quotes. */
static bool take_field(const ld_text_reader *r, ld_text_piece *x, int64_t column, char **p,
                       char *end, char **text, int64_t *length)
{
    char *start = *p;
    *p = ld_text_take(r, start, end, text, length);
    return (*p && ld_text_end_field(r, p, end)) ||
           fail(x, column, start, end, "a closing quote and a separator");
}

static bool store_name(const ld_text_reader *r, ld_text_piece *x, ld_cell *cell, int64_t column,
                       char **p, char *end)
{
    char *text;
    int64_t length;
    if (!take_field(r, x, column, p, end, &text, &length))
        return false;
    bool empty = length == 0 && ld_names_find(ld_text_column(r, column)->names, text, 0) < 0;
    if (empty || memchr(text, '\0', (size_t)length))
        return fail(x, column, text, text + length, "a name");
    text[length] = '\0'; /* in place of a quote, a blank, the separator or the end of the line */
    cell->id = (int32_t)(text - x->begin);
    return true;
}

/* Stores a field in *cell, which moves on unless the field is skipped. */
static bool store_field(const ld_text_reader *r, ld_text_piece *x, ld_cell **cell, int64_t column,
                        char **p, char *end)
{
    char *text;
    int64_t length;
    switch (ld_text_column(r, column)->kind) {
    case LD_COLUMN_SKIP: return take_field(r, x, column, p, end, &text, &length);
    case LD_COLUMN_ID:
    case LD_COLUMN_LABEL: return store_id(r, x, (*cell)++, column, p, end);
    case LD_COLUMN_NAME: return store_name(r, x, (*cell)++, column, p, end);
    default: return store_number(r, x, (*cell)++, column, p, end);
    }
}

/* --- lines ------------------------------------------------------------------------------------ */

/* Stores any line, or keeps what is wrong with it. */
static bool store_line(const ld_text_reader *r, ld_text_piece *x, ld_cell *row, char *p, char *end)
{
    for (int64_t i = 0; i < r->table->n_fields; i++) {
        if (!p)
            return fail_ragged(r, x, i, NULL, end);
        if (!store_field(r, x, &row, i, &p, end))
            return false;
    }
    return !p || fail_ragged(r, x, r->table->n_fields, p, end);
}

/* Stores a line of the form that nearly all have: ids and numbers with nothing around them. Returns
 * the place of the next line, or NULL for a line of another form. */
static char *store_plain(const ld_text_reader *r, ld_text_piece *x, ld_cell *row, const char *p)
{
    const ld_table *t = r->table;
    int64_t n = t->n_fields, limit = limit_of(r, LD_COLUMN_ID);
    for (int64_t i = 0; i < n; i++) {
        if (ld_text_column(r, i)->kind == LD_COLUMN_ID) {
            int64_t value;
            const char *stop = ld_parse_short(&value, p);
            p = stop ? stop : ld_parse_integer(&value, p);
            if (!p || value < t->first_id || value - t->first_id >= limit)
                return NULL;
            row[i].id = (int32_t)(value - t->first_id);
            note_largest(x, row[i].id, i);
        } else if (!(p = ld_parse_float(&row[i].number, p)) || isinf(row[i].number)) {
            return NULL;
        }
        if (*p++ != (i < n - 1 ? r->separator : '\n'))
            return NULL;
    }
    return (char *)p;
}

void ld_text_parse(const ld_text_reader *r, ld_text_piece *x)
{
    ld_cell *row = x->cells;
    for (char *at = x->begin, *next; at < x->end; at = next, x->lines++) {
        char *line, *end;
        next = r->plain ? store_plain(r, x, row, at) : NULL;
        bool stored = next != NULL;
        if (!stored) {
            next = ld_lines_trim(at, x->end, &line, &end);
            if (ld_lines_is_empty(line, end, LD_TEXT_COMMENTS)) {
                x->blank = line == end && x->blank == 0 ? x->lines + 1 : x->blank;
                continue;
            }
        }
        x->stopped = x->blank > 0 || !(stored || store_line(r, x, row, line, end));
        if (x->stopped)
            return;
        row += r->n_cells;
        x->n_rows++;
    }
}

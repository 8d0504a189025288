/* The part that the two files of the reader of tables share: text.c reads the first line and puts
 * pieces of the file behind each other, text_parse.c parses a piece. */
#ifndef LD_IO_TEXT_READER_H
#define LD_IO_TEXT_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "io/text/text.h"

/* The characters that begin a comment. */
#define LD_TEXT_COMMENTS "#%"

enum { LD_TEXT_PIECES = 16 };

/* Whole lines, one after the other, and what is in them. */
typedef struct {
    char *begin, *end; /* each line ends in \n */
    ld_cell *cells;    /* row after row; a name is its place in the piece, with a zero behind it */
    int64_t n_rows;
    int64_t lines; /* all lines before the one that is wrong, if any is */
    int64_t blank; /* the first blank line behind the last row, from 1; 0: none */
    bool stopped;  /* true if a line is wrong, or is a row behind the blank line */
    /* The largest id so far, its line in the piece and its column, from 1: */
    int64_t most, most_line, most_column;
    /* The fault in a line: the field, from 1, its text, and what was expected there. */
    int64_t column;
    const char *found, *found_end;
    char expected[80];
} ld_text_piece;

typedef struct ld_table_rows {
    ld_lines lines;
    ld_table *table;
    char separator;
    bool plain;        /* true if all fields are ids or numbers */
    bool named;        /* true if there are columns of names */
    int64_t n_cells;   /* of a row */
    int64_t shortest;  /* the bytes of the shortest line that can be a row */
    bool bounded;      /* memory does not grow with the file */
    ld_cell *room;     /* for the cells of all pieces */
    int64_t reserved;  /* cells that it has */
    int64_t at, count; /* the piece that is next, of so many */
    int64_t row;       /* the rows of that piece that were taken before */
    int64_t blank;     /* the first blank line behind the last row, 0: none */
    ld_text_piece pieces[LD_TEXT_PIECES];
} ld_text_reader;

/* Takes a text at p, and its quotes off in place. Returns where it ends in the line, or NULL when
 * the closing quote is missing. */
char *ld_text_take(const ld_text_reader *r, char *p, char *end, char **text, int64_t *length);

/* Returns true if a field ends at p, and moves *p to the next field, or makes it NULL behind the
 * last one. */
bool ld_text_end_field(const ld_text_reader *r, char **p, const char *end);

/* Returns the column that field i, from 0, belongs to. */
static inline ld_column *ld_text_column(const ld_text_reader *r, int64_t i)
{
    const ld_table *t = r->table;
    return &t->columns[i < t->n_columns ? i : t->n_columns - 1];
}

/* Parses a piece, up to the first line that is wrong. It needs room for the cells of as many rows
 * as its bytes can hold, and of one more. */
void ld_text_parse(const ld_text_reader *r, ld_text_piece *x);

#endif

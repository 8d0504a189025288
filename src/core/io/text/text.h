/* Tables in text: a line a row, fields between separators (CSV, TSV, blanks), plain or packed with
 * gzip. They are read in one pass, on all threads, each column as the kind that the caller says.
 *
 * Lines that begin with # or % are left out, and blank ones behind the last row; others that are
 * blank are refused. Blanks around a field do not count. Names may stand in double quotes, a quote
 * inside doubled. */
#ifndef LD_IO_TEXT_H
#define LD_IO_TEXT_H

#include <stdint.h>

#include "base/own.h"
#include "base/status.h"
#include "graph/csr.h"
#include "io/text/grow.h"
#include "io/text/lines.h"
#include "io/text/names.h"

typedef enum {
    LD_COLUMN_SKIP,
    LD_COLUMN_ID,      /* a whole number from first_id on, stored from 0 */
    LD_COLUMN_LABEL,   /* the same, or -1 or first_id - 1: none, stored as -1 */
    LD_COLUMN_NAME,    /* a text, stored as its number in `names`; empty where these have "" */
    LD_COLUMN_NUMBER,  /* a finite number; nan where it is missing, if `missing` allows that */
    LD_COLUMN_NUMBERS, /* this column and all behind it: a row of a matrix. The last one only */
} ld_column_kind;

typedef struct {
    ld_column_kind kind;
    ld_names *names; /* for LD_COLUMN_NAME; the caller's */
    ld_grow cells;   /* the values that were read */
} ld_column;

enum { LD_HEADER_NO, LD_HEADER_YES, LD_HEADER_GUESS };

typedef struct {
    ld_column *columns;
    int64_t n_columns;
    char separator;   /* ' ': blanks; '\0': tab, comma, semicolon or blanks, as in the first line */
    int header;       /* guess: there is one if no field of a number or id looks like one */
    bool missing;     /* true if numbers may be empty fields, "nan" or "na", which are nan then */
    int32_t first_id; /* the first id of the file: 0 or 1 */
    int64_t n_ids;    /* ids beyond this many are refused; 0: no limit */
    int64_t n_labels; /* labels beyond this many are refused; 0: no limit */
    ld_progress *progress;
    void *context;
    /* Found: */
    int64_t n_rows, n_fields;
    int64_t most, most_line, most_column; /* the largest id and where it stands, from 1 */
    char *titles; /* the header's fields, a zero behind each; NULL without a header */
} ld_table;

/* Reads a table. The fields up to `context` and the columns' kinds and names must be set, all
 * others zero. Fails with LD_FORMAT, line, column, the text found and what was expected. Ends with
 * ld_table_clear, also after a failure. */
ld_status ld_table_read(ld_table *t, const char *path);

/* Read a table a piece at a time, where it does not fit in memory. Its fields are set as for
 * ld_table_read, and it must stay until ld_table_close, which leaves it and may be given NULL. Each
 * call of ld_table_next adds up to n rows to what is in the columns, from which the caller takes
 * them; it adds none at the end. */
typedef struct ld_table_rows ld_table_rows;
ld_status ld_table_open(ld_table_rows **out, ld_table *t, const char *path);
ld_status ld_table_next(ld_table_rows *r, int64_t n);
void ld_table_close(ld_table_rows *r);
LD_OWNED_BY(ld_table_rows, ld_table_close)

/* Gives the fields of the first line that counts, as in `titles`, and their number. */
ld_status ld_table_peek(char **fields, int64_t *n_fields, const char *path, char separator);

/* Takes a column of numbers as a tensor; ld_grow_index takes one of ids, labels or names. */
ld_status ld_table_tensor(ld_tensor **out, ld_table *t, int64_t column);

/* Makes a square matrix of a table of edges read from `path`, and takes the columns for it. The
 * first columns must be source, target and perhaps a number. Rows of the matrix are the targets;
 * there are n_ids, or as many as the nodes found need. Edges that occur twice are summed, or kept
 * once if they have no numbers. A row takes memory whether it has edges or not, so without n_ids it
 * fails with LD_RANGE when the largest id is beyond 100 for each line and 10^6. */
ld_status ld_table_matrix(ld_csr **out, ld_table *t, const char *path);

/* Frees the columns that were read and not taken. */
void ld_table_clear(ld_table *t);

/* Writes a line "source,target" for every entry of a, ids from 0, the row being the target; with
 * its value as a third column unless all are ones by nature (text_write.c). */
ld_status ld_text_write_edges(const char *path, const ld_csr *a);

/* Writes the rows of a tensor, numbers between commas; they come back as they are. */
ld_status ld_text_write(const char *path, const ld_tensor *t);

#endif

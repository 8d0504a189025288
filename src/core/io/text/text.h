/* Tables in text: a line a row, fields between separators (CSV, TSV, blanks), plain or packed with
 * gzip. Read in one pass, each column as what the caller says it is.
 *
 * Lines that begin with # or % are left out, and blank ones behind the last row; others that are
 * blank are refused. Blanks around a field do not count. Names
 * may stand in double quotes, a quote inside doubled. */
#ifndef LD_IO_TEXT_H
#define LD_IO_TEXT_H

#include <stdint.h>

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
    LD_COLUMN_NUMBER,  /* a finite number */
    LD_COLUMN_NUMBERS, /* this column and all behind it: a row of a matrix. The last one only */
} ld_column_kind;

typedef struct {
    ld_column_kind kind;
    ld_names *names; /* of LD_COLUMN_NAME; the caller's */
    ld_grow cells;   /* what was read */
} ld_column;

enum { LD_HEADER_NO, LD_HEADER_YES, LD_HEADER_GUESS };

typedef struct {
    ld_column *columns;
    int64_t n_columns;
    char separator;   /* ' ': blanks; '\0': tab, comma, semicolon or blanks, as in the first line */
    int header;       /* guess: there is one if no field of a number or id looks like one */
    int32_t first_id; /* what ids count from: 0 or 1 */
    int64_t n_ids;    /* ids beyond this many are refused; 0: no limit */
    int64_t n_labels; /* the same of labels */
    ld_progress *progress;
    void *context;
    /* Found: */
    int64_t n_rows, n_fields;
    int64_t most, most_line, most_column; /* the largest id and where it stands, from 1 */
    char *titles; /* the header's fields, a zero behind each; NULL without a header */
} ld_table;

/* Reads a table; the fields up to `context` and the columns' kinds and names are set, all others
 * zero. LD_FORMAT with line, column, what was found and what was expected. Ends with
 * ld_table_clear, also after a failure. */
ld_status ld_table_read(ld_table *t, const char *path);

/* The same a piece at a time, for what does not fit in memory: of a table that was opened, whose fields
 * are set as for ld_table_read and which must stay, each call adds up to n rows more to what is in the
 * columns, from which the caller takes them; none at the end. ld_table_close may be given NULL, and
 * leaves the table. */
typedef struct ld_table_rows ld_table_rows;
ld_status ld_table_open(ld_table_rows **out, ld_table *t, const char *path);
ld_status ld_table_next(ld_table_rows *r, int64_t n);
void ld_table_close(ld_table_rows *r);

/* The fields of the first line that counts, in the manner of `titles`, and their number. */
ld_status ld_table_peek(char **fields, int64_t *n_fields, const char *path, char separator);

/* Takes a column: ids, labels and names as an index, others as a tensor. */
ld_status ld_table_index(ld_index **out, ld_table *t, int64_t column);
ld_status ld_table_tensor(ld_tensor **out, ld_table *t, int64_t column);

/* Takes a table of edges (its first columns are source, target and perhaps a number), read from `path`: a square matrix
 * whose rows are the targets, of n_ids rows, or as many as the nodes found need. Edges that occur
 * twice are summed, or kept once if they have no numbers. A row takes memory whether it has edges or
 * not, so without n_ids it is LD_RANGE when the largest id is beyond 100 for each line and 10^6. */
ld_status ld_table_matrix(ld_csr **out, ld_table *t, const char *path);

/* Frees what was read and not taken. */
void ld_table_clear(ld_table *t);

/* Writes a line "source,target" for every entry of a, ids from 0, the row being the target; with
 * its value as a third column unless all are ones by nature (text_write.c). */
ld_status ld_text_write_edges(const char *path, const ld_csr *a);

/* Writes the rows of a tensor, numbers between commas; they come back as they are. */
ld_status ld_text_write(const char *path, const ld_tensor *t);

#endif

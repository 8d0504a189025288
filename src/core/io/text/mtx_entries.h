/* The part that the two files of the reader of Matrix Market files share: mtx.c reads the banner
 * and arrays, mtx_entries.c the entries of coordinate files. */
#ifndef LD_IO_MTX_ENTRIES_H
#define LD_IO_MTX_ENTRIES_H

#include "graph/csr.h"
#include "io/text/lines.h"

/* The character that begins a comment. */
#define LD_MTX_COMMENTS "%"

typedef enum { LD_MTX_GENERAL, LD_MTX_SYMMETRIC, LD_MTX_SKEW } ld_mtx_symmetry;

typedef struct {
    ld_lines lines;
    bool coordinate, pattern;
    ld_mtx_symmetry symmetry;
    int64_t n_rows, n_cols;
    int64_t count; /* the entries in the file */
} ld_mtx_reader;

/* Takes a whole number in low .. high and the blanks around it; NULL when there is none. */
const char *ld_mtx_integer(int64_t *out, const char *p, int64_t low, int64_t high);

/* Reads the number in field `column`, with nothing but blanks from there to the end of the line. */
ld_status ld_mtx_value(const ld_mtx_reader *r, int column, const char *p, const char *end,
                       float *value);

/* Fails with LD_FORMAT unless the file can hold so many entries of at least so many bytes. */
ld_status ld_mtx_check_room(const ld_mtx_reader *r, int64_t count, int64_t bytes);

/* Reads the entries of a coordinate file, from the line behind the sizes on (mtx_entries.c). */
ld_status ld_mtx_read_entries(ld_mtx_reader *r, ld_csr **out);

#endif

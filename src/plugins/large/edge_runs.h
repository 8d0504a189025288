/* The entries of a matrix that does not fit in memory, on their way into rows. They come in any
 * order and are written to a file in runs, each ordered by ranges of rows; a range is read from all
 * runs when its rows are needed. So every entry is written once and read once or, where all rows
 * must be counted first, twice. Beside one run and the ranges that are being made, memory holds 8
 * bytes for each range of each run. */
#ifndef LD_LARGE_EDGE_RUNS_H
#define LD_LARGE_EDGE_RUNS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/own.h"
#include "base/status.h"
#include "graph/csr.h"
#include "tensor/index.h"

/* Ranges of a matrix, at most; each has 2^shift rows. */
enum { LD_EDGE_RANGES = 1024 };

typedef struct {
    int64_t position; /* in the file */
    int64_t *starts;  /* n_ranges + 1: the entries before each range */
} ld_edge_run;

typedef struct {
    int64_t n_rows, n_cols, n_ranges;
    int shift;
    int file;         /* it has no name: however the program ends, nothing is left of it */
    atomic_llong end; /* its size */
    char name[200];   /* for messages */
    atomic_bool held; /* by the thread that changes the fields below */
    int64_t n_runs, room;
    ld_edge_run *runs;
} ld_edge_runs;

/* Makes runs without entries, whose file lies on the disk of `folder`. Fails with LD_SHAPE or
 * LD_IO. */
ld_status ld_edge_runs_new(ld_edge_runs **out, const char *folder, int64_t n_rows, int64_t n_cols);

/* NULL is allowed. */
void ld_edge_runs_free(ld_edge_runs *r);
LD_OWNED_BY(ld_edge_runs, ld_edge_runs_free)

/* Adds a run of the entries (rows[i], columns[i]), and with `both` also (columns[i], rows[i])
 * where the two ids differ. Ids must be in range. Holds 8 bytes for each meanwhile; may be called
 * from several threads. Rows do not depend on the order of runs. */
ld_status ld_edge_runs_put(ld_edge_runs *r, const int32_t *rows, const int32_t *columns, int64_t n,
                           bool both);

/* Adds a run as ld_edge_runs_put does, of ids that may be out of range. Fails with LD_SHAPE when
 * the lengths differ, and with LD_RANGE. */
ld_status ld_edge_runs_add(ld_edge_runs *r, const ld_index *rows, const ld_index *columns,
                           bool both);

/* Returns how many entries of a range were put so far; one that was put twice counts as two. */
int64_t ld_edge_runs_count(const ld_edge_runs *r, int64_t range);

/* The rows of a range, sorted, each entry once. */
typedef struct {
    int64_t first, n_rows;
    int64_t *offsets; /* n_rows + 1 */
    int32_t *columns;
} ld_edge_range;

/* Brings together the entries of a range that lie right of the diagonal. Holds 24 bytes for each of
 * its entries and for each of its rows at most; given back with ld_edge_range_clear, also after a
 * failure. */
ld_status ld_edge_runs_upper(ld_edge_range *out, const ld_edge_runs *r, int64_t range);
void ld_edge_range_clear(ld_edge_range *e);

/* Makes a matrix of ones of the rows of `count` ranges from `first` on. Fails with LD_RANGE. */
ld_status ld_edge_runs_matrix(ld_csr **out, const ld_edge_runs *r, const ld_edge_runs *without,
                              int64_t first, int64_t count);

#endif

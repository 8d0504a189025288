/* The entries of a matrix that does not fit in memory, on their way into rows: they come in any order,
 * are written to a file in runs, each ordered by ranges of rows, and a range is brought together from
 * all runs when its rows are wanted. So every entry is written once and read once or, where something
 * is to be known of all rows first, twice; beside one run and the ranges that are at hand, memory
 * holds 8 bytes for each range of each run. */
#ifndef LD_GRAPH_EDGE_RUNS_H
#define LD_GRAPH_EDGE_RUNS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/spill.h"
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
    ld_spill *file;
    atomic_bool held; /* by who changes what is below */
    int64_t n_runs, room;
    ld_edge_run *runs;
} ld_edge_runs;

/* Without entries; the file lies on the disk of `folder`. LD_SHAPE, LD_IO. */
ld_status ld_edge_runs_new(ld_edge_runs **out, const char *folder, int64_t n_rows, int64_t n_cols);

/* NULL is allowed. */
void ld_edge_runs_free(ld_edge_runs *r);

/* Adds a run of the entries (rows[i], columns[i]), and with `both` (columns[i], rows[i]) unless they
 * are one. Ids must be in range. Holds 8 bytes for each meanwhile; may be called from several threads.
 * What is made of all runs does not depend on their order. */
ld_status ld_edge_runs_put(ld_edge_runs *r, const int32_t *rows, const int32_t *columns, int64_t n,
                           bool both);

/* The same for ids that come from outside. LD_SHAPE when the lengths differ, LD_RANGE. */
ld_status ld_edge_runs_add(ld_edge_runs *r, const ld_index *rows, const ld_index *columns,
                           bool both);

/* The entries of a range that were put so far, however often. */
int64_t ld_edge_runs_count(const ld_edge_runs *r, int64_t range);

/* The rows of a range, sorted, each entry once. */
typedef struct {
    int64_t first, n_rows;
    int64_t *offsets; /* n_rows + 1 */
    int32_t *columns;
} ld_edge_range;

/* Brings a range together, without the entries that are in `without` too, which may be NULL. Holds 24
 * bytes for each of its entries and for each of its rows at most; given back with
 * ld_edge_range_clear, also after a failure. */
ld_status ld_edge_runs_load(ld_edge_range *out, const ld_edge_runs *r, const ld_edge_runs *without,
                            int64_t range);

/* The same of the entries right of the diagonal alone. */
ld_status ld_edge_runs_upper(ld_edge_range *out, const ld_edge_runs *r, int64_t range);

void ld_edge_range_clear(ld_edge_range *e);

/* The rows of `count` ranges from `first` on as a matrix of ones. LD_RANGE. */
ld_status ld_edge_runs_matrix(ld_csr **out, const ld_edge_runs *r, const ld_edge_runs *without,
                              int64_t first, int64_t count);

#endif

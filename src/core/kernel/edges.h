/* Sums of the two rows that each entry of a sparse matrix joins, from which attention computes its
 * scores, and sums over entries, which their gradients need. The matrix is given by its structure:
 * row r has the entries offsets[r] .. offsets[r + 1] - 1. All functions fail as ld_parallel_for
 * does. */
#ifndef LD_KERNEL_EDGES_H
#define LD_KERNEL_EDGES_H

#include <stdint.h>

#include "base/status.h"

/* z[e] = x[row of e] + y[columns[e]], rows of k numbers. */
ld_status ld_add_edges(float *z, const int64_t *offsets, const int32_t *columns, int64_t n_rows,
                       const float *x, const float *y, int64_t k);

/* Adds to x[r], one after the other, the rows z[e] of row r's entries e, or with `source` the rows
 * z[source[e]]. */
ld_status ld_collect_edges(float *x, const int64_t *offsets, const int32_t *source, int64_t n_rows,
                           const float *z, int64_t k);

#endif

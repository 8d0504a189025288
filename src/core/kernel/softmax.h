/* Softmax, its logarithm and their gradients: over the rows of a matrix of n_rows x n_cols floats,
 * or over segments, which are the entries of a sparse matrix's rows. The largest element is
 * subtracted first: no exponential overflows, and a sum is at least 1. Exponentials are floats,
 * sums are doubles, added in the order of the elements. All functions fail as ld_parallel_for
 * does. */
#ifndef LD_KERNEL_SOFTMAX_H
#define LD_KERNEL_SOFTMAX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* y = exp(x) / sum(exp(x)) or, with of_log, its logarithm x - log(sum(exp(x))), each row alone;
 * n_cols > 0. y is not x. A row of a NaN, of +infinity, or of -infinity alone is NaN. */
ld_status ld_softmax(float *y, const float *x, int64_t n_rows, int64_t n_cols, bool of_log);

/* dx = y * (dy - sum(y * dy)) or, with of_log, dy - exp(y) * sum(dy), with y of ld_softmax; added
 * to dx with `accumulate`, without which dx may be dy. */
ld_status ld_softmax_backward(float *dx, const float *dy, const float *y, int64_t n_rows,
                              int64_t n_cols, bool of_log, bool accumulate);

/* The softmax of segments: segment s is rows offsets[s] .. offsets[s + 1] - 1 of x, and of each of
 * its k columns alone. An element of -infinity becomes 0, where all of a segment's are so too. y is
 * not x. */
ld_status ld_segment_softmax(float *y, const float *x, const int64_t *offsets, int64_t n_segments,
                             int64_t k);

/* dx = y * (dy - sum(y * dy)) over each segment and column, with y of ld_segment_softmax; added to
 * dx with `accumulate`, without which dx may be dy. */
ld_status ld_segment_softmax_backward(float *dx, const float *dy, const float *y,
                                      const int64_t *offsets, int64_t n_segments, int64_t k,
                                      bool accumulate);

#endif

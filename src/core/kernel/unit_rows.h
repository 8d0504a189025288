/* Rows of a matrix of n_rows x n_cols floats brought to length 1, and the gradient, in double: sums
 * in eight lanes (kernel/chains.h), rounded to float once. All functions fail as ld_parallel_for
 * does. */
#ifndef LD_KERNEL_UNIT_ROWS_H
#define LD_KERNEL_UNIT_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* Divides rows by their length: y = x * inverse over each row, where inverse[r] = 1 / the row's
 * Euclidean length, 0 for a row of zeros. y may be x. */
ld_status ld_normalize_rows(float *y, float *inverse, const float *x, int64_t n_rows,
                            int64_t n_cols);

/* dx = (dy - y * (y . dy)) * inverse over each row; added to dx with `accumulate`, without which dx
 * may be dy. */
ld_status ld_normalize_rows_backward(float *dx, const float *dy, const float *y,
                                     const float *inverse, int64_t n_rows, int64_t n_cols,
                                     bool accumulate);

#endif

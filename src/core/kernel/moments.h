/* Means and variances of the columns or the rows of a matrix of n_rows x n_cols floats, and their
 * gradients, in double: sums over a row in eight lanes (kernel/chains.h), sums over a column in the
 * order of the rows. All functions fail as ld_parallel_for does. */
#ifndef LD_KERNEL_MOMENTS_H
#define LD_KERNEL_MOMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* Computes the means of the columns, and their variances over n_rows > 0, in two passes. */
ld_status ld_column_moments(double *mean, double *variance, const float *x, int64_t n_rows,
                            int64_t n_cols);

/* Computes the means and variances of the rows, over n_cols > 0, each in two passes in eight
 * lanes. */
ld_status ld_row_moments(double *mean, double *variance, const float *x, int64_t n_rows,
                         int64_t n_cols);

/* dx = factor * (x - mean), where factor and mean are of an element's column or, with of_rows, of
 * its row; added to dx with `accumulate`. */
ld_status ld_moments_backward(float *dx, const float *x, const double *factor, const double *mean,
                              int64_t n_rows, int64_t n_cols, bool of_rows, bool accumulate);

#endif

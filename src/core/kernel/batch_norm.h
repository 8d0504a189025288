/* Batch norm of the columns of a matrix of n_rows x n_cols floats, and its gradients, in double:
 * sums in the order of the rows, rounded to float once. All functions fail as ld_parallel_for
 * does. */
#ifndef LD_KERNEL_BATCH_NORM_H
#define LD_KERNEL_BATCH_NORM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* Batch norm: y = (x - mean) * inverse * gain + bias over each column; all four have n_cols
 * elements. y may be x. */
ld_status ld_batch_norm(float *y, const float *x, const double *mean, const double *inverse,
                        const float *gain, const float *bias, int64_t n_rows, int64_t n_cols);

/* Gradients of batch norm's parameters. With z = (x - mean) * inverse, x - mean being a float:
 * dgain is the sum over the rows of dy * z, dbias that of dy. */
ld_status ld_batch_norm_parameters(double *dgain, double *dbias, const float *dy, const float *x,
                                   const float *mean, const double *inverse, int64_t n_rows,
                                   int64_t n_cols);

/* Backward of batch norm: dx = gain * inverse * (dy - (dbias + z * dgain) / n_rows), with the
 * results of ld_batch_norm_parameters; added to dx with `accumulate`, without which dx may be
 * dy. */
ld_status ld_batch_norm_backward(float *dx, const float *dy, const float *x, const float *gain,
                                 const float *mean, const double *inverse, const double *dgain,
                                 const double *dbias, int64_t n_rows, int64_t n_cols,
                                 bool accumulate);

#endif

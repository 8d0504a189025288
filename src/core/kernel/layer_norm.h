/* Layer norm of the rows of a matrix of n_rows x n_cols floats, and its gradients, in float: sums
 * over a row in sixteen lanes, and those over 32 rows of a column. All functions fail as
 * ld_parallel_for does. */
#ifndef LD_KERNEL_LAYER_NORM_H
#define LD_KERNEL_LAYER_NORM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* Layer norm: y = (x - mean) * inverse * gain + bias over each row, with the row's mean and the
 * inverse of its deviation, 1 / sqrt(variance + eps), which go to mean[r] and inverse[r]. gain and
 * bias have n_cols elements. y may be x. Distances from the mean have as few wrong bits in rows of
 * almost equal numbers as in others; their squares must not overflow. */
ld_status ld_layer_norm(float *y, float *mean, float *inverse, const float *x, const float *gain,
                        const float *bias, double eps, int64_t n_rows, int64_t n_cols);

/* Backward of layer norm. With n = (x - mean) * inverse and h = gain * dy: dx = (h - mean(h) - n *
 * mean(h * n)) * inverse, added to dx with `accumulate`, without which dx may be dy. */
ld_status ld_layer_norm_backward(float *dx, const float *dy, const float *x, const float *gain,
                                 const float *mean, const float *inverse, int64_t n_rows,
                                 int64_t n_cols, bool accumulate);

/* Gradients of layer norm's parameters: dgain is the sum over the rows of dy * n, dbias that of
 * dy. */
ld_status ld_layer_norm_parameters(double *dgain, double *dbias, const float *dy, const float *x,
                                   const float *mean, const float *inverse, int64_t n_rows,
                                   int64_t n_cols);

#endif

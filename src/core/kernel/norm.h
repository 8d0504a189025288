/* Normalisation of the rows or the columns of a matrix of n_rows x n_cols floats, and its
 * gradients. Layer norm computes in float, with sums over a row in sixteen lanes, and those over 32
 * rows of a column. Everything else is computed in double and rounded to float once: sums over a
 * row in eight lanes (kernel/chains.h) or in the order of its elements, sums over a column in the
 * order of the rows. All functions fail as ld_parallel_for does. */
#ifndef LD_KERNEL_NORM_H
#define LD_KERNEL_NORM_H

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

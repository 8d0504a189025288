/* Copies or adds rows and columns of a matrix. All functions fail as ld_parallel_for does. `rows`
 * are checked by the caller. */
#ifndef LD_KERNEL_GATHER_H
#define LD_KERNEL_GATHER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* Gathers y[i] = x[rows[i]] for n rows of n_cols elements; added to y with `accumulate`. */
ld_status ld_gather_rows(float *y, const float *x, const int32_t *rows, int64_t n, int64_t n_cols,
                         bool accumulate);

/* Adds y[rows[i]] += x[i] for n rows of n_cols elements, by all threads where no row comes twice,
 * which `distinct` says, and one after the other otherwise. */
ld_status ld_scatter_rows(float *y, const float *x, const int32_t *rows, int64_t n, int64_t n_cols,
                          bool distinct);

/* Copies y = x, for n_rows x n_cols elements whose rows begin every y_stride and x_stride elements;
 * added to y with `accumulate`. */
ld_status ld_copy_block(float *y, int64_t y_stride, const float *x, int64_t x_stride,
                        int64_t n_rows, int64_t n_cols, bool accumulate);

/* Joins x's columns and then y's to z; both have n_rows rows. */
ld_status ld_join_columns(float *z, const float *x, int64_t x_cols, const float *y, int64_t y_cols,
                          int64_t n_rows);

/* Transposes y = x^T for an x of n_rows x n_cols; added to y with `accumulate`. */
ld_status ld_transpose(float *y, const float *x, int64_t n_rows, int64_t n_cols, bool accumulate);

#endif

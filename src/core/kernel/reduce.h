/* Sums, extremes and running sums of the rows, of the columns, or of all numbers of a matrix of
 * n_rows x n_cols floats without gaps.
 *
 * Sums are made in double, and the order in which their terms are added follows from the shape
 * alone: the bits are the same for any number of threads and on any vector units. Of a row or a
 * column it is the order of its elements. All functions fail as ld_parallel_for does, and with
 * LD_NOMEM where they need memory. */
#ifndef LD_KERNEL_REDUCE_H
#define LD_KERNEL_REDUCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "kernel/chains.h"

/* sums[r] = the sum of the terms of row r; y may be NULL where the terms are values. */
ld_status ld_row_sums(double *sums, const float *x, const float *y, ld_terms terms, int64_t n_rows,
                      int64_t n_cols);

/* sums[j] = the sum of the terms of column j. */
ld_status ld_col_sums(double *sums, const float *x, const float *y, ld_terms terms, int64_t n_rows,
                      int64_t n_cols);

/* *sum = the sum of n terms, of which all threads add some: pieces of 4096 terms are summed in 16
 * lanes each, and the pieces' sums added in their order. */
ld_status ld_total(double *sum, const float *x, const float *y, ld_terms terms, int64_t n);

/* sums[i] = the sum of the squares of x[i * chunk] .. x[(i + 1) * chunk - 1], in eight lanes; the
 * last chunk, up to x[n - 1], may be shorter. */
ld_status ld_chunk_squares(double *sums, const float *x, int64_t n, int64_t chunk);

/* top[k] = the largest (sign 1) or smallest (sign -1) element of row k, or with of_columns of
 * column k, and at[k] its column, or row: the first among equals. A NaN is better than any number.
 * The rows or columns must not be empty. */
ld_status ld_extremes(float *top, int32_t *at, const float *x, int64_t n_rows, int64_t n_cols,
                      bool of_columns, int sign);

/* y = for each element the sum of itself and of those before it in its row, or with of_columns in
 * its column; with backwards, of those after it. It is added to y with accumulate. */
ld_status ld_running_sums(float *y, const float *x, int64_t n_rows, int64_t n_cols, bool of_columns,
                          bool backwards, bool accumulate);

#endif

/* Products of a sparse matrix a with a dense one, x. The ways to y = a * x give the same bits: an
 * element of y is summed in float, in the order of its row's entries, and then scaled by its row.
 * graph/spmm.c chooses between them; tests/c/spmm_plain.h says in few lines what they compute.
 *
 * x has a.n_cols rows and y a.n_rows rows of k numbers without gaps; y must not overlap x. All
 * functions run in parallel and fail as ld_parallel_for does, and with LD_NOMEM where they need
 * memory. */
#ifndef LD_KERNEL_SPMM_H
#define LD_KERNEL_SPMM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "kernel/factors.h"
#include "memory/mapping.h"

/* y = a * x, or y += a * x with accumulate; then `bias`, k numbers or NULL, is added to each row,
 * here and below. Entry e meets row meets[e] of x, and its own column's with meets = a->columns. */
ld_status ld_spmm_by_rows(float *y, const ld_factors *a, const int32_t *meets, const float *x,
                          int64_t k, bool accumulate, const float *bias);

/* The most blocks of x. */
enum { LD_SPMM_BLOCKS = 1024 };

/* The product in blocks of 2^shift <= 2^15 rows of x, at most LD_SPMM_BLOCKS of them, each of which
 * a cache holds while the entries in its columns go by. Makes the first *made rows of y: all,
 * unless it comes upon a row whose columns do not ascend. */
ld_status ld_spmm_by_blocks(int64_t *made, float *y, const ld_factors *a, int shift, const float *x,
                            int64_t k, bool accumulate, const float *bias);

/* y = a^T * x, or y += a^T * x, for a without `source`, whose transpose is not made: y has a.n_cols
 * rows and x a.n_rows. */
ld_status ld_spmm_by_columns(float *y, const ld_factors *a, const float *x, int64_t k,
                             bool accumulate);

/* y = a * x where x, and perhaps y, lie in temporary files of which memory holds `window` rows of x,
 * twice, and `panel` rows of y at a time: x goes by in windows, once for each panel. The columns of
 * each row must ascend. x_file and y_file are the mappings that x and y lie in, or NULL for memory.
 * Fails with LD_IO too. */
ld_status ld_spmm_by_windows(float *y, const ld_factors *a, const float *x, int64_t k,
                             const float *bias, int64_t panel, int64_t window,
                             const ld_mapping *x_file, const ld_mapping *y_file);

/* A part of y = a * x: adds the entries that meet rows first .. first + n - 1, which are all that x
 * has, to the sums that wait in y. The windows must come in ascending order and be all of a's
 * columns; that with first = 0 begins the sums anew, and the last one scales the rows and adds
 * `bias`. The columns of each row must ascend. */
ld_status ld_spmm_of_window(float *y, const ld_factors *a, const float *x, int64_t first, int64_t n,
                            int64_t k, const float *bias);

/* y = a * x with products and sums in double, each element rounded to float once. */
ld_status ld_spmm_in_double(float *y, const ld_factors *a, const float *x, int64_t k);

/* For each head h of `heads` and its `width` columns y = A_h x, or y += A_h x with accumulate. A_h
 * has a's structure, and number h of each entry's row of w, entries x heads, for values; a's own
 * values and scales do not matter. x is a.n_cols x heads * width. An element of y takes one entry
 * after the other. */
ld_status ld_spmm_of_heads(float *y, const ld_factors *a, const float *w, const float *x,
                           int64_t heads, int64_t width, bool accumulate);

/* w[e][h] = the dot product of x[row of e] and y[column of e] over the columns of head h, or w +=
 * with accumulate. It is summed in double, in eight lanes, of which lane l takes every eighth
 * product from the l-th on; then the upper half of the lanes is added to the lower, three times, and
 * the sum is rounded. a's values, scales and source do not matter. */
ld_status ld_sddmm_of_heads(float *w, const ld_factors *a, const float *x, const float *y,
                            int64_t heads, int64_t width, bool accumulate);

#endif

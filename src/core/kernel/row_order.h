/* Orders the elements of each row of a matrix. */
#ifndef LD_KERNEL_ROW_ORDER_H
#define LD_KERNEL_ROW_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* Finds at[r * k + i], the column of the i-th smallest element of row r or, descending, of the i-th
 * largest, for i < k <= n_cols. Equal elements stay in the order of their columns, either way, and
 * NaN counts as larger than all numbers. Takes O(n_cols log k) a row at worst, and O(n_cols) where
 * k is small and the elements are in no order. Fails as ld_parallel_for does, and with LD_NOMEM. */
ld_status ld_row_order(int32_t *at, const float *x, int64_t n_rows, int64_t n_cols, int64_t k,
                       bool descending);

#endif

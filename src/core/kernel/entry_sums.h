/* Sums of the entries of a sparse matrix, or of their squares, over its rows and over its columns.
 * Terms are added in double, in the order of the entries. */
#ifndef LD_KERNEL_ENTRY_SUMS_H
#define LD_KERNEL_ENTRY_SUMS_H

#include "kernel/factors.h"

/* sums[r] = the sum over row r of its entries (power 1) or of their squares (power 2). */
void ld_entry_row_sums(float *sums, const ld_factors *a, int power);

/* sums[c] = the sum over column c, which begins as 0. Without values the scale of a column, which
 * all its entries have, is applied once, to the sum. */
void ld_entry_col_sums(double *sums, const ld_factors *a, int power);

#endif

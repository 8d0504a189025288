/* Sums of entries over rows and over columns. */
#include "kernel/entry_sums.h"

#include <stdbool.h>

static double powered(double v, int power)
{
    return power == 2 ? v * v : v;
}

void ld_entry_row_sums(float *sums, const ld_factors *a, int power)
{
    bool equal = power == 1 && !a->values && !a->col_scale; /* the entries of a row */
    for (int64_t r = 0; r < a->n_rows; r++) {
        double sum = 0;
        int64_t n = a->offsets[r + 1] - a->offsets[r];
        if (equal && n > 0) /* the same bits: a sum of fewer than 2^29 equal floats is exact */
            sum += (double)n * (a->row_scale ? a->row_scale[r] : 1.0f);
        for (int64_t e = a->offsets[r]; !equal && e < a->offsets[r + 1]; e++)
            sum += powered(ld_factors_value(a, r, e), power);
        sums[r] = (float)sum;
    }
}

void ld_entry_col_sums(double *sums, const ld_factors *a, int power)
{
    for (int64_t r = 0; r < a->n_rows; r++) {
        double all = powered(a->row_scale ? a->row_scale[r] : 1.0, power);
        for (int64_t e = a->offsets[r]; e < a->offsets[r + 1]; e++)
            sums[a->columns[e]] += a->values ? powered(ld_factors_value(a, r, e), power) : all;
    }
    for (int64_t c = 0; !a->values && a->col_scale && c < a->n_cols; c++)
        sums[c] *= powered(a->col_scale[c], power);
}

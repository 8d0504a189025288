/* Sums a row of the product of a sparse matrix with a dense one, for the ways of kernel/spmm.h that
 * go row by row. A row of y is the weighted sum of rows of x, taken up to 128 columns at a time so
 * that the sums stay in vector registers while the entries of the row go by. */
#ifndef LD_KERNEL_ROW_SUM_H
#define LD_KERNEL_ROW_SUM_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel/factors.h"
#include "system/simd.h"

enum {
    LD_ROW_SUM_TILE = 128,
    LD_ROW_SUM_AHEAD = 8, /* entries that memory is asked for before their turn */
    LD_ROW_SUM_LINE = 16  /* floats of a cache line */
};

/* y = a * x, or y += a * x with accumulate; see ld_spmm_by_rows. */
typedef struct {
    float *y;
    const ld_factors *a;
    const int32_t *meets;
    const float *x, *bias;
    int64_t k;
    bool accumulate;
} ld_row_sum;

/* Asks memory for `width` columns of the row of x that entry e needs. */
static inline void ld_row_sum_prefetch(const ld_row_sum *p, int64_t e, int64_t first, int64_t width,
                                       int64_t base)
{
    const float *x = p->x + (p->meets[e] - base) * p->k + first;
    for (int64_t j = 0; j < width; j += LD_ROW_SUM_LINE)
        __builtin_prefetch(x + j);
}

/* Sums entries from .. to-1 of row r, in `width` columns from `first` on; with `resumed` y holds
 * the sums of the row's entries before. x begins with row `base`. */
static LD_INLINE void ld_row_sum_columns(const ld_row_sum *p, int64_t r, int64_t from, int64_t to,
                                         int64_t first, int64_t width, bool far, bool resumed,
                                         int64_t base)
{
    const ld_factors *a = p->a;
    const int32_t *meets = p->meets;
    int64_t last = resumed ? to - 1 : a->offsets[a->n_rows] - 1;
    float sum[LD_ROW_SUM_TILE], *y = p->y + r * p->k + first;
    for (int64_t j = 0; j < width; j++)
        sum[j] = resumed ? y[j] : 0.0f;
    for (int64_t e = from; e < to; e++) {
        float v = ld_factors_weight(a, e);
        const float *x = p->x + (meets[e] - base) * p->k + first;
        if (far)
            ld_row_sum_prefetch(p, e + LD_ROW_SUM_AHEAD < last ? e + LD_ROW_SUM_AHEAD : last, first,
                                width, base);
        LD_ONE_BY_ONE(e);
        for (int64_t j = 0; j < width; j++)
            sum[j] += v * x[j];
    }
    float scale = a->row_scale ? a->row_scale[r] : 1.0f;
    if (p->accumulate)
        for (int64_t j = 0; j < width; j++)
            y[j] += scale * sum[j];
    else
        for (int64_t j = 0; j < width; j++)
            y[j] = scale * sum[j];
}

/* Sums entries from .. to-1 of row r in all columns. With `far` memory is asked for the rows of x of
 * later entries: of those to come in the range with `resumed`, or else of any. */
static LD_INLINE void ld_row_sum_make(const ld_row_sum *p, int64_t r, int64_t from, int64_t to,
                                      bool far, bool resumed, int64_t base)
{
    int64_t first = 0, rest = p->k % LD_ROW_SUM_TILE;
    for (; first + LD_ROW_SUM_TILE <= p->k; first += LD_ROW_SUM_TILE)
        ld_row_sum_columns(p, r, from, to, first, LD_ROW_SUM_TILE, far, resumed, base);
    if (rest & 64)
        ld_row_sum_columns(p, r, from, to, first, 64, far, resumed, base);
    first += rest & 64;
    if (rest & 32)
        ld_row_sum_columns(p, r, from, to, first, 32, far, resumed, base);
    first += rest & 32;
    if (rest & 16)
        ld_row_sum_columns(p, r, from, to, first, 16, far, resumed, base);
    first += rest & 16;
    if (rest & 8)
        ld_row_sum_columns(p, r, from, to, first, 8, far, resumed, base);
    first += rest & 8;
    if (rest & 4)
        ld_row_sum_columns(p, r, from, to, first, 4, far, resumed, base);
    first += rest & 4;
    for (; first < p->k; first++)
        ld_row_sum_columns(p, r, from, to, first, 1, far, resumed, base);
}

/* Adds the bias, if any, to rows begin .. end-1 of y. */
static LD_INLINE void ld_row_sum_add_bias(const ld_row_sum *p, int64_t begin, int64_t end)
{
    for (int64_t r = begin; p->bias && r < end; r++)
        for (int64_t j = 0; j < p->k; j++)
            p->y[r * p->k + j] += p->bias[j];
}

#endif

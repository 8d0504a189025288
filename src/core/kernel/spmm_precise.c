/* The product that is rounded once: entries and elements are converted to double, multiplied and
 * summed, in the order of the row's entries, and the sum is rounded to float. */
#include "kernel/spmm.h"
#include "system/simd.h"
#include "system/threads.h"

enum { TILE = 32, ROW_GRAIN = 64 };

typedef struct {
    float *y;
    const ld_factors *a;
    const float *x;
    int64_t k;
} product;

static LD_INLINE void tile(const product *p, int64_t r, int64_t first, int64_t width)
{
    const ld_factors *a = p->a;
    double sum[TILE] = {0}, scale = a->row_scale ? a->row_scale[r] : 1.0;
    for (int64_t e = a->offsets[r]; e < a->offsets[r + 1]; e++) {
        int32_t c = a->columns[e];
        double v = a->values ? a->values[a->source ? a->source[e] : e] : 1.0;
        v *= scale * (a->col_scale ? a->col_scale[c] : 1.0);
        const float *x = p->x + c * p->k + first;
        for (int64_t j = 0; j < width; j++)
            sum[j] += v * x[j];
    }
    for (int64_t j = 0; j < width; j++)
        p->y[r * p->k + first + j] = (float)sum[j];
}

LD_CLONES(spmm_in_double)
{
    const product *p = ctx;
    for (int64_t r = begin; r < end; r++) {
        int64_t first = 0;
        for (; first + TILE <= p->k; first += TILE)
            tile(p, r, first, TILE);
        if (first < p->k)
            tile(p, r, first, p->k - first);
    }
}

ld_status ld_spmm_in_double(float *y, const ld_factors *a, const float *x, int64_t k)
{
    product p = {y, a, x, k};
    return ld_parallel_for(a->n_rows, ROW_GRAIN, spmm_in_double, &p);
}

/* The two products that attention with several heads is made of. Each head is a sparse matrix; all
 * have the same structure and different values. One product multiplies every head with its own
 * columns of a dense matrix; the other computes, for every entry and head, the dot product of the
 * two rows that the entry joins. Both are one pass over the structure, row by row, and sums are in
 * the order of the entries. */
#include "kernel/spmm.h"
#include "system/simd.h"
#include "system/threads.h"

enum { ROW_GRAIN = 64 };

typedef struct {
    float *y, *w;
    const ld_factors *a;
    const float *left, *right;
    int64_t heads, width;
    bool accumulate;
} product;

/* y = A_h x: left is w, right is x */
LD_CLONES(spmm_of_heads)
{
    const product *p = ctx;
    const ld_factors *a = p->a;
    int64_t k = p->heads * p->width;
    for (int64_t r = begin; r < end; r++) {
        float *y = p->y + r * k;
        for (int64_t j = 0; !p->accumulate && j < k; j++)
            y[j] = 0;
        for (int64_t e = a->offsets[r]; e < a->offsets[r + 1]; e++) {
            const float *w = p->left + (a->source ? a->source[e] : e) * p->heads;
            const float *x = p->right + a->columns[e] * k;
            for (int64_t h = 0; h < p->heads; h++)
                for (int64_t j = h * p->width; j < (h + 1) * p->width; j++)
                    y[j] += w[h] * x[j];
        }
    }
}

ld_status ld_spmm_of_heads(float *y, const ld_factors *a, const float *w, const float *x,
                           int64_t heads, int64_t width, bool accumulate)
{
    product p = {y, NULL, a, w, x, heads, width, accumulate};
    return ld_parallel_for(a->n_rows, ROW_GRAIN, spmm_of_heads, &p);
}

/* w = x . y: left is x, right is y */
LD_CLONES(sddmm_of_heads)
{
    const product *p = ctx;
    const ld_factors *a = p->a;
    int64_t k = p->heads * p->width;
    for (int64_t r = begin; r < end; r++) {
        const float *x = p->left + r * k;
        for (int64_t e = a->offsets[r]; e < a->offsets[r + 1]; e++) {
            const float *y = p->right + a->columns[e] * k;
            for (int64_t h = 0; h < p->heads; h++) {
                double dot = 0;
                for (int64_t j = h * p->width; j < (h + 1) * p->width; j++)
                    dot += (double)x[j] * y[j];
                float *w = &p->w[e * p->heads + h];
                *w = p->accumulate ? *w + (float)dot : (float)dot;
            }
        }
    }
}

ld_status ld_sddmm_of_heads(float *w, const ld_factors *a, const float *x, const float *y,
                            int64_t heads, int64_t width, bool accumulate)
{
    product p = {NULL, w, a, x, y, heads, width, accumulate};
    return ld_parallel_for(a->n_rows, ROW_GRAIN, sddmm_of_heads, &p);
}

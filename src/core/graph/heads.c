/* Products of k matrices of one structure, the heads, each with its own columns of a dense one: what
 * attention with several heads is made of. In one pass over the structure, row by row; the order of
 * summation is that of the entries. */
#include <inttypes.h>

#include "base/simd.h"
#include "base/threads.h"
#include "graph/heads.h"

enum { ROW_GRAIN = 64 };

typedef struct {
    float *y; /* n_rows x heads * width */
    const ld_structure *s;
    const float *w; /* nnz x heads, of the structure whose transpose s is, if `transposed` */
    const float *x; /* n_cols x heads * width */
    int64_t heads, width;
    bool transposed, accumulate;
} products;

LD_CLONES(product_rows)
{
    const products *p = ctx;
    int64_t k = p->heads * p->width;
    for (int64_t r = begin; r < end; r++) {
        float *y = p->y + r * k;
        for (int64_t j = 0; !p->accumulate && j < k; j++)
            y[j] = 0;
        for (int64_t e = p->s->offsets[r]; e < p->s->offsets[r + 1]; e++) {
            const float *w = p->w + (p->transposed ? p->s->source[e] : e) * p->heads;
            const float *x = p->x + p->s->columns[e] * k;
            for (int64_t h = 0; h < p->heads; h++)
                for (int64_t j = h * p->width; j < (h + 1) * p->width; j++)
                    y[j] += w[h] * x[j];
        }
    }
}

static ld_status check(const ld_csr *a, bool transpose, const ld_tensor *w, const ld_tensor *y,
                       const ld_tensor *x)
{
    const ld_structure *s = a->s;
    int64_t n_rows = transpose ? s->n_cols : s->n_rows, n_cols = transpose ? s->n_rows : s->n_cols;
    if (w->n_cols == 0 || w->n_rows != s->nnz || x->n_rows != n_cols || y->n_rows != n_rows ||
        x->n_cols != y->n_cols || x->n_cols % w->n_cols != 0)
        return ld_fail(LD_SHAPE,
                       "matmul_heads: weights of %s and %s on a %" PRId64 " x %" PRId64
                       " matrix of %" PRId64 " entries",
                       ld_tensor_shape(w), ld_tensor_shape(x), n_rows, n_cols, s->nnz);
    return LD_OK;
}

ld_status ld_spmm_heads(ld_tensor *y, ld_csr *a, bool transpose, const ld_tensor *w,
                        const ld_tensor *x, bool accumulate)
{
    ld_structure *s = a->s;
    ld_status st = check(a, transpose, w, y, x);
    if (st == LD_OK && transpose)
        st = ld_structure_transpose(&s, a->s);
    if (st != LD_OK)
        return st;
    products p = {.y = y->data,
                  .s = s,
                  .w = w->data,
                  .x = x->data,
                  .heads = w->n_cols,
                  .width = x->n_cols / w->n_cols,
                  .transposed = transpose,
                  .accumulate = accumulate};
    return ld_parallel_for(s->n_rows, ROW_GRAIN, product_rows, &p);
}

typedef struct {
    float *w; /* nnz x heads */
    const ld_structure *s;
    const float *x, *y; /* n_rows and n_cols x heads * width */
    int64_t heads, width;
    bool accumulate;
} dots;

LD_CLONES(dot_rows)
{
    const dots *p = ctx;
    int64_t k = p->heads * p->width;
    for (int64_t r = begin; r < end; r++) {
        const float *x = p->x + r * k;
        for (int64_t e = p->s->offsets[r]; e < p->s->offsets[r + 1]; e++) {
            const float *y = p->y + p->s->columns[e] * k;
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

ld_status ld_sddmm_heads(ld_tensor *w, ld_csr *a, const ld_tensor *x, const ld_tensor *y,
                         bool accumulate)
{
    ld_status st = check(a, false, w, x, y);
    if (st != LD_OK)
        return st;
    dots p = {w->data, a->s, x->data, y->data, w->n_cols, x->n_cols / w->n_cols, accumulate};
    return ld_parallel_for(a->s->n_rows, ROW_GRAIN, dot_rows, &p);
}

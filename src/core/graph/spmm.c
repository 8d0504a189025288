/* Products of a sparse matrix and a dense one. A row of the result is the weighted sum of rows of x,
 * taken 64 columns at a time so that the sums stay in vector registers while the entries of the row
 * go by. Rows are independent: the order of summation is that of the entries. */
#include <inttypes.h>

#include "base/memory.h"
#include "base/simd.h"
#include "base/threads.h"
#include "graph/csr.h"

enum { TILE = 64, ROW_GRAIN = 64 };

typedef struct {
    float *y;
    const float *x;
    int64_t k; /* columns of x and y */
    const ld_structure *s;
    const float *values; /* or NULL; entry e's value is values[source ? source[e] : e] */
    const int32_t *source;
    const float *row_scale, *col_scale; /* or NULL */
    bool accumulate;
} spmm;

static inline float entry_weight(const spmm *p, int64_t e)
{
    float v = p->values ? p->values[p->source ? p->source[e] : e] : 1.0f;
    return p->col_scale ? v * p->col_scale[p->s->columns[e]] : v;
}

static inline __attribute__((always_inline)) void tile(const spmm *p, int64_t r, int64_t first,
                                                       int64_t width)
{
    const ld_structure *s = p->s;
    float sum[TILE] = {0};
    for (int64_t e = s->offsets[r]; e < s->offsets[r + 1]; e++) {
        float v = entry_weight(p, e);
        const float *x = p->x + s->columns[e] * p->k + first;
        for (int64_t j = 0; j < width; j++)
            sum[j] += v * x[j];
    }
    float scale = p->row_scale ? p->row_scale[r] : 1.0f;
    float *y = p->y + r * p->k + first;
    for (int64_t j = 0; j < width; j++)
        y[j] = p->accumulate ? y[j] + scale * sum[j] : scale * sum[j];
}

LD_CLONES static void spmm_rows(void *ctx, int64_t begin, int64_t end)
{
    const spmm *p = ctx;
    for (int64_t r = begin; r < end; r++) {
        int64_t first = 0;
        for (; first + TILE <= p->k; first += TILE)
            tile(p, r, first, TILE);
        if (first < p->k)
            tile(p, r, first, p->k - first);
    }
}

static ld_status check(const ld_tensor *y, int64_t n_rows, int64_t n_cols, const ld_tensor *x,
                       const char *transposed)
{
    if (x->n_rows != n_cols || y->n_rows != n_rows || y->n_cols != x->n_cols)
        return ld_fail(LD_SHAPE, "matmul: sparse (%" PRId64 " x %" PRId64 ")%s * (%s)",
                       *transposed ? n_cols : n_rows, *transposed ? n_rows : n_cols, transposed,
                       ld_tensor_shape(x));
    return LD_OK;
}

static const float *data_of(const ld_tensor *t)
{
    return t ? t->data : NULL;
}

ld_status ld_spmm(ld_tensor *y, const ld_csr *a, const ld_tensor *x, bool accumulate)
{
    ld_status st = check(y, a->s->n_rows, a->s->n_cols, x, "");
    if (st != LD_OK)
        return st;
    spmm p = {y->data,
              x->data,
              x->n_cols,
              a->s,
              data_of(a->values),
              NULL,
              data_of(a->row_scale),
              data_of(a->col_scale),
              accumulate};
    return ld_parallel_for(a->s->n_rows, ROW_GRAIN, spmm_rows, &p);
}

ld_status ld_spmm_t(ld_tensor *y, const ld_csr *a, const ld_tensor *x, bool accumulate)
{
    ld_structure *t = a->s;
    ld_status st = check(y, a->s->n_cols, a->s->n_rows, x, "^T");
    if (st == LD_OK && (!t->symmetric || a->values))
        st = ld_structure_transpose(&t, a->s);
    if (st != LD_OK)
        return st;
    spmm p = {y->data,
              x->data,
              x->n_cols,
              t,
              data_of(a->values),
              t->source,
              data_of(a->col_scale),
              data_of(a->row_scale),
              accumulate};
    return ld_parallel_for(t->n_rows, ROW_GRAIN, spmm_rows, &p);
}

typedef struct {
    float *out;
    const ld_structure *s;
    const float *x, *y;
    int64_t k;
} sddmm;

LD_CLONES static void sddmm_rows(void *ctx, int64_t begin, int64_t end)
{
    const sddmm *p = ctx;
    const ld_structure *s = p->s;
    for (int64_t r = begin; r < end; r++) {
        const float *x = p->x + r * p->k;
        for (int64_t e = s->offsets[r]; e < s->offsets[r + 1]; e++) {
            const float *y = p->y + s->columns[e] * p->k;
            double dot = 0;
            for (int64_t j = 0; j < p->k; j++)
                dot += (double)x[j] * y[j];
            p->out[e] = (float)dot;
        }
    }
}

ld_status ld_sddmm(ld_tensor *out, const ld_csr *a, const ld_tensor *x, const ld_tensor *y)
{
    if (x->n_rows != a->s->n_rows || y->n_rows != a->s->n_cols || x->n_cols != y->n_cols)
        return ld_fail(LD_SHAPE, "dot_edges: %s and %s on a %" PRId64 " x %" PRId64 " matrix",
                       ld_tensor_shape(x), ld_tensor_shape(y), a->s->n_rows, a->s->n_cols);
    sddmm p = {out->data, a->s, x->data, y->data, x->n_cols};
    return ld_parallel_for(a->s->n_rows, ROW_GRAIN, sddmm_rows, &p);
}

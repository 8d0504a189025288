/* Products of a sparse matrix and a dense one. A row of the result is the weighted sum of rows of x,
 * taken up to 128 columns at a time so that the sums stay in vector registers while the entries of the
 * row go by. Rows are independent: the order of summation is that of the entries.
 *
 * The rows of x come in no order that a processor could foresee, so where x does not fit the cache of
 * a core they are asked for some entries ahead; where it fits, asking costs more than it brings. */
#include <inttypes.h>

#include "base/memory.h"
#include "base/simd.h"
#include "base/threads.h"
#include "graph/spmm.h"
#include "tensor/share.h"

enum {
    TILE = 128,
    ROW_GRAIN = 64,
    ENTRY_GRAIN = 1 << 14,
    AHEAD = 8,     /* entries */
    LINE = 16,     /* floats of a cache line */
    NEAR = 1 << 18 /* floats of x that are near enough */
};

/* Asks for what entry e wants of x. */
static inline void prefetch(const ld_spmm_job *p, int64_t e, int64_t first, int64_t width)
{
    int64_t last = p->a.offsets[p->a.n_rows] - 1;
    const float *x = p->x + p->meets[e < last ? e : last] * p->k + first;
    for (int64_t j = 0; j < width; j += LINE)
        __builtin_prefetch(x + j);
}

static inline __attribute__((always_inline)) void tile(const ld_spmm_job *p, int64_t r,
                                                       int64_t first, int64_t width, bool far)
{
    const ld_factors *a = &p->a;
    const int32_t *meets = p->meets;
    float sum[TILE] = {0};
    for (int64_t e = a->offsets[r]; e < a->offsets[r + 1]; e++) {
        float v = ld_spmm_weight(a, e);
        const float *x = p->x + meets[e] * p->k + first;
        if (far)
            prefetch(p, e + AHEAD, first, width);
        LD_ONE_BY_ONE(e);
        for (int64_t j = 0; j < width; j++)
            sum[j] += v * x[j];
    }
    float scale = a->row_scale ? a->row_scale[r] : 1.0f;
    float *y = p->y + r * p->k + first;
    if (p->accumulate)
        for (int64_t j = 0; j < width; j++)
            y[j] += scale * sum[j];
    else
        for (int64_t j = 0; j < width; j++)
            y[j] = scale * sum[j];
}

static inline __attribute__((always_inline)) void row(const ld_spmm_job *p, int64_t r, bool far)
{
    int64_t first = 0, rest = p->k % TILE;
    for (; first + TILE <= p->k; first += TILE)
        tile(p, r, first, TILE, far);
    if (rest & 64)
        tile(p, r, first, 64, far);
    first += rest & 64;
    if (rest & 32)
        tile(p, r, first, 32, far);
    first += rest & 32;
    if (rest & 16)
        tile(p, r, first, 16, far);
    first += rest & 16;
    if (rest & 8)
        tile(p, r, first, 8, far);
    first += rest & 8;
    if (rest & 4)
        tile(p, r, first, 4, far);
    first += rest & 4;
    for (; first < p->k; first++)
        tile(p, r, first, 1, far);
}

static inline __attribute__((always_inline)) void add_to_rows(const ld_spmm_job *p, int64_t begin,
                                                              int64_t end)
{
    for (int64_t r = begin; r < end; r++)
        for (int64_t j = 0; j < p->k; j++)
            p->y[r * p->k + j] += p->bias[j];
}

LD_CLONES(add_bias)
{
    add_to_rows(ctx, begin, end);
}

LD_CLONES(spmm_rows)
{
    const ld_spmm_job *p = ctx;
    if (p->a.n_cols * p->k > NEAR)
        for (int64_t r = begin; r < end; r++)
            row(p, r, true);
    else
        for (int64_t r = begin; r < end; r++)
            row(p, r, false);
    if (p->bias)
        add_to_rows(p, begin, end);
}

ld_status ld_spmm_by_rows(const ld_spmm_job *p)
{
    return ld_parallel_for(p->a.n_rows, ROW_GRAIN, spmm_rows, (void *)p);
}

/* Rows begin .. end-1 of a product. */
static ld_status make_rows(void *ctx, int64_t begin, int64_t end)
{
    ld_spmm_job p = ld_spmm_rows_of(ctx, begin, end - begin), rest;
    int64_t made = 0;
    ld_status st = LD_OK;
    if (ld_spmm_needs_windows(&p)) {
        LD_TRY(ld_spmm_by_windows(&p));
        made = p.a.n_rows;
    } else if (ld_spmm_blocks_pay(&p)) {
        LD_TRY(ld_spmm_by_blocks(&p, &made));
    }
    if (p.bias)
        LD_TRY(ld_parallel_for(made, ROW_GRAIN, add_bias, &p));
    rest = ld_spmm_rows_of(&p, made, p.a.n_rows - made);
    st = ld_spmm_by_rows(&rest);
done:
    return st;
}

typedef struct {
    int32_t *meets;
    const int32_t *columns, *rows;
} meeting;

static void set_meets(void *ctx, int64_t begin, int64_t end)
{
    meeting *p = ctx;
    for (int64_t e = begin; e < end; e++)
        p->meets[e] = p->rows[p->columns[e]];
}

/* For each of n entries the row of x that is its column's. */
static ld_status find_meets(int32_t **out, const int32_t *columns, int64_t n, const ld_index *rows)
{
    meeting p = {ld_alloc_array(n + 1, sizeof *p.meets, LD_MEM_SCRATCH), columns, rows->data};
    *out = p.meets;
    return p.meets ? ld_parallel_for(n, ENTRY_GRAIN, set_meets, &p) : LD_NOMEM;
}

static ld_status multiply(ld_tensor *y, const ld_csr *a, bool transpose, const ld_tensor *x,
                          const ld_index *rows, bool accumulate, const ld_tensor *bias)
{
    ld_spmm_job p = {.y = y->data,
                     .x = x->data,
                     .k = x->n_cols,
                     .accumulate = accumulate,
                     .bias = bias ? bias->data : NULL};
    int32_t *meets = NULL;
    int64_t n_rows = transpose ? a->s->n_cols : a->s->n_rows;
    int64_t n_cols = transpose ? a->s->n_rows : a->s->n_cols;
    if ((rows ? rows->size : x->n_rows) != n_cols || y->n_rows != n_rows || y->n_cols != x->n_cols)
        return ld_fail(LD_SHAPE, "matmul: sparse (%" PRId64 " x %" PRId64 ")%s * (%s)",
                       a->s->n_rows, a->s->n_cols, transpose ? "^T" : "", ld_tensor_shape(x));
    bool by_columns = transpose && !x->storage->room && ld_spmm_columns_pay(a->s);
    ld_status st;
    LD_TRY(ld_factors_of(&p.a, a, transpose && !by_columns));
    if (by_columns) {
        st = ld_spmm_by_columns(&p);
        goto done;
    }
    if (rows)
        LD_TRY(find_meets(&meets, p.a.columns, a->s->nnz, rows));
    p.meets = rows ? meets : p.a.columns;
    p.file = x->storage->room && !rows ? x->storage->mapping : NULL;
    if (p.file)
        p.near_rows = ld_room_near(x->storage->room) / (int64_t)sizeof(float) / (p.k + 1) + 1;
    int64_t per_row = n_rows ? p.a.offsets[n_rows] / n_rows : 0;
    st = ld_share_rows(y, per_row, 1, p.a.offsets, make_rows, &p);
done:
    ld_free(meets);
    return st;
}

ld_status ld_spmm(ld_tensor *y, const ld_csr *a, const ld_tensor *x, bool accumulate)
{
    return multiply(y, a, false, x, NULL, accumulate, NULL);
}

ld_status ld_spmm_bias(ld_tensor *y, const ld_csr *a, const ld_tensor *x, const ld_index *rows,
                       const ld_tensor *bias)
{
    return multiply(y, a, false, x, rows, false, bias);
}

ld_status ld_spmm_t(ld_tensor *y, const ld_csr *a, const ld_tensor *x, bool accumulate)
{
    return multiply(y, a, true, x, NULL, accumulate, NULL);
}

typedef struct {
    float *out;
    const ld_structure *s;
    const float *x, *y;
    int64_t k;
} sddmm;

LD_CLONES(sddmm_rows)
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

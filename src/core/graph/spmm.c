/* Chooses how the product of a matrix with a dense one is computed, among the ways of
 * kernel/spmm.h. All ways to a * x give the same bits, so the choice goes by what is fastest.
 * Measured in turns, in one thread of a Zen 5:
 *
 *  way         where                                  why
 *  by rows     everywhere else                        reads each entry once
 *  by blocks   x has 131,072 rows or more and 32      rows of x come from the cache of a core, not
 *              columns or more, and a row 4 entries   from memory: with 4 entries in a block 1.0 to
 *              or more in each block                  2.8 times as fast, with 16 of them 1.5 to 4.7
 *  by windows  x is in a temporary file that memory   x is read from the disk in order, not row by
 *              does not hold                          row
 *  by columns  a^T * x, and a has at most 2,048       the transpose need not be made, which is what
 *              columns, of 32 entries or more         counts for a block that is used once, and sums
 *                                                     stay in the cache: 0.74 to 2 times as fast as
 *                                                     by rows of a transpose that is there already */
#include <inttypes.h>

#include "graph/csr.h"
#include "kernel/spmm.h"
#include "memory/memory.h"
#include "system/threads.h"
#include "tensor/shared_product.h"

enum {
    BLOCK_COLUMNS = 32,
    SHIFT = 13, /* a block has 2^SHIFT rows of x, */
    SPARSE_SHIFT = 14,
    DENSE = 8,         /* or twice as many where a row has fewer entries in it, */
    LEAST_ENTRIES = 4, /* but not fewer than this */
    LEAST_BLOCKS = 16,
    MOST_COLUMNS = 1 << 11, /* of a matrix whose transpose is not made, */
    LEAST_COLUMN = 32,      /* with so many entries in each */
    WINDOW_SHARE = 6,       /* a window of x has so many times fewer rows than a panel of y, */
    LEAST_WINDOW = 1 << 14, /* but not fewer numbers than this */
    ENTRY_GRAIN = 1 << 14
};

/* Gives the places of the entries of s or, with `transpose`, of its transpose, which is made and
 * kept in s when it is not there. They are valid as long as s is. */
static ld_status pattern_of(ld_factors *out, ld_structure *s, bool transpose)
{
    if (transpose)
        LD_CHECK(ld_structure_transpose(&s, s));
    *out = (ld_factors){.n_rows = s->n_rows,
                        .n_cols = s->n_cols,
                        .offsets = s->offsets,
                        .columns = s->columns,
                        .source = transpose ? s->source : NULL};
    return LD_OK;
}

/* Gives the factors of a or of its transpose. The transpose of a symmetric matrix of equal values
 * has a's own pattern. */
static ld_status factors_of(ld_factors *out, const ld_csr *a, bool transpose)
{
    ld_factors own = ld_csr_factors(a);
    *out = own;
    if (!transpose)
        return LD_OK;
    if (!a->s->symmetric || a->values)
        LD_CHECK(pattern_of(out, a->s, true));
    out->values = own.values;
    out->row_scale = own.col_scale;
    out->col_scale = own.row_scale;
    return LD_OK;
}

/* --- the choice ------------------------------------------------------------------------------- */

typedef struct {
    float *y;
    ld_factors a;
    const int32_t *meets;
    const float *x, *bias;
    int64_t k;
    bool accumulate;
    const ld_mapping *file, *y_file; /* the temporary files that x and y lie in, or NULL */
    int64_t panel;                   /* with one of x: how many rows of y memory holds */
} product;

static int block_shift(const ld_factors *a)
{
    int64_t blocks = (a->n_cols >> SHIFT) + 1;
    return ld_factors_entries(a) / DENSE / blocks >= a->n_rows ? SHIFT : SPARSE_SHIFT;
}

static bool blocks_pay(const product *p, const ld_factors *a)
{
    int64_t blocks = (a->n_cols >> block_shift(a)) + 1;
    return p->meets == p->a.columns && p->k >= BLOCK_COLUMNS &&
           a->n_cols >> SHIFT >= LEAST_BLOCKS && blocks <= LD_SPMM_BLOCKS &&
           ld_factors_entries(a) / LEAST_ENTRIES / blocks >= a->n_rows;
}

static bool columns_ascend(const ld_factors *a)
{
    for (int64_t r = 0; r < a->n_rows; r++)
        for (int64_t e = a->offsets[r] + 1; e < a->offsets[r + 1]; e++)
            if (a->columns[e] < a->columns[e - 1])
                return false;
    return true;
}

static bool needs_windows(const product *p, const ld_factors *a)
{
    return p->file && !p->accumulate && a->n_cols > p->panel && columns_ascend(a);
}

static int64_t window_of(const product *p)
{
    int64_t rows = p->panel / WINDOW_SHARE, least = LEAST_WINDOW / (p->k + 1) + 1;
    return rows > least ? rows : least;
}

static bool columns_pay(const ld_structure *s)
{
    return s->n_cols <= MOST_COLUMNS && s->nnz >= s->n_cols * LEAST_COLUMN;
}

/* Computes rows begin .. end-1 of a product. */
static ld_status make_rows(void *ctx, int64_t begin, int64_t end)
{
    const product *p = ctx;
    ld_factors a = ld_factors_rows(&p->a, begin, end - begin);
    float *y = p->y + begin * p->k;
    int64_t made = 0;
    if (needs_windows(p, &a))
        return ld_spmm_by_windows(y, &a, p->x, p->k, p->bias, p->panel, window_of(p), p->file,
                                  p->y_file);
    if (blocks_pay(p, &a))
        LD_CHECK(
            ld_spmm_by_blocks(&made, y, &a, block_shift(&a), p->x, p->k, p->accumulate, p->bias));
    ld_factors rest = ld_factors_rows(&a, made, a.n_rows - made);
    return ld_spmm_by_rows(y + made * p->k, &rest, p->meets, p->x, p->k, p->accumulate, p->bias);
}

/* --- the calls -------------------------------------------------------------------------------- */

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

/* Finds for each of n entries the row of x that its column meets. */
static ld_status find_meets(int32_t **out, const int32_t *columns, int64_t n, const ld_index *rows)
{
    meeting p = {ld_alloc_array(n + 1, sizeof *p.meets, LD_MEM_SCRATCH), columns, rows->data};
    *out = p.meets;
    return p.meets ? ld_parallel_for(n, ENTRY_GRAIN, set_meets, &p) : LD_NOMEM;
}

static ld_status multiply(ld_tensor *y, const ld_csr *a, bool transpose, const ld_tensor *x,
                          const ld_index *rows, bool accumulate, const ld_tensor *bias)
{
    product p = {.y = y->data,
                 .x = x->data,
                 .bias = bias ? bias->data : NULL,
                 .k = x->n_cols,
                 .accumulate = accumulate};
    LD_FREED int32_t *meets = NULL;
    int64_t n_rows = transpose ? a->s->n_cols : a->s->n_rows;
    int64_t n_cols = transpose ? a->s->n_rows : a->s->n_cols;
    if ((rows ? rows->size : x->n_rows) != n_cols || y->n_rows != n_rows || y->n_cols != x->n_cols)
        return ld_fail(LD_SHAPE, "matmul: sparse (%" PRId64 " x %" PRId64 ")%s * (%s)",
                       a->s->n_rows, a->s->n_cols, transpose ? "^T" : "", ld_tensor_shape(x));
    bool by_columns = transpose && !x->storage->room && columns_pay(a->s);
    LD_CHECK(factors_of(&p.a, a, transpose && !by_columns));
    if (by_columns) {
        return ld_spmm_by_columns(p.y, &p.a, p.x, p.k, accumulate);
    }
    if (rows)
        LD_CHECK(find_meets(&meets, p.a.columns, a->s->nnz, rows));
    p.meets = rows ? meets : p.a.columns;
    p.file = x->storage->room && !rows ? x->storage->mapping : NULL;
    p.y_file = y->storage->room ? y->storage->mapping : NULL;
    if (p.file) /* three quarters for sums, their places, and a quarter for two windows */
        p.panel =
            ld_room_spare(x->storage->room) * 3 / 4 / ((int64_t)sizeof(float) * (p.k + 2)) + 1;
    int64_t per_row = n_rows ? p.a.offsets[n_rows] / n_rows : 0;
    return ld_share_rows(y, per_row, 1, p.a.offsets, make_rows, &p);
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

ld_status ld_spmm_window(ld_tensor *y, const ld_csr *a, const ld_tensor *x, int64_t first,
                         const ld_tensor *bias)
{
    ld_factors factors;
    if (first < 0 || first > a->s->n_cols - x->n_rows || y->n_rows != a->s->n_rows ||
        y->n_cols != x->n_cols || (bias && bias->n_rows * bias->n_cols != x->n_cols))
        return ld_fail(LD_SHAPE,
                       "add_window_: %s gets rows from %" PRId64
                       " on of a product of sparse (%" PRId64 " x %" PRId64 ") with rows of %s",
                       ld_tensor_shape(y), first + 1, a->s->n_rows, a->s->n_cols,
                       ld_tensor_shape(x));
    LD_CHECK(factors_of(&factors, a, false));
    if (first == 0 && !columns_ascend(&factors))
        return ld_fail(LD_VALUE, "add_window_: the columns of each row must ascend");
    return ld_spmm_of_window(y->data, &factors, x->data, first, x->n_rows, x->n_cols,
                             bias ? bias->data : NULL);
}

ld_status ld_spmm_t(ld_tensor *y, const ld_csr *a, const ld_tensor *x, bool accumulate)
{
    return multiply(y, a, true, x, NULL, accumulate, NULL);
}

ld_status ld_spmm_precise(ld_tensor **out, const ld_csr *a, bool transpose, const ld_tensor *x)
{
    ld_factors factors;
    LD_OWN(ld_tensor) *y = NULL;
    if (x->n_rows != (transpose ? a->s->n_rows : a->s->n_cols))
        return ld_fail(LD_SHAPE, "matmul: sparse (%" PRId64 " x %" PRId64 ")%s * (%s)",
                       a->s->n_rows, a->s->n_cols, transpose ? "^T" : "", ld_tensor_shape(x));
    LD_CHECK(factors_of(&factors, a, transpose));
    LD_CHECK(ld_tensor_new(&y, x->ndim, factors.n_rows, x->n_cols));
    LD_CHECK(ld_spmm_in_double(y->data, &factors, x->data, x->n_cols));
    *out = ld_take(&y);
    return LD_OK;
}

/* --- heads ------------------------------------------------------------------------------------ */

static ld_status check_heads(const ld_csr *a, bool transpose, const ld_tensor *w,
                             const ld_tensor *y, const ld_tensor *x)
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
    ld_factors pattern;
    LD_CHECK(check_heads(a, transpose, w, y, x));
    LD_CHECK(pattern_of(&pattern, a->s, transpose));
    return ld_spmm_of_heads(y->data, &pattern, w->data, x->data, w->n_cols, x->n_cols / w->n_cols,
                            accumulate);
}

ld_status ld_sddmm_heads(ld_tensor *w, ld_csr *a, const ld_tensor *x, const ld_tensor *y,
                         bool accumulate)
{
    ld_factors pattern;
    LD_CHECK(check_heads(a, false, w, x, y));
    LD_CHECK(pattern_of(&pattern, a->s, false));
    return ld_sddmm_of_heads(w->data, &pattern, x->data, y->data, w->n_cols, x->n_cols / w->n_cols,
                             accumulate);
}

ld_status ld_sddmm(ld_tensor *out, const ld_csr *a, const ld_tensor *x, const ld_tensor *y)
{
    ld_factors pattern;
    if (x->n_rows != a->s->n_rows || y->n_rows != a->s->n_cols || x->n_cols != y->n_cols)
        return ld_fail(LD_SHAPE, "dot_edges: %s and %s on a %" PRId64 " x %" PRId64 " matrix",
                       ld_tensor_shape(x), ld_tensor_shape(y), a->s->n_rows, a->s->n_cols);
    LD_CHECK(pattern_of(&pattern, a->s, false));
    return ld_sddmm_of_heads(out->data, &pattern, x->data, y->data, 1, x->n_cols, false);
}

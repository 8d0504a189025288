#include "tensor/blas.h"

#include <cblas.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/platform.h"
#include "base/simd.h"
#include "base/threads.h"
#include "tensor/bfloat16.h"
#include "tensor/share.h"

/* A product is made in tiles of nearly equal size, side by side: a call multiplies the faster the more
 * it has, since it packs less for each multiplication, and threads share what is in several. Tall
 * products have tiles enough to be larger. A gradient of weights has few elements and long sums: its
 * tiles are the largest, and instead the sums are made in pieces, side by side, and added in order. */
enum {
    TILE_ROWS = 192,
    TILE_COLS = 128,
    TALL = 8 * TILE_ROWS,
    TALL_TILE_ROWS = 512,
    WEIGHTS_TILE_ROWS = 608,
    PIECE = 384, /* terms of a sum, at least */
    MOST_PIECES = 16,
    ADD_GRAIN = 8, /* rows */
    LINE = 16      /* floats of a cache line */
};

typedef struct {
    float *c;
    const float *a, *b;
    bool ta, tb;
    int64_t m, n, k, lda, ldb, tile_rows, tile_cols;
    int64_t first_row,
        down; /* of the tiles that are made: their first row, and how many are below it */
    float beta;
    float *last_a, *last_c; /* the last rows of a and c, with others behind them, or NULL */
    int64_t pieces, piece;  /* of the sums, and the terms of one */
    float *sums;            /* of the pieces behind the first, each as large as c */
} product;

static _Thread_local bool by_rows, in_bfloat16;

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t quotient(int64_t a, int64_t b) /* rounded up */
{
    return (a + b - 1) / b;
}

/* The length of equal parts of `size`, each of at most `most` and of whole lines. */
static int64_t part(int64_t size, int64_t most)
{
    return quotient(quotient(size, quotient(size, most)), LINE) * LINE;
}

static void tile(void *ctx, int64_t begin, int64_t end)
{
    const product *p = ctx;
    int64_t across = quotient(p->n, p->tile_cols);
    for (int64_t i = begin; i < end; i++) {
        int64_t row = p->first_row + i % p->down * p->tile_rows;
        int64_t col = i / p->down % across * p->tile_cols;
        int64_t piece = i / p->down / across, term = piece * p->piece;
        bool last = p->last_a && p->m - row < p->tile_rows;
        const float *a = last ? p->last_a : p->a + (p->ta ? term * p->lda + row : row * p->lda);
        float *c = piece ? p->sums + (piece - 1) * p->m * p->n : p->c;
        c = (last ? p->last_c : c + row * p->n) + col;
        cblas_sgemm(CblasRowMajor, p->ta ? CblasTrans : CblasNoTrans,
                    p->tb ? CblasTrans : CblasNoTrans,
                    (int)(last ? p->tile_rows : smaller(p->tile_rows, p->m - row)),
                    (int)smaller(p->tile_cols, p->n - col), (int)smaller(p->piece, p->k - term),
                    1.0f, a, (int)p->lda, p->b + (p->tb ? col * p->ldb : term * p->ldb + col),
                    (int)p->ldb, piece ? 0.0f : p->beta, c, (int)p->n);
    }
}

LD_CLONES(add_pieces)
{
    const product *p = ctx;
    int64_t first = (p->first_row + begin) * p->n, n = (end - begin) * p->n;
    for (int64_t piece = 1; piece < p->pieces; piece++) {
        float *c = p->c + first, *more = p->sums + (piece - 1) * p->m * p->n + first;
        for (int64_t i = 0; i < n; i++)
            c[i] += more[i];
    }
}

/* The rows of whole tiles. */
static ld_status tiles(void *ctx, int64_t begin, int64_t end)
{
    product *p = ctx;
    p->first_row = begin;
    p->down = quotient(end - begin, p->tile_rows);
    int64_t n = p->pieces * p->down * quotient(p->n, p->tile_cols);
    ld_status st = ld_parallel_for(n, 1, tile, p);
    if (st == LD_OK && p->pieces > 1)
        st = ld_parallel_for(end - begin, ADD_GRAIN, add_pieces, p);
    return st;
}

/* The same where the last tile is as high as the others, with rows of zeros: BLAS has other sums for
 * the last rows of a tile, by how many these are, and for tiles of other heights. */
static ld_status equal_tiles(void *ctx, int64_t begin, int64_t end)
{
    product *p = ctx;
    int64_t last = end % TILE_ROWS, row = end - last;
    size_t a_bytes = (size_t)(last * p->k) * sizeof *p->a;
    size_t c_bytes = (size_t)(last * p->n) * sizeof *p->c;
    ld_status st = LD_NOMEM;
    if (last == 0)
        return tiles(p, begin, end);
    p->last_a = ld_calloc_array(TILE_ROWS * p->k, sizeof *p->last_a, LD_MEM_SCRATCH);
    p->last_c = ld_calloc_array(TILE_ROWS * p->n, sizeof *p->last_c, LD_MEM_SCRATCH);
    if (!p->last_a || !p->last_c)
        goto done;
    memcpy(p->last_a, p->a + row * p->k, a_bytes);
    memcpy(p->last_c, p->c + row * p->n, c_bytes);
    LD_TRY(tiles(p, begin, end));
    memcpy(p->c + row * p->n, p->last_c, c_bytes);
done:
    ld_free(p->last_a);
    ld_free(p->last_c);
    return st;
}

bool ld_matmul_by_rows(bool on)
{
    bool before = by_rows;
    by_rows = on;
    return before;
}

bool ld_matmul_in_bfloat16(bool on)
{
    bool before = in_bfloat16;
    in_bfloat16 = on;
    return before;
}

static ld_status bfloat16_rows(void *ctx, int64_t begin, int64_t end)
{
    const product *p = ctx;
    const ld_bfloat16_product narrow = {
        .c = p->c,
        .a = p->a,
        .b = p->b,
        .ta = p->ta,
        .tb = p->tb,
        .m = p->m,
        .n = p->n,
        .k = p->k,
        .lda = p->lda,
        .ldb = p->ldb,
        .accumulate = p->beta != 0.0f,
    };
    return ld_bfloat16_rows(&narrow, begin, end);
}

/* A gradient of weights, A^T * B with sums long enough for pieces. */
static ld_status multiply_in_pieces(ld_tensor *c, product *p)
{
    p->tile_rows = part(p->m, WEIGHTS_TILE_ROWS);
    p->tile_cols = part(p->n, 2 * TILE_COLS);
    int64_t n = quotient(p->m, p->tile_rows) * quotient(p->n, p->tile_cols);
    for (p->pieces = 1; 2 * p->pieces * n <= MOST_PIECES && p->k / p->pieces >= 2 * PIECE;)
        p->pieces *= 2;
    p->piece = quotient(p->k, p->pieces);
    p->sums = ld_alloc_array((p->pieces - 1) * p->m * p->n, sizeof *p->sums, LD_MEM_SCRATCH);
    if (!p->sums)
        return LD_NOMEM;
    ld_status st = ld_share_rows(c, p->k, p->tile_rows, NULL, tiles, p);
    ld_free(p->sums);
    return st;
}

/* Tiles and pieces depend on the shape alone, and so do the bits. */
static ld_status multiply(ld_tensor *c, product *p)
{
    if (in_bfloat16)
        return ld_share_rows(c, p->k, TILE_ROWS, NULL, bfloat16_rows, p);
    if (p->ta && !p->tb && p->k >= 2 * PIECE)
        return multiply_in_pieces(c, p);
    p->pieces = 1;
    p->piece = p->k;
    if (by_rows && !p->ta) {
        p->tile_rows = TILE_ROWS;
        p->tile_cols = part(p->n, 2 * TILE_COLS);
        return ld_share_rows(c, p->k, p->tile_rows, NULL, equal_tiles, p);
    }
    int64_t most = p->m > 8 * TALL_TILE_ROWS ? TALL_TILE_ROWS : TILE_ROWS;
    p->tile_rows = part(p->m, p->n > TILE_COLS ? most : TILE_COLS);
    p->tile_cols = part(p->n, p->m > TALL ? 2 * TILE_COLS : TILE_COLS);
    return ld_share_rows(c, p->k, p->tile_rows, NULL, tiles, p);
}

/* OpenBLAS maps a buffer for every thread that multiplies at the same time, and where the system
 * has no room for it (ulimit -v) it asks again for ever. So whether there is room is tried out before
 * the first product, and again for more threads. */
static ld_status check_room(void)
{
    static const int64_t BUFFER = 128 << 20;
    static atomic_int checked; /* threads that there was room for */
    enum { MOST = 256 };
    int n = ld_threads(), got = 0;
    void *buffers[MOST];
    if (n <= atomic_load_explicit(&checked, memory_order_relaxed))
        return LD_OK;
    for (; got < n && got < MOST; got++)
        if (!(buffers[got] = ld_platform_map(BUFFER)))
            break;
    for (int i = 0; i < got; i++)
        ld_platform_unmap(buffers[i], BUFFER);
    if (got < n)
        return ld_fail(LD_NOMEM,
                       "matmul: OpenBLAS wants %d MiB of address space for each of %d threads, and "
                       "there is room for %d: fewer threads or a higher ulimit -v help",
                       (int)(BUFFER >> 20), n, got);
    atomic_store_explicit(&checked, n, memory_order_relaxed);
    return LD_OK;
}

/* op(a) * op(b) is m x n, with sums of k products. */
typedef struct {
    int64_t m, n, k;
} shape;

static ld_status shape_of(shape *s, const ld_tensor *a, bool ta, const ld_tensor *b, bool tb)
{
    *s = (shape){.m = ta ? a->n_cols : a->n_rows,
                 .n = tb ? b->n_rows : b->n_cols,
                 .k = ta ? a->n_rows : a->n_cols};
    if (s->k != (tb ? b->n_cols : b->n_rows))
        return ld_fail(LD_SHAPE, "matmul: (%s)%s * (%s)%s", ld_tensor_shape(a), ta ? "^T" : "",
                       ld_tensor_shape(b), tb ? "^T" : "");
    if (ld_in_worker())
        return ld_fail(LD_STATE, "matmul: a worker has no dense products; run it in step");
    return LD_OK;
}

ld_status ld_matmul(ld_tensor *c, const ld_tensor *a, bool ta, const ld_tensor *b, bool tb,
                    bool accumulate)
{
    shape s;
    ld_status st = shape_of(&s, a, ta, b, tb);
    if (st != LD_OK)
        return st;
    if (c->n_rows != s.m || c->n_cols != s.n)
        return ld_fail(LD_SHAPE, "matmul: the result is %s, %" PRId64 " x %" PRId64 " expected",
                       ld_tensor_shape(c), s.m, s.n);
    if (s.m == 0 || s.n == 0)
        return LD_OK;
    if (s.k == 0) { /* BLAS demands positive leading dimensions */
        if (!accumulate)
            memset(c->data, 0, (size_t)ld_tensor_size(c) * sizeof(float));
        return LD_OK;
    }
    product p = {.c = c->data,
                 .a = a->data,
                 .b = b->data,
                 .ta = ta,
                 .tb = tb,
                 .m = s.m,
                 .n = s.n,
                 .k = s.k,
                 .lda = a->n_cols,
                 .ldb = b->n_cols,
                 .beta = accumulate ? 1.0f : 0.0f};
    st = check_room();
    return st == LD_OK ? multiply(c, &p) : st;
}

/* --- with one rounding -------------------------------------------------------------------------- */

/* Rows of c by sums of products that are made at once, in double. */
enum { PANEL = 128, BLOCK_ROWS = 8 * PANEL, BLOCK_SUMS = 1024 };

/* A block of a tensor, and its elements in double, row by row without gaps. */
typedef struct {
    double *wide;
    float *narrow;
    int64_t n_rows, n_cols, stride; /* stride: the tensor's columns */
} block;

/* `n_rows` by `n_cols` elements from (row, col) on; the other way round when the tensor is transposed. */
static void place(block *x, const ld_tensor *t, bool transposed, int64_t row, int64_t n_rows,
                  int64_t col, int64_t n_cols)
{
    x->stride = t->n_cols;
    x->n_rows = transposed ? n_cols : n_rows;
    x->n_cols = transposed ? n_rows : n_cols;
    x->narrow = t->data + (transposed ? col * t->n_cols + row : row * t->n_cols + col);
}

LD_CLONES(widen_rows)
{
    const block *x = ctx;
    for (int64_t r = begin; r < end; r++)
        for (int64_t j = 0; j < x->n_cols; j++)
            x->wide[r * x->n_cols + j] = x->narrow[r * x->stride + j];
}

LD_CLONES(round_rows)
{
    const block *x = ctx;
    for (int64_t r = begin; r < end; r++)
        for (int64_t j = 0; j < x->n_cols; j++)
            x->narrow[r * x->stride + j] = (float)x->wide[r * x->n_cols + j];
}

typedef struct {
    block a, b, c;
    bool ta, tb;
    int64_t k;
    double beta;
} wide_product;

static void wide_panel(void *ctx, int64_t begin, int64_t end)
{
    const wide_product *p = ctx;
    const double *a = p->a.wide + (p->ta ? begin : begin * p->a.n_cols);
    cblas_dgemm(CblasRowMajor, p->ta ? CblasTrans : CblasNoTrans, p->tb ? CblasTrans : CblasNoTrans,
                (int)(end - begin), (int)p->c.n_cols, (int)p->k, 1.0, a, (int)p->a.n_cols,
                p->b.wide, (int)p->b.n_cols, p->beta, p->c.wide + begin * p->c.n_cols,
                (int)p->c.n_cols);
}

/* The rows of c from `row` on that p->c holds. */
static ld_status wide_rows(wide_product *p, const shape *s, const ld_tensor *a, const ld_tensor *b,
                           int64_t row)
{
    ld_status st = LD_OK;
    for (int64_t from = 0; from < s->k; from += BLOCK_SUMS) {
        p->k = smaller(BLOCK_SUMS, s->k - from);
        p->beta = from == 0 ? 0.0 : 1.0;
        place(&p->a, a, p->ta, row, p->c.n_rows, from, p->k);
        place(&p->b, b, p->tb, from, p->k, 0, s->n);
        LD_TRY(ld_parallel_for(p->a.n_rows, PANEL, widen_rows, &p->a));
        LD_TRY(ld_parallel_for(p->b.n_rows, PANEL, widen_rows, &p->b));
        LD_TRY(ld_parallel_for(p->c.n_rows, PANEL, wide_panel, p));
    }
    st = ld_parallel_for(p->c.n_rows, PANEL, round_rows, &p->c);
done:
    return st;
}

ld_status ld_matmul_precise(ld_tensor **out, const ld_tensor *a, bool ta, const ld_tensor *b,
                            bool tb)
{
    shape s;
    wide_product p = {.ta = ta, .tb = tb};
    ld_tensor *c = NULL;
    ld_status st = shape_of(&s, a, ta, b, tb);
    if (st != LD_OK)
        return st;
    if (s.m == 0 || s.n == 0 || s.k == 0)
        return ld_tensor_full(out, 2, s.m, s.n, 0.0f);
    int64_t rows = smaller(BLOCK_ROWS, s.m), sums = smaller(BLOCK_SUMS, s.k);
    LD_TRY(check_room());
    LD_TRY(ld_tensor_new(&c, 2, s.m, s.n));
    p.a.wide = ld_alloc_array(rows * sums, sizeof(double), LD_MEM_SCRATCH);
    p.b.wide = ld_alloc_array(sums * s.n, sizeof(double), LD_MEM_SCRATCH);
    p.c.wide = ld_alloc_array(rows * s.n, sizeof(double), LD_MEM_SCRATCH);
    st = p.a.wide && p.b.wide && p.c.wide ? LD_OK : LD_NOMEM;
    for (int64_t row = 0; st == LD_OK && row < s.m; row += rows) {
        place(&p.c, c, false, row, smaller(rows, s.m - row), 0, s.n);
        st = wide_rows(&p, &s, a, b, row);
    }
    if (st == LD_OK) {
        *out = c;
        c = NULL;
    }
done:
    ld_free(p.a.wide);
    ld_free(p.b.wide);
    ld_free(p.c.wide);
    ld_tensor_unref(c);
    return st;
}

void ld_blas_name(char *text, size_t size)
{
    const char *config = openblas_get_config(); /* "OpenBLAS 0.3.21 NO_LAPACKE ..." */
    size_t name = strcspn(config, " ");
    size_t version = config[name] ? strcspn(config + name + 1, " ") + 1 : 0;
    snprintf(text, size, "%.*s %s", (int)(name + version), config, openblas_get_corename());
}

#include "kernel/gemm.h"

#include <cblas.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "kernel/bfloat16.h"
#include "memory/memory.h"
#include "system/platform.h"
#include "system/simd.h"
#include "system/threads.h"

/* The sizes by which the way of a product is chosen. A call of BLAS is the faster the more it
 * multiplies, since it packs less for each multiplication; but threads share only the tiles. So a
 * product has a multiple of SHARES tiles where its rows are enough for that: sixteen threads then
 * have the same work, and calls of 64 rows or columns take at most 8 % longer than the largest. A
 * gradient of weights has few elements and long sums: these are made in pieces, side by side, where
 * each has terms enough to hide that they are added. */
enum {
    SHARES = 16,
    TILE_ROWS = 192,
    TILE_COLS = 128,
    LEAST = 64, /* rows or columns of a tile, where there are as many */
    TALL = 8 * TILE_ROWS,
    TALL_TILE_ROWS = 512,
    WEIGHTS_TILE_ROWS = 256,
    PIECE = 128,   /* terms of a sum, at least */
    ADD_GRAIN = 8, /* rows */
    LINE = 16      /* floats of a cache line */
};

/* A product in progress: the rows of c that are made, and how they are divided. */
typedef struct {
    const ld_product *p;
    const ld_gemm_way *way;
    int64_t first_row, down; /* the tiles' first row; how many tiles lie below each other */
    float *last_a, *last_c;  /* the last rows of a and c, with others behind them, or NULL */
    float *sums;             /* for the pieces behind the first, each as large as c */
} making;

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t quotient(int64_t a, int64_t b) /* rounded up */
{
    return (a + b - 1) / b;
}

/* Returns the length of equal parts of `size`, each of at most `most` and of whole cache lines. */
static int64_t part(int64_t size, int64_t most)
{
    return quotient(quotient(size, quotient(size, most)), LINE) * LINE;
}

/* Returns how many tiles of the way's size c has. */
static int64_t tiles_of(const ld_product *p, const ld_gemm_way *way)
{
    return quotient(p->m, way->tile_rows) * quotient(p->n, way->tile_cols);
}

/* Narrows the tiles while they, and their pieces, are too few for all to have one. */
static void narrow(ld_gemm_way *way, const ld_product *p)
{
    while (way->pieces * tiles_of(p, way) < SHARES && way->tile_cols >= 2 * LEAST)
        way->tile_cols = part(p->n, way->tile_cols / 2);
}

/* Chooses tiles of at most `most` rows, so many that all have as many of them, for any product whose
 * sums are short. */
static void divide(ld_gemm_way *way, const ld_product *p, int64_t most)
{
    way->tile_cols = part(p->n, p->m > TALL ? 2 * TILE_COLS : TILE_COLS);
    int64_t turns = quotient(SHARES, quotient(p->n, way->tile_cols));
    int64_t rows = part(p->m, quotient(p->m, turns * quotient(p->m, turns * most)));
    way->tile_rows = rows < LEAST ? part(p->m, LEAST) : rows;
    narrow(way, p);
}

/* Chooses pieces of long sums in tiles that are as large as their cache allows. */
static void divide_sums(ld_gemm_way *way, const ld_product *p)
{
    way->kind = LD_GEMM_PIECES;
    way->tile_rows = part(p->m, WEIGHTS_TILE_ROWS);
    way->tile_cols = part(p->n, TILE_COLS);
    while (way->pieces * tiles_of(p, way) < SHARES && p->k / way->pieces >= 2 * PIECE)
        way->pieces *= 2;
    way->piece = quotient(p->k, way->pieces);
    narrow(way, p);
}

ld_gemm_way ld_gemm_choose(const ld_product *p, bool by_rows, bool in_bfloat16)
{
    ld_gemm_way way = {.kind = LD_GEMM_TILES, .pieces = 1, .piece = p->k};
    if (p->m == 0 || p->n == 0 || p->k == 0) {
        way.tile_rows = TILE_ROWS;
        way.tile_cols = TILE_COLS;
    } else if (in_bfloat16) {
        way.kind = LD_GEMM_BFLOAT16;
        way.tile_rows = TILE_ROWS;
    } else if (p->ta && !p->tb && p->k >= 2 * PIECE) {
        divide_sums(&way, p);
    } else if (by_rows && !p->ta) {
        way.kind = LD_GEMM_EQUAL_TILES;
        way.tile_rows = TILE_ROWS;
        way.tile_cols = part(p->n, 2 * TILE_COLS);
    } else {
        divide(&way, p, p->m > 8 * TALL_TILE_ROWS ? TALL_TILE_ROWS : TILE_ROWS);
    }
    return way;
}

/* --- in tiles --------------------------------------------------------------------------------- */

/* Puts the bias in rows of c, in so many columns from `col` on. */
static void begin_rows(const ld_product *p, float *c, int64_t n_rows, int64_t col, int64_t n_cols)
{
    for (int64_t r = 0; r < n_rows; r++)
        memcpy(c + r * p->n, p->bias + col, (size_t)n_cols * sizeof *c);
}

static void tile(void *ctx, int64_t begin, int64_t end)
{
    const making *t = ctx;
    const ld_product *p = t->p;
    const ld_gemm_way *way = t->way;
    int64_t across = quotient(p->n, way->tile_cols);
    for (int64_t i = begin; i < end; i++) {
        int64_t row = t->first_row + i % t->down * way->tile_rows;
        int64_t col = i / t->down % across * way->tile_cols;
        int64_t piece = i / t->down / across, term = piece * way->piece;
        bool last = t->last_a && p->m - row < way->tile_rows;
        const float *a = last ? t->last_a : p->a + (p->ta ? term * p->lda + row : row * p->lda);
        float *c = piece ? t->sums + (piece - 1) * p->m * p->n : p->c;
        c = (last ? t->last_c : c + row * p->n) + col;
        int64_t n_rows = last ? way->tile_rows : smaller(way->tile_rows, p->m - row);
        int64_t n_cols = smaller(way->tile_cols, p->n - col);
        if (p->bias && !piece)
            begin_rows(p, c, n_rows, col, n_cols);
        cblas_sgemm(CblasRowMajor, p->ta ? CblasTrans : CblasNoTrans,
                    p->tb ? CblasTrans : CblasNoTrans, (int)n_rows, (int)n_cols,
                    (int)smaller(way->piece, p->k - term), 1.0f, a, (int)p->lda,
                    p->b + (p->tb ? col * p->ldb : term * p->ldb + col), (int)p->ldb,
                    piece || !(p->accumulate || p->bias) ? 0.0f : 1.0f, c, (int)p->n);
    }
}

LD_CLONES(add_pieces)
{
    const making *t = ctx;
    const ld_product *p = t->p;
    int64_t first = (t->first_row + begin) * p->n, n = (end - begin) * p->n;
    for (int64_t piece = 1; piece < t->way->pieces; piece++) {
        float *c = p->c + first, *more = t->sums + (piece - 1) * p->m * p->n + first;
        for (int64_t i = 0; i < n; i++)
            c[i] += more[i];
    }
}

/* Computes rows that are whole tiles. */
static ld_status tiles(making *t, int64_t begin, int64_t end)
{
    t->first_row = begin;
    t->down = quotient(end - begin, t->way->tile_rows);
    int64_t n = t->way->pieces * t->down * quotient(t->p->n, t->way->tile_cols);
    LD_CHECK(ld_parallel_for(n, 1, tile, t));
    return t->way->pieces > 1 ? ld_parallel_for(end - begin, ADD_GRAIN, add_pieces, t) : LD_OK;
}

static ld_status tiles_in_pieces(making *t, int64_t begin, int64_t end)
{
    t->sums =
        ld_alloc_array((t->way->pieces - 1) * t->p->m * t->p->n, sizeof *t->sums, LD_MEM_SCRATCH);
    ld_status st = t->sums ? tiles(t, begin, end) : LD_NOMEM;
    ld_free(t->sums);
    return st;
}

/* Computes rows in tiles of one height: the last tile is filled up with rows of zeros. BLAS sums
 * the last rows of a tile in another order, by how many these are, and tiles of other heights,
 * too. */
static ld_status equal_tiles(making *t, int64_t begin, int64_t end)
{
    const ld_product *p = t->p;
    int64_t last = end % TILE_ROWS, row = end - last;
    size_t a_bytes = (size_t)(last * p->k) * sizeof *p->a;
    size_t c_bytes = (size_t)(last * p->n) * sizeof *p->c;
    ld_status st = LD_NOMEM;
    if (last == 0)
        return tiles(t, begin, end);
    t->last_a = ld_calloc_array(TILE_ROWS * p->k, sizeof *t->last_a, LD_MEM_SCRATCH);
    t->last_c = ld_calloc_array(TILE_ROWS * p->n, sizeof *t->last_c, LD_MEM_SCRATCH);
    if (!t->last_a || !t->last_c)
        goto done;
    memcpy(t->last_a, p->a + row * p->k, a_bytes);
    memcpy(t->last_c, p->c + row * p->n, c_bytes);
    LD_TRY(tiles(t, begin, end));
    memcpy(p->c + row * p->n, t->last_c, c_bytes);
done:
    ld_free(t->last_a);
    ld_free(t->last_c);
    return st;
}

/* OpenBLAS exports these, but in no header; another BLAS does not have them. */
__attribute__((weak)) void *blas_memory_alloc(int from);
__attribute__((weak)) void blas_memory_free(void *buffer);

/* Makes OpenBLAS map the buffers of n threads, which it keeps. It has places for 50 at least, and
 * prints a warning when more are wanted. */
static void take_buffers(int n)
{
    enum { PLACES = 50 };
    void *buffers[PLACES];
    if (!blas_memory_alloc || !blas_memory_free)
        return;
    if (n > PLACES)
        n = PLACES;
    for (int i = 0; i < n; i++)
        buffers[i] = blas_memory_alloc(0);
    for (int i = 0; i < n; i++)
        blas_memory_free(buffers[i]);
}

/* Fails unless there is room for BLAS's buffers. OpenBLAS maps one for every thread that
 * multiplies, and where the system has no room for it (ulimit -v) it asks again for ever. So that
 * is tried before the first product, and again for more threads. The buffers are taken at once: the
 * room may be gone when a helper first multiplies. */
static ld_status check_room(void)
{
    static const int64_t BUFFER = 128 << 20;
    static atomic_int checked; /* threads that there was room for */
    enum { MOST = 256 };
    int n = ld_threads(), had = atomic_load_explicit(&checked, memory_order_relaxed), got = had;
    void *buffers[MOST];
    if (n <= had)
        return LD_OK;
    for (; got < n && got < MOST; got++)
        if (!(buffers[got] = ld_platform_map(BUFFER)))
            break;
    for (int i = had; i < got; i++)
        ld_platform_unmap(buffers[i], BUFFER);
    if (got < n)
        return ld_fail(LD_NOMEM,
                       "matmul: OpenBLAS wants %d MiB of address space for each of %d threads, and "
                       "there is room for %d: fewer threads or a higher ulimit -v help",
                       (int)(BUFFER >> 20), n, got);
    take_buffers(n);
    atomic_store_explicit(&checked, n, memory_order_relaxed);
    return LD_OK;
}

/* Returns true for a product of no elements, or of sums of no terms, which BLAS does not take. */
static bool is_empty(const ld_product *p)
{
    if (p->k == 0 && p->bias)
        begin_rows(p, p->c, p->m, 0, p->n);
    else if (p->k == 0 && !p->accumulate)
        memset(p->c, 0, (size_t)(p->m * p->n) * sizeof *p->c);
    return p->m == 0 || p->n == 0 || p->k == 0;
}

ld_status ld_gemm_rows(const ld_product *p, const ld_gemm_way *way, int64_t begin, int64_t end)
{
    making t = {.p = p, .way = way};
    if (is_empty(p))
        return LD_OK;
    LD_CHECK(check_room());
    switch (way->kind) {
    case LD_GEMM_TILES: return tiles(&t, begin, end);
    case LD_GEMM_EQUAL_TILES: return equal_tiles(&t, begin, end);
    case LD_GEMM_PIECES: return tiles_in_pieces(&t, begin, end);
    case LD_GEMM_BFLOAT16: break;
    }
    ld_product q = *p;
    q.accumulate = p->accumulate || p->bias;
    if (p->bias)
        begin_rows(p, p->c + begin * p->n, end - begin, 0, p->n);
    return ld_bfloat16_rows(&q, begin, end);
}

/* --- with one rounding ------------------------------------------------------------------------ */

/* The sizes of a product in double: rows of c are sums of products that are made at once. */
enum { PANEL = 128, BLOCK_ROWS = 8 * PANEL, BLOCK_SUMS = 1024 };

/* A block of a matrix, and its elements in double, row by row without gaps. */
typedef struct {
    double *wide;
    float *narrow;
    int64_t n_rows, n_cols, stride; /* stride: from a row of the matrix to the next */
} block;

/* Makes x the block of `n_rows` by `n_cols` elements from (row, col) on. The rows of a transposed
 * matrix are columns in memory. */
static void place(block *x, const float *from, int64_t stride, bool transposed, int64_t row,
                  int64_t n_rows, int64_t col, int64_t n_cols)
{
    x->stride = stride;
    x->n_rows = transposed ? n_cols : n_rows;
    x->n_cols = transposed ? n_rows : n_cols;
    x->narrow = (float *)from + (transposed ? col * stride + row : row * stride + col);
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

/* Computes the rows of c from `row` on that w->c holds. */
static ld_status wide_rows(wide_product *w, const ld_product *p, int64_t row)
{
    for (int64_t from = 0; from < p->k; from += BLOCK_SUMS) {
        w->k = smaller(BLOCK_SUMS, p->k - from);
        w->beta = from == 0 ? 0.0 : 1.0;
        place(&w->a, p->a, p->lda, p->ta, row, w->c.n_rows, from, w->k);
        place(&w->b, p->b, p->ldb, p->tb, from, w->k, 0, p->n);
        LD_CHECK(ld_parallel_for(w->a.n_rows, PANEL, widen_rows, &w->a));
        LD_CHECK(ld_parallel_for(w->b.n_rows, PANEL, widen_rows, &w->b));
        LD_CHECK(ld_parallel_for(w->c.n_rows, PANEL, wide_panel, w));
    }
    return ld_parallel_for(w->c.n_rows, PANEL, round_rows, &w->c);
}

ld_status ld_gemm_precise(const ld_product *p)
{
    LD_FREED double *a = NULL, *b = NULL, *c = NULL;
    int64_t rows = smaller(BLOCK_ROWS, p->m), sums = smaller(BLOCK_SUMS, p->k);
    if (is_empty(p))
        return LD_OK;
    LD_CHECK(check_room());
    a = ld_alloc_array(rows * sums, sizeof *a, LD_MEM_SCRATCH);
    b = ld_alloc_array(sums * p->n, sizeof *b, LD_MEM_SCRATCH);
    c = ld_alloc_array(rows * p->n, sizeof *c, LD_MEM_SCRATCH);
    if (!a || !b || !c)
        return LD_NOMEM;
    wide_product w = {.ta = p->ta, .tb = p->tb, .a.wide = a, .b.wide = b, .c.wide = c};
    for (int64_t row = 0; row < p->m; row += rows) {
        place(&w.c, p->c, p->n, false, row, smaller(rows, p->m - row), 0, p->n);
        LD_CHECK(wide_rows(&w, p, row));
    }
    return LD_OK;
}

void ld_blas_name(char *text, size_t size)
{
    const char *config = openblas_get_config(); /* "OpenBLAS 0.3.21 NO_LAPACKE ..." */
    size_t name = strcspn(config, " ");
    size_t version = config[name] ? strcspn(config + name + 1, " ") + 1 : 0;
    snprintf(text, size, "%.*s %s", (int)(name + version), config, openblas_get_corename());
}

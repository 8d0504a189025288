/* The product goes through k in blocks. Of each, b is copied to strips as wide as a tile, in which the
 * elements that are wanted together lie together; a transposed a likewise, as tall as one. Then the
 * rows of c are made strip by strip, in tiles whose sums all stay in registers (Goto and van de Geijn
 * 2008; gemm_tile.inc, for each kind of vectors). A tile's part of a stays in the first-level cache
 * while the strips of b go by from the second. */
#include "tensor/gemm.h"

#include <string.h>

#include "base/memory.h"
#include "base/simd.h"
#include "base/threads.h"

enum {
    DEPTH = 256,          /* products in a block of k, */
    COLUMNS = 256,        /* columns of c in a block, so that those of b stay in a cache */
    CROWDED = 512,        /* elements from row to row that make rows share places of a cache */
    TALLEST = 14,         /* rows of any tile */
    PACK_GRAIN = 1 << 14, /* elements that are worth a thread's while to copy, */
    WORK_GRAIN = 1 << 19  /* and products to make */
};

/* A tile: n_rows x n_cols elements of c, at `c`, from `depth` products each. Element (i, p) of a is at
 * a[i * a_row + p * a_step]; those of b lie strip by strip. */
typedef struct {
    int64_t depth;
    const float *a, *b, *addend;
    int64_t a_row, a_step, addend_stride;
    float *c;
    int64_t c_stride, n_rows, n_cols;
} tile;

/* Functions for tiles of at most so many rows and columns. */
typedef struct {
    void (*make)(const tile *t);
    ld_loop_fn *pack_a, *pack_b; /* rows of the block, where a row is of one product */
    int64_t rows, cols;
} tile_kind;

/* A block of k, for some of the columns. */
typedef struct {
    const ld_gemm_call *call;
    tile_kind kind;
    int64_t from, depth; /* which products */
    int64_t col, n_cols; /* which columns of c */
    int64_t rows;        /* of a strip of a, all but the last */
    float *a, *b;        /* the strips; of a only when it is transposed */
} block;

static inline int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Rows begin .. end-1 of the block, of n elements each, into strips of `width`, a constant; `from` is
 * where the first begins. The last strip is filled up with zeros. */
static inline __attribute__((always_inline)) void pack_rows(float *strips, const float *from,
                                                            int64_t stride, const block *k,
                                                            int64_t width, int64_t n, int64_t begin,
                                                            int64_t end)
{
    for (int64_t p = begin; p < end; p++) {
        const float *row = from + p * stride;
        float *to = strips + p * width;
        int64_t first = 0;
        for (; first + width <= n; first += width)
            memcpy(to + first * k->depth, row + first, (size_t)width * sizeof(float));
        for (int64_t j = first; n > first && j < first + width; j++)
            to[first * k->depth + j - first] = j < n ? row[j] : 0.0f;
    }
}

#define UNITS(name) name##_plain
#define TARGET
#define LANES  4
#define HEIGHT 6
#include "tensor/gemm_tile.inc"

#if LD_HAVE_CLONES
#define UNITS(name) name##_avx2
#define TARGET      __attribute__((target("arch=x86-64-v3")))
#define LANES       8
#define HEIGHT      6
#include "tensor/gemm_tile.inc"

#define UNITS(name) name##_avx512
#define TARGET      __attribute__((target("arch=x86-64-v4,prefer-vector-width=512")))
#define LANES       16
#define HEIGHT      14
#include "tensor/gemm_tile.inc"
#endif

static tile_kind kind_in_use(void)
{
#if LD_HAVE_CLONES
    ld_units units = ld_units_in_use();
    if (units != LD_UNITS_PLAIN)
        return units == LD_UNITS_AVX512 ? kind_avx512() : kind_avx2();
#endif
    return kind_plain();
}

static int64_t parts(int64_t n, int64_t size)
{
    return (n + size - 1) / size;
}

typedef float four __attribute__((vector_size(16)));

/* Rows of four elements each become columns: to[i * width + j] = from[j * stride + i]. */
static inline void transpose_four(float *to, int64_t width, const float *from, int64_t stride)
{
    four r[4], half[4];
    for (int i = 0; i < 4; i++)
        memcpy(&r[i], from + i * stride, sizeof r[i]);
    half[0] = __builtin_shufflevector(r[0], r[1], 0, 4, 1, 5);
    half[1] = __builtin_shufflevector(r[2], r[3], 0, 4, 1, 5);
    half[2] = __builtin_shufflevector(r[0], r[1], 2, 6, 3, 7);
    half[3] = __builtin_shufflevector(r[2], r[3], 2, 6, 3, 7);
    r[0] = __builtin_shufflevector(half[0], half[1], 0, 1, 4, 5);
    r[1] = __builtin_shufflevector(half[0], half[1], 2, 3, 6, 7);
    r[2] = __builtin_shufflevector(half[2], half[3], 0, 1, 4, 5);
    r[3] = __builtin_shufflevector(half[2], half[3], 2, 3, 6, 7);
    for (int i = 0; i < 4; i++)
        memcpy(to + i * width, &r[i], sizeof r[i]);
}

/* Strips begin .. end-1 of a transposed b. */
static void pack_b_transposed(void *ctx, int64_t begin, int64_t end)
{
    const block *k = ctx;
    const ld_factor *f = &k->call->b;
    int64_t width = k->kind.cols;
    for (int64_t s = begin; s < end; s++) {
        float *to = k->b + s * width * k->depth;
        const float *from = f->data + (k->col + s * width) * f->stride + k->from;
        int64_t have = smaller(width, k->n_cols - s * width);
        for (int64_t j = 0; j < width; j += 4) {
            int64_t p = 0;
            for (; j + 4 <= have && p + 4 <= k->depth; p += 4)
                transpose_four(to + p * width + j, width, from + j * f->stride + p, f->stride);
            for (; p < k->depth; p++)
                for (int64_t i = j; i < j + 4; i++)
                    to[p * width + i] = i < have ? from[i * f->stride + p] : 0.0f;
        }
    }
}

/* Gives the tile copies of its rows of a, which would push each other out of the cache. */
static void copy_rows(tile *t, float rows[TALLEST * (DEPTH + 16)])
{
    for (int64_t i = 0; i < t->n_rows; i++)
        memcpy(rows + i * (DEPTH + 16), t->a + i * t->a_row, (size_t)t->depth * sizeof(float));
    t->a = rows;
    t->a_row = DEPTH + 16;
}

/* Strips begin .. end-1 of the rows of c. */
static void make_strips(void *ctx, int64_t begin, int64_t end)
{
    const block *k = ctx;
    const ld_gemm_call *g = k->call;
    bool first_block = k->from == 0, packed = g->a.transposed;
    bool crowded = !packed && g->a.stride % CROWDED == 0;
    float rows[TALLEST * (DEPTH + 16)];
    const float *addend = first_block ? g->addend : g->c;
    for (int64_t row = begin * k->rows; row < smaller(end * k->rows, g->m); row += k->rows) {
        tile t = {.depth = k->depth,
                  .n_rows = smaller(k->rows, g->m - row),
                  .a = packed ? k->a + row * k->depth : g->a.data + row * g->a.stride + k->from,
                  .a_row = packed ? 1 : g->a.stride,
                  .a_step = packed ? k->rows : 1,
                  .c_stride = g->n,
                  .addend_stride = first_block ? g->addend_stride : g->n};
        if (crowded)
            copy_rows(&t, rows);
        for (int64_t col = 0; col < k->n_cols; col += k->kind.cols) {
            t.n_cols = smaller(k->kind.cols, k->n_cols - col);
            t.b = k->b + col * k->depth;
            t.c = g->c + row * g->n + k->col + col;
            t.addend = addend ? addend + row * t.addend_stride + k->col + col : NULL;
            k->kind.make(&t);
        }
    }
}

static ld_status make_block(block *k)
{
    const ld_gemm_call *g = k->call;
    ld_status st;
    if (g->b.transposed)
        LD_TRY(ld_parallel_for(parts(k->n_cols, k->kind.cols),
                               parts(PACK_GRAIN, k->kind.cols * DEPTH), pack_b_transposed, k));
    else
        LD_TRY(ld_parallel_for(k->depth, parts(PACK_GRAIN, k->n_cols), k->kind.pack_b, k));
    if (g->a.transposed)
        LD_TRY(ld_parallel_for(k->depth, parts(PACK_GRAIN, g->m), k->kind.pack_a, k));
    LD_TRY(ld_parallel_for(parts(g->m, k->rows), parts(WORK_GRAIN, k->rows * k->n_cols * k->depth),
                           make_strips, k));
done:
    return st;
}

/* The product of no columns with no rows is zero. */
static void add_nothing(const ld_gemm_call *g)
{
    for (int64_t row = 0; row < g->m; row++)
        for (int64_t col = 0; col < g->n; col++)
            g->c[row * g->n + col] = g->addend ? g->addend[row * g->addend_stride + col] : 0.0f;
}

ld_status ld_gemm(const ld_gemm_call *g)
{
    block k = {.call = g, .kind = kind_in_use()};
    int64_t depth = smaller(DEPTH, g->k), width = smaller(COLUMNS, g->n);
    bool packed = g->a.transposed;
    ld_status st = LD_OK;
    if (g->k == 0)
        add_nothing(g);
    if (g->m == 0 || g->n == 0 || g->k == 0)
        return LD_OK;
    k.rows = packed ? k.kind.rows : parts(g->m, parts(g->m, k.kind.rows));
    k.b = ld_alloc_array(parts(width, k.kind.cols) * k.kind.cols * depth, sizeof(float),
                         LD_MEM_SCRATCH);
    if (packed)
        k.a = ld_alloc_array(parts(g->m, k.rows) * k.rows * depth, sizeof(float), LD_MEM_SCRATCH);
    if (!k.b || (packed && !k.a))
        st = LD_NOMEM;
    for (; st == LD_OK && k.col < g->n; k.col += COLUMNS) {
        k.n_cols = smaller(COLUMNS, g->n - k.col);
        for (k.from = 0; st == LD_OK && k.from < g->k; k.from += DEPTH) {
            k.depth = smaller(DEPTH, g->k - k.from);
            st = make_block(&k);
        }
    }
    ld_free(k.a);
    ld_free(k.b);
    return st;
}

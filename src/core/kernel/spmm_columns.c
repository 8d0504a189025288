/* The product with a transpose that is not made: a row of x, times each entry of a's row, is added
 * to the row of y that is the entry's column. So a and x are read as they lie, while row by row of
 * the transpose the rows of x would come in any order. Here the sums come in any order; a cache
 * holds those of the columns of a tile. Each gets its terms in the order of a's rows, as by the
 * transpose: the bits are the same. */
#include "kernel/spmm.h"
#include "memory/memory.h"
#include "system/simd.h"
#include "system/threads.h"

enum { TILE = 64, NARROW = 32, LINE = 16, POLLED_ROWS = 1024 };

/* Returns the columns of a tile, which one thread computes. They do not change the bits, so they may
 * go by the threads that there are: tiles of half the width cost a fifth more, and are twice as
 * many. None is narrower than a cache line. */
static int64_t tile_of(int64_t k)
{
    int64_t wide = ld_threads() * (int64_t)TILE;
    return k >= wide ? TILE : k >= wide / 2 ? NARROW : LINE;
}

typedef struct {
    float *y;
    const ld_factors *a;
    const float *x;
    int64_t k;
    bool accumulate;
    float *sums;   /* tile behind tile, each n_cols rows of its columns */
    int64_t width; /* columns of a tile */
} product;

/* Adds up some columns of y, which begin as zeros. */
static LD_INLINE void add_rows(float *sums, const product *p, int64_t first, int64_t width)
{
    const ld_factors *a = p->a;
    for (int64_t r = 0; r < a->n_rows; r++) {
        float x[TILE], scale = a->row_scale ? a->row_scale[r] : 1.0f;
        if (r % POLLED_ROWS == 0 && ld_cancelled())
            return;
        for (int64_t j = 0; j < width; j++)
            x[j] = p->x[r * p->k + first + j];
        for (int64_t e = a->offsets[r]; e < a->offsets[r + 1]; e++) {
            float v = (a->values ? a->values[e] : 1.0f) * scale;
            float *sum = sums + a->columns[e] * width;
            LD_ONE_VECTOR
            for (int64_t j = 0; j < width; j++)
                sum[j] += v * x[j];
        }
    }
}

static LD_INLINE void tile(float *sums, const product *p, int64_t first, int64_t width)
{
    add_rows(sums, p, first, width);
    for (int64_t c = 0; c < p->a->n_cols; c++) {
        float scale = p->a->col_scale ? p->a->col_scale[c] : 1.0f;
        const float *sum = sums + c * width;
        float *y = p->y + c * p->k + first;
        for (int64_t j = 0; j < width; j++)
            y[j] = p->accumulate ? y[j] + scale * sum[j] : scale * sum[j];
    }
}

LD_CLONES(spmm_by_columns)
{
    const product *p = ctx;
    const int64_t width = p->width;
    for (int64_t first = begin * width; first < end * width && first < p->k; first += width) {
        float *sums = p->sums + first * p->a->n_cols;
        if (first + width <= p->k && width == TILE)
            tile(sums, p, first, TILE);
        else if (first + width <= p->k && width == NARROW)
            tile(sums, p, first, NARROW);
        else if (first + width <= p->k)
            tile(sums, p, first, LINE);
        else
            tile(sums, p, first, p->k - first);
    }
}

ld_status ld_spmm_by_columns(float *y, const ld_factors *a, const float *x, int64_t k,
                             bool accumulate)
{
    LD_FREED float *sums = ld_calloc_array(a->n_cols * k, sizeof *sums, LD_MEM_SCRATCH);
    product p = {y, a, x, k, accumulate, sums, tile_of(k)};
    if (!sums)
        return LD_NOMEM;
    LD_CHECK(ld_parallel_for((k + p.width - 1) / p.width, 1, spmm_by_columns, &p));
    return ld_poll();
}

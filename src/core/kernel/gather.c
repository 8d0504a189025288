#include "kernel/gather.h"

#include <string.h>

#include "system/simd.h"
#include "system/threads.h"

enum { GRAIN = 64 /* rows */, FEW = 16 /* elements of one */, TILE = 32 };

typedef struct {
    float *y;
    const float *x;
    const int32_t *rows;
    int64_t n_rows, n_cols, y_stride, x_stride;
    bool accumulate;
} copying;

/* y[i] = x[rows[i]], or y[i] += x[rows[i]], where NULL is the same row. */
LD_CLONES(gather_rows)
{
    const copying *p = ctx;
    for (int64_t i = begin; i < end; i++) {
        const float *x = p->x + (p->rows ? p->rows[i] : i) * p->x_stride;
        float *y = p->y + i * p->y_stride;
        if (!p->accumulate)
            memcpy(y, x, (size_t)p->n_cols * sizeof *y);
        else
            for (int64_t j = 0; j < p->n_cols; j++)
                y[j] += x[j];
    }
}

ld_status ld_gather_rows(float *y, const float *x, const int32_t *rows, int64_t n, int64_t n_cols,
                         bool accumulate)
{
    copying p = {y, x, rows, n, n_cols, n_cols, n_cols, accumulate};
    return ld_parallel_for(n, GRAIN, gather_rows, &p);
}

ld_status ld_copy_block(float *y, int64_t y_stride, const float *x, int64_t x_stride,
                        int64_t n_rows, int64_t n_cols, bool accumulate)
{
    copying p = {y, x, NULL, n_rows, n_cols, y_stride, x_stride, accumulate};
    if (n_cols < FEW && y_stride == n_cols && x_stride == n_cols) { /* a single row */
        p.n_cols = n_rows * n_cols;
        n_rows = n_rows > 0;
    }
    return ld_parallel_for(n_rows, GRAIN, gather_rows, &p);
}

typedef struct {
    float *z;
    const float *x, *y;
    int64_t x_cols, y_cols;
} sides;

static void join_columns(void *ctx, int64_t begin, int64_t end)
{
    const sides *p = ctx;
    for (int64_t r = begin; r < end; r++) {
        float *z = p->z + r * (p->x_cols + p->y_cols);
        memcpy(z, p->x + r * p->x_cols, (size_t)p->x_cols * sizeof *z);
        memcpy(z + p->x_cols, p->y + r * p->y_cols, (size_t)p->y_cols * sizeof *z);
    }
}

ld_status ld_join_columns(float *z, const float *x, int64_t x_cols, const float *y, int64_t y_cols,
                          int64_t n_rows)
{
    sides p = {z, x, y, x_cols, y_cols};
    return ld_parallel_for(n_rows, GRAIN, join_columns, &p);
}

LD_CLONES(scatter_rows)
{
    const copying *p = ctx;
    for (int64_t i = begin; i < end; i++) {
        const float *x = p->x + i * p->n_cols;
        float *y = p->y + p->rows[i] * p->n_cols;
        for (int64_t j = 0; j < p->n_cols; j++)
            y[j] += x[j];
    }
}

ld_status ld_scatter_rows(float *y, const float *x, const int32_t *rows, int64_t n, int64_t n_cols,
                          bool distinct)
{
    copying p = {.y = y, .x = x, .rows = rows, .n_cols = n_cols};
    return ld_parallel_for(n, distinct ? GRAIN : n + 1, scatter_rows, &p);
}

/* Tiles fit the nearest cache with both of their sides. */
static void transpose(void *ctx, int64_t begin, int64_t end)
{
    const copying *p = ctx;
    for (int64_t top = 0; top < p->n_rows; top += TILE)
        for (int64_t j = begin; j < end; j++) {
            int64_t bottom = top + TILE < p->n_rows ? top + TILE : p->n_rows;
            for (int64_t i = top; i < bottom; i++) {
                float v = p->x[i * p->n_cols + j], *y = &p->y[j * p->n_rows + i];
                *y = p->accumulate ? *y + v : v;
            }
        }
}

ld_status ld_transpose(float *y, const float *x, int64_t n_rows, int64_t n_cols, bool accumulate)
{
    copying p = {.y = y, .x = x, .n_rows = n_rows, .n_cols = n_cols, .accumulate = accumulate};
    return ld_parallel_for(n_cols, TILE, transpose, &p);
}

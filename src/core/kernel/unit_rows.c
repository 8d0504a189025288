#include "kernel/unit_rows.h"

#include <math.h>

#include "kernel/chains.h"
#include "system/simd.h"
#include "system/threads.h"

enum {
    GRAIN = 64,       /* rows */
    BLOCK = LD_CHAINS /* rows whose sums are made before anything is computed with them */
};

/* The arguments of both kernels; each has some of them. */
typedef struct {
    float *y; /* or dx */
    const float *x, *dy;
    float *inverse;
    const float *of_inverse; /* the inverses that backward reads */
    int64_t n_cols;
    bool accumulate;
} unit_rows;

LD_CLONES(normalize_rows)
{
    const unit_rows *p = ctx;
    const int64_t k = p->n_cols;
    for (int64_t first = begin; first < end; first += BLOCK) {
        int64_t count = end - first < BLOCK ? end - first : BLOCK;
        const float *x = p->x + first * k;
        float *y = p->y + first * k;
        double squares[BLOCK];
        ld_sum_rows(squares, x, x, LD_PRODUCTS, count, k);
        for (int64_t r = 0; r < count; r++) {
            double inverse = squares[r] > 0 ? 1.0 / sqrt(squares[r]) : 0.0;
            p->inverse[first + r] = (float)inverse;
            LD_INDEPENDENT /* x and y may be the same memory */
            for (int64_t i = r * k; i < (r + 1) * k; i++)
                y[i] = (float)(x[i] * inverse);
        }
    }
}

ld_status ld_normalize_rows(float *y, float *inverse, const float *x, int64_t n_rows,
                            int64_t n_cols)
{
    unit_rows p = {.y = y, .inverse = inverse, .x = x, .n_cols = n_cols};
    return ld_parallel_for(n_rows, GRAIN, normalize_rows, &p);
}

LD_CLONES(normalize_rows_backward)
{
    const unit_rows *p = ctx;
    const int64_t k = p->n_cols;
    for (int64_t first = begin; first < end; first += BLOCK) {
        int64_t count = end - first < BLOCK ? end - first : BLOCK;
        const float *y = p->x + first * k, *dy = p->dy + first * k;
        float *dx = p->y + first * k;
        double dots[BLOCK];
        ld_sum_rows(dots, y, dy, LD_PRODUCTS, count, k);
        for (int64_t r = 0; r < count; r++) {
            double inverse = p->of_inverse[first + r];
            LD_INDEPENDENT /* dx and dy may be the same memory */
            for (int64_t i = r * k; i < (r + 1) * k; i++) {
                float d = (float)((dy[i] - y[i] * dots[r]) * inverse);
                dx[i] = p->accumulate ? dx[i] + d : d;
            }
        }
    }
}

ld_status ld_normalize_rows_backward(float *dx, const float *dy, const float *y,
                                     const float *inverse, int64_t n_rows, int64_t n_cols,
                                     bool accumulate)
{
    unit_rows p = {.y = dx,
                   .dy = dy,
                   .x = y,
                   .of_inverse = inverse,
                   .n_cols = n_cols,
                   .accumulate = accumulate};
    return ld_parallel_for(n_rows, GRAIN, normalize_rows_backward, &p);
}

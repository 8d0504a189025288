#include "kernel/moments.h"

#include "kernel/chains.h"
#include "system/simd.h"
#include "system/threads.h"

enum {
    GRAIN = 64, /* rows */
    COLS = 32   /* columns whose sums stay in registers */
};

/* The arguments of all kernels here; each has some of them. */
typedef struct {
    double *mean, *variance;
    const double *of_mean, *factor; /* those that backward reads */
    const float *x;
    float *dx;
    int64_t n_rows, n_cols;
    bool accumulate;
} moments;

static LD_INLINE void moments_of_columns(const moments *p, int64_t first, int64_t width)
{
    double mean[COLS] = {0}, variance[COLS] = {0};
    const float *x = p->x + first;
    const int64_t k = p->n_cols;
    for (int64_t r = 0; r < p->n_rows; r++)
        for (int64_t j = 0; j < width; j++)
            mean[j] += x[r * k + j];
    for (int64_t j = 0; j < width; j++)
        mean[j] /= (double)p->n_rows;
    for (int64_t r = 0; r < p->n_rows; r++)
        for (int64_t j = 0; j < width; j++)
            variance[j] += (x[r * k + j] - mean[j]) * (x[r * k + j] - mean[j]);
    for (int64_t j = 0; j < width; j++) {
        p->mean[first + j] = mean[j];
        p->variance[first + j] = variance[j] / (double)p->n_rows;
    }
}

LD_CLONES(column_moments)
{
    if (end - begin == COLS)
        moments_of_columns(ctx, begin, COLS);
    else
        moments_of_columns(ctx, begin, end - begin);
}

ld_status ld_column_moments(double *mean, double *variance, const float *x, int64_t n_rows,
                            int64_t n_cols)
{
    moments p = {.mean = mean, .variance = variance, .x = x, .n_rows = n_rows, .n_cols = n_cols};
    return ld_parallel_for(n_cols, COLS, column_moments, &p);
}

/* Returns the mean over row r, in eight lanes, of x or, with `squares`, of the squares of its
 * distances to `mean`. */
static LD_INLINE double mean_of_row(const moments *p, int64_t r, double mean, bool squares)
{
    double lane[LD_LANES] = {0};
    const int64_t k = p->n_cols;
    const float *x = p->x + r * k;
    int64_t j = 0;
    for (; j + LD_LANES <= k; j += LD_LANES)
        for (int i = 0; i < LD_LANES; i++)
            lane[i] += squares ? (x[j + i] - mean) * (x[j + i] - mean) : x[j + i];
    for (; j < k; j++)
        lane[0] += squares ? (x[j] - mean) * (x[j] - mean) : x[j];
    return ld_lanes_total(lane) / (double)k;
}

LD_CLONES(row_moments)
{
    const moments *p = ctx;
    for (int64_t r = begin; r < end; r++) {
        p->mean[r] = mean_of_row(p, r, 0, false);
        p->variance[r] = mean_of_row(p, r, p->mean[r], true);
    }
}

ld_status ld_row_moments(double *mean, double *variance, const float *x, int64_t n_rows,
                         int64_t n_cols)
{
    moments p = {.mean = mean, .variance = variance, .x = x, .n_cols = n_cols};
    return ld_parallel_for(n_rows, GRAIN, row_moments, &p);
}

/* Computes a row of ld_moments_backward. Its factors and means lie `step` apart along a row. */
static LD_INLINE void moments_backward_row(const moments *p, int64_t r, int64_t step)
{
    const int64_t first = step ? 0 : r, k = p->n_cols;
    const double *factor = p->factor + first, *mean = p->of_mean + first;
    const float *x = p->x + r * k;
    float *dx = p->dx + r * k;
    LD_INDEPENDENT
    for (int64_t j = 0; j < k; j++) {
        float d = (float)(factor[j * step] * (x[j] - mean[j * step]));
        dx[j] = p->accumulate ? dx[j] + d : d;
    }
}

LD_CLONES(row_moments_backward)
{
    for (int64_t r = begin; r < end; r++)
        moments_backward_row(ctx, r, 0);
}

LD_CLONES(column_moments_backward)
{
    for (int64_t r = begin; r < end; r++)
        moments_backward_row(ctx, r, 1);
}

ld_status ld_moments_backward(float *dx, const float *x, const double *factor, const double *mean,
                              int64_t n_rows, int64_t n_cols, bool of_rows, bool accumulate)
{
    moments p = {.dx = dx,
                 .x = x,
                 .factor = factor,
                 .of_mean = mean,
                 .n_cols = n_cols,
                 .accumulate = accumulate};
    ld_loop_fn *moments_backward = of_rows ? row_moments_backward : column_moments_backward;
    return ld_parallel_for(n_rows, GRAIN, moments_backward, &p);
}

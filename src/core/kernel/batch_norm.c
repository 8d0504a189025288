#include "kernel/batch_norm.h"

#include "system/simd.h"
#include "system/threads.h"

enum {
    GRAIN = 64, /* rows */
    COLS = 32,  /* columns whose sums stay in registers */
    SIDE = 4    /* rows side by side, for which what belongs to a column is loaded once */
};

/* The arguments of all kernels here; each has some of them. */
typedef struct {
    float *y; /* or dx */
    const float *x, *dy, *gain, *bias;
    const float *of_mean;         /* the means that backward reads */
    const double *mean, *inverse; /* one for each column */
    double *dgain, *dbias;
    int64_t n_rows, n_cols;
    bool accumulate;
} batch_norm_args;

/* Computes y of `count` rows from r on. */
static LD_INLINE void normalize(const batch_norm_args *p, int64_t r, int count)
{
    const int64_t k = p->n_cols;
    const float *x = p->x + r * k;
    float *y = p->y + r * k;
    LD_INDEPENDENT /* x and y may be the same memory */
    for (int64_t j = 0; j < k; j++) {
        double gain = p->gain[j], bias = p->bias[j];
        for (int i = 0; i < count; i++)
            y[i * k + j] = (float)((x[i * k + j] - p->mean[j]) * p->inverse[j] * gain + bias);
    }
}

LD_CLONES(batch_norm)
{
    const batch_norm_args *p = ctx;
    int64_t r = begin;
    for (; r + SIDE <= end; r += SIDE)
        normalize(p, r, SIDE);
    for (; r < end; r++)
        normalize(p, r, 1);
}

ld_status ld_batch_norm(float *y, const float *x, const double *mean, const double *inverse,
                        const float *gain, const float *bias, int64_t n_rows, int64_t n_cols)
{
    batch_norm_args p = {.y = y,
                         .x = x,
                         .mean = mean,
                         .inverse = inverse,
                         .gain = gain,
                         .bias = bias,
                         .n_cols = n_cols};
    return ld_parallel_for(n_rows, GRAIN, batch_norm, &p);
}

static LD_INLINE void parameters_of_columns(const batch_norm_args *p, int64_t first, int64_t width)
{
    double dgain[COLS] = {0}, dbias[COLS] = {0};
    for (int64_t r = 0; r < p->n_rows; r++) {
        const float *x = p->x + r * p->n_cols + first, *dy = p->dy + r * p->n_cols + first;
        for (int64_t j = 0; j < width; j++) {
            dgain[j] += dy[j] * (x[j] - p->of_mean[first + j]) * p->inverse[first + j];
            dbias[j] += dy[j];
        }
    }
    for (int64_t j = 0; j < width; j++) {
        p->dgain[first + j] = dgain[j];
        p->dbias[first + j] = dbias[j];
    }
}

LD_CLONES(batch_norm_parameters)
{
    if (end - begin == COLS)
        parameters_of_columns(ctx, begin, COLS);
    else
        parameters_of_columns(ctx, begin, end - begin);
}

ld_status ld_batch_norm_parameters(double *dgain, double *dbias, const float *dy, const float *x,
                                   const float *mean, const double *inverse, int64_t n_rows,
                                   int64_t n_cols)
{
    batch_norm_args p = {.dgain = dgain,
                         .dbias = dbias,
                         .dy = dy,
                         .x = x,
                         .of_mean = mean,
                         .inverse = inverse,
                         .n_rows = n_rows,
                         .n_cols = n_cols};
    return ld_parallel_for(n_cols, COLS, batch_norm_parameters, &p);
}

LD_CLONES(batch_norm_backward)
{
    const batch_norm_args *p = ctx;
    const int64_t k = p->n_cols;
    for (int64_t r = begin; r < end; r++) {
        const float *x = p->x + r * k, *dy = p->dy + r * k;
        float *dx = p->y + r * k;
        LD_INDEPENDENT /* dx and dy may be the same memory */
        for (int64_t j = 0; j < k; j++) {
            double z = (x[j] - p->of_mean[j]) * p->inverse[j];
            double of_sums = (p->dbias[j] + z * p->dgain[j]) / (double)p->n_rows;
            float d = (float)(p->gain[j] * p->inverse[j] * (dy[j] - of_sums));
            dx[j] = p->accumulate ? dx[j] + d : d;
        }
    }
}

ld_status ld_batch_norm_backward(float *dx, const float *dy, const float *x, const float *gain,
                                 const float *mean, const double *inverse, const double *dgain,
                                 const double *dbias, int64_t n_rows, int64_t n_cols,
                                 bool accumulate)
{
    batch_norm_args p = {.y = dx,
                         .dy = dy,
                         .x = x,
                         .gain = gain,
                         .of_mean = mean,
                         .inverse = inverse,
                         .dgain = (double *)dgain,
                         .dbias = (double *)dbias,
                         .n_rows = n_rows,
                         .n_cols = n_cols,
                         .accumulate = accumulate};
    return ld_parallel_for(n_rows, GRAIN, batch_norm_backward, &p);
}

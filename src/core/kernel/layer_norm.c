#include "kernel/layer_norm.h"

#include <math.h>

#include "kernel/chains.h"
#include "system/simd.h"
#include "system/threads.h"

enum {
    GRAIN = 64,        /* rows */
    COLS = 32,         /* columns whose sums stay in registers */
    BLOCK = LD_CHAINS, /* rows whose sums are made before anything is computed with them */
    LANES = 16,        /* of a sum in float */
    SUMMED = 32        /* rows that are summed in float */
};

/* The arguments of all kernels here; each has some of them. */
typedef struct {
    float *y; /* or dx */
    const float *x, *dy, *gain, *bias;
    float *row_mean, *row_inverse;
    const float *of_mean, *of_inverse; /* the means and inverses that backward reads */
    double *dgain, *dbias;
    double eps;
    int64_t n_rows, n_cols;
    bool accumulate;
} layer_norm_args;

/* Two sums over a row, in lanes of float: lane l has every sixteenth term from the l-th on. */
typedef struct {
    float first[LANES], second[LANES];
} row_sums;

/* Returns the sum of the lanes, those of one half added to those of the other. */
static LD_INLINE float total_of(const float lane[LANES])
{
    float sum[LANES / 2];
    for (int l = 0; l < LANES / 2; l++)
        sum[l] = lane[l] + lane[l + LANES / 2];
    return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

/* Adds `count` terms to the lanes, those of elements from j on: the distances to `mean`, and their
 * squares. */
static LD_INLINE void add_distances(row_sums *s, const float *x, float mean, int64_t j, int count)
{
    LD_ONE_VECTOR
    for (int l = 0; l < count; l++) {
        float d = x[j + l] - mean;
        s->first[l] += d;
        s->second[l] += d * d;
    }
}

/* Returns the mean of a row, in float. */
static LD_INLINE float rough_mean(const float *x, int64_t k)
{
    const int64_t whole = k / LANES * LANES;
    float lane[LANES] = {0};
    for (int64_t j = 0; j < whole; j += LANES) {
        LD_ONE_VECTOR
        for (int l = 0; l < LANES; l++)
            lane[l] += x[j + l];
    }
    for (int64_t j = whole; j < k; j++)
        lane[j - whole] += x[j];
    return total_of(lane) / (float)k;
}

/* Computes the mean of the distances to the rough mean, and 1 / the deviation. */
static LD_INLINE void moments_of_distances(float *missing, float *inverse, const float *x,
                                           float rough, double eps, int64_t k)
{
    const int64_t whole = k / LANES * LANES;
    row_sums s = {{0}, {0}};
    for (int64_t j = 0; j < whole; j += LANES)
        add_distances(&s, x, rough, j, LANES);
    add_distances(&s, x, rough, whole, (int)(k - whole));
    double rest = total_of(s.first) / (double)k;
    double variance = total_of(s.second) / (double)k - rest * rest;
    *missing = (float)rest;
    *inverse = (float)(1.0 / sqrt((variance < 0 ? 0 : variance) + eps)); /* < 0 by rounding only */
}

/* The sum of a row in float gives a rough mean only; the distances to it are summed for what is
 * missing, and their squares for the variance. So a row of almost equal numbers loses nothing. */
LD_CLONES(layer_norm)
{
    const layer_norm_args *p = ctx;
    const int64_t k = p->n_cols;
    for (int64_t first = begin; first < end; first += BLOCK) {
        const int64_t count = end - first < BLOCK ? end - first : BLOCK;
        const float *x = p->x + first * k;
        float *y = p->y + first * k, rough[BLOCK], missing[BLOCK],
              *inverse = p->row_inverse + first;
        for (int64_t r = 0; r < count; r++)
            rough[r] = rough_mean(x + r * k, k);
        for (int64_t r = 0; r < count; r++)
            moments_of_distances(&missing[r], &inverse[r], x + r * k, rough[r], p->eps, k);
        for (int64_t r = 0; r < count; r++) {
            const float here = rough[r], rest = missing[r], scale = inverse[r];
            LD_INDEPENDENT /* x and y may be the same memory */
            for (int64_t j = 0; j < k; j++)
                y[r * k + j] = ((x[r * k + j] - here) - rest) * scale * p->gain[j] + p->bias[j];
            p->row_mean[first + r] = here + rest;
        }
    }
}

ld_status ld_layer_norm(float *y, float *mean, float *inverse, const float *x, const float *gain,
                        const float *bias, double eps, int64_t n_rows, int64_t n_cols)
{
    layer_norm_args p = {.y = y,
                         .x = x,
                         .gain = gain,
                         .bias = bias,
                         .row_mean = mean,
                         .row_inverse = inverse,
                         .eps = eps,
                         .n_cols = n_cols};
    return ld_parallel_for(n_rows, GRAIN, layer_norm, &p);
}

/* Adds `count` terms to the lanes, those of elements from j on of row r: h, and h * n. */
static LD_INLINE void add_gradients(row_sums *s, const layer_norm_args *p, int64_t r, int64_t j,
                                    int count)
{
    const float *x = p->x + r * p->n_cols + j, *dy = p->dy + r * p->n_cols + j;
    LD_ONE_VECTOR
    for (int l = 0; l < count; l++) {
        float h = dy[l] * p->gain[j + l], n = (x[l] - p->of_mean[r]) * p->of_inverse[r];
        s->first[l] += h;
        s->second[l] += h * n;
    }
}

/* Computes the means of h and of h * n over row r. */
static LD_INLINE void means_of_gradients(float *h_mean, float *hn_mean, const layer_norm_args *p,
                                         int64_t r)
{
    const int64_t k = p->n_cols, whole = k / LANES * LANES;
    row_sums s = {{0}, {0}};
    for (int64_t j = 0; j < whole; j += LANES)
        add_gradients(&s, p, r, j, LANES);
    add_gradients(&s, p, r, whole, (int)(k - whole));
    *h_mean = total_of(s.first) / (float)k;
    *hn_mean = total_of(s.second) / (float)k;
}

static LD_INLINE void layer_norm_dx(const layer_norm_args *p, int64_t r, float h_mean,
                                    float hn_mean, bool add)
{
    const int64_t k = p->n_cols;
    const float *x = p->x + r * k, *dy = p->dy + r * k;
    const float mean = p->of_mean[r], inverse = p->of_inverse[r];
    float *dx = p->y + r * k;
    LD_INDEPENDENT /* dx and dy may be the same memory */
    for (int64_t j = 0; j < k; j++) {
        float n = (x[j] - mean) * inverse;
        float d = (dy[j] * p->gain[j] - h_mean - n * hn_mean) * inverse;
        dx[j] = add ? dx[j] + d : d;
    }
}

LD_CLONES(layer_norm_backward)
{
    const layer_norm_args *p = ctx;
    for (int64_t first = begin; first < end; first += BLOCK) {
        const int64_t count = end - first < BLOCK ? end - first : BLOCK;
        float h_mean[BLOCK], hn_mean[BLOCK];
        for (int64_t r = 0; r < count; r++)
            means_of_gradients(&h_mean[r], &hn_mean[r], p, first + r);
        for (int64_t r = 0; r < count; r++) {
            if (p->accumulate)
                layer_norm_dx(p, first + r, h_mean[r], hn_mean[r], true);
            else
                layer_norm_dx(p, first + r, h_mean[r], hn_mean[r], false);
        }
    }
}

ld_status ld_layer_norm_backward(float *dx, const float *dy, const float *x, const float *gain,
                                 const float *mean, const float *inverse, int64_t n_rows,
                                 int64_t n_cols, bool accumulate)
{
    layer_norm_args p = {.y = dx,
                         .x = x,
                         .dy = dy,
                         .gain = gain,
                         .of_mean = mean,
                         .of_inverse = inverse,
                         .n_cols = n_cols,
                         .accumulate = accumulate};
    return ld_parallel_for(n_rows, GRAIN, layer_norm_backward, &p);
}

/* Sums over the rows: those of a block in float, and those sums in double. */
static LD_INLINE void layer_norm_sums(const layer_norm_args *p, int64_t first, int64_t width)
{
    double dgain[COLS] = {0}, dbias[COLS] = {0};
    for (int64_t block = 0; block < p->n_rows; block += SUMMED) {
        const int64_t end = p->n_rows - block < SUMMED ? p->n_rows : block + SUMMED;
        float products[COLS] = {0}, values[COLS] = {0};
        for (int64_t r = block; r < end; r++) {
            const float *x = p->x + r * p->n_cols + first, *dy = p->dy + r * p->n_cols + first;
            for (int64_t j = 0; j < width; j++) {
                products[j] += dy[j] * ((x[j] - p->of_mean[r]) * p->of_inverse[r]);
                values[j] += dy[j];
            }
        }
        for (int64_t j = 0; j < width; j++) {
            dgain[j] += products[j];
            dbias[j] += values[j];
        }
    }
    for (int64_t j = 0; j < width; j++) {
        p->dgain[first + j] = dgain[j];
        p->dbias[first + j] = dbias[j];
    }
}

LD_CLONES(layer_norm_parameters)
{
    if (end - begin == COLS)
        layer_norm_sums(ctx, begin, COLS);
    else
        layer_norm_sums(ctx, begin, end - begin);
}

ld_status ld_layer_norm_parameters(double *dgain, double *dbias, const float *dy, const float *x,
                                   const float *mean, const float *inverse, int64_t n_rows,
                                   int64_t n_cols)
{
    layer_norm_args p = {.dgain = dgain,
                         .dbias = dbias,
                         .dy = dy,
                         .x = x,
                         .of_mean = mean,
                         .of_inverse = inverse,
                         .n_rows = n_rows,
                         .n_cols = n_cols};
    return ld_parallel_for(n_cols, COLS, layer_norm_parameters, &p);
}

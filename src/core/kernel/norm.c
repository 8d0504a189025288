#include "kernel/norm.h"

#include <math.h>

#include "kernel/chains.h"
#include "system/simd.h"
#include "system/threads.h"

enum {
    GRAIN = 64,        /* rows */
    COLS = 32,         /* columns whose sums stay in registers */
    BLOCK = LD_CHAINS, /* rows whose sums are made before anything is computed with them */
    SIDE = 4,          /* rows side by side, for which what belongs to a column is loaded once */
    LANES = 16,        /* of a sum in float */
    SUMMED = 32        /* rows that are summed in float */
};

/* The arguments of all kernels here; each has some of them. */
typedef struct {
    float *y; /* or dx */
    const float *x, *dy, *gain, *bias;
    float *row_mean, *row_inverse;
    const float *of_mean, *of_inverse; /* the means and inverses that backward reads */
    const double *mean, *inverse;      /* one for each column */
    double *dgain, *dbias;
    double eps;
    int64_t n_rows, n_cols;
    bool accumulate;
} norm;

/* --- layer norm ------------------------------------------------------------------------------- */

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
    const norm *p = ctx;
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
    norm p = {.y = y,
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
static LD_INLINE void add_gradients(row_sums *s, const norm *p, int64_t r, int64_t j, int count)
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
static LD_INLINE void means_of_gradients(float *h_mean, float *hn_mean, const norm *p, int64_t r)
{
    const int64_t k = p->n_cols, whole = k / LANES * LANES;
    row_sums s = {{0}, {0}};
    for (int64_t j = 0; j < whole; j += LANES)
        add_gradients(&s, p, r, j, LANES);
    add_gradients(&s, p, r, whole, (int)(k - whole));
    *h_mean = total_of(s.first) / (float)k;
    *hn_mean = total_of(s.second) / (float)k;
}

static LD_INLINE void layer_norm_dx(const norm *p, int64_t r, float h_mean, float hn_mean, bool add)
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
    const norm *p = ctx;
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
    norm p = {.y = dx,
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
static LD_INLINE void layer_norm_sums(const norm *p, int64_t first, int64_t width)
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
    norm p = {.dgain = dgain,
              .dbias = dbias,
              .dy = dy,
              .x = x,
              .of_mean = mean,
              .of_inverse = inverse,
              .n_rows = n_rows,
              .n_cols = n_cols};
    return ld_parallel_for(n_cols, COLS, layer_norm_parameters, &p);
}

/* --- moments ---------------------------------------------------------------------------------- */

static LD_INLINE void moments_of_columns(const norm *p, int64_t first, int64_t width)
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
        p->dbias[first + j] = mean[j];
        p->dgain[first + j] = variance[j] / (double)p->n_rows;
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
    norm p = {.dbias = mean, .dgain = variance, .x = x, .n_rows = n_rows, .n_cols = n_cols};
    return ld_parallel_for(n_cols, COLS, column_moments, &p);
}

/* Returns the mean over row r, in eight lanes, of x or, with `squares`, of the squares of its
 * distances to `mean`. */
static LD_INLINE double mean_of_row(const norm *p, int64_t r, double mean, bool squares)
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
    const norm *p = ctx;
    for (int64_t r = begin; r < end; r++) {
        p->dbias[r] = mean_of_row(p, r, 0, false);
        p->dgain[r] = mean_of_row(p, r, p->dbias[r], true);
    }
}

ld_status ld_row_moments(double *mean, double *variance, const float *x, int64_t n_rows,
                         int64_t n_cols)
{
    norm p = {.dbias = mean, .dgain = variance, .x = x, .n_cols = n_cols};
    return ld_parallel_for(n_rows, GRAIN, row_moments, &p);
}

/* Computes a row of ld_moments_backward. `inverse` holds the factors; they and the means lie `step`
 * apart along a row. */
static LD_INLINE void moments_backward_row(const norm *p, int64_t r, int64_t step)
{
    const int64_t first = step ? 0 : r, k = p->n_cols;
    const double *factor = p->inverse + first, *mean = p->mean + first;
    const float *x = p->x + r * k;
    float *dx = p->y + r * k;
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
    norm p = {.y = dx,
              .x = x,
              .inverse = factor,
              .mean = mean,
              .n_cols = n_cols,
              .accumulate = accumulate};
    ld_loop_fn *moments_backward = of_rows ? row_moments_backward : column_moments_backward;
    return ld_parallel_for(n_rows, GRAIN, moments_backward, &p);
}

/* --- batch norm ------------------------------------------------------------------------------- */

/* Computes y of `count` rows from r on. */
static LD_INLINE void normalize(const norm *p, int64_t r, int count)
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
    const norm *p = ctx;
    int64_t r = begin;
    for (; r + SIDE <= end; r += SIDE)
        normalize(p, r, SIDE);
    for (; r < end; r++)
        normalize(p, r, 1);
}

ld_status ld_batch_norm(float *y, const float *x, const double *mean, const double *inverse,
                        const float *gain, const float *bias, int64_t n_rows, int64_t n_cols)
{
    norm p = {.y = y,
              .x = x,
              .mean = mean,
              .inverse = inverse,
              .gain = gain,
              .bias = bias,
              .n_cols = n_cols};
    return ld_parallel_for(n_rows, GRAIN, batch_norm, &p);
}

static LD_INLINE void parameters_of_columns(const norm *p, int64_t first, int64_t width)
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
    norm p = {.dgain = dgain,
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
    const norm *p = ctx;
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
    norm p = {.y = dx,
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

/* --- rows of length 1 ------------------------------------------------------------------------- */

LD_CLONES(normalize_rows)
{
    const norm *p = ctx;
    const int64_t k = p->n_cols;
    for (int64_t first = begin; first < end; first += BLOCK) {
        int64_t count = end - first < BLOCK ? end - first : BLOCK;
        const float *x = p->x + first * k;
        float *y = p->y + first * k;
        double squares[BLOCK];
        ld_sum_rows(squares, x, x, LD_PRODUCTS, count, k);
        for (int64_t r = 0; r < count; r++) {
            double inverse = squares[r] > 0 ? 1.0 / sqrt(squares[r]) : 0.0;
            p->row_inverse[first + r] = (float)inverse;
            LD_INDEPENDENT /* x and y may be the same memory */
            for (int64_t i = r * k; i < (r + 1) * k; i++)
                y[i] = (float)(x[i] * inverse);
        }
    }
}

ld_status ld_normalize_rows(float *y, float *inverse, const float *x, int64_t n_rows,
                            int64_t n_cols)
{
    norm p = {.y = y, .row_inverse = inverse, .x = x, .n_cols = n_cols};
    return ld_parallel_for(n_rows, GRAIN, normalize_rows, &p);
}

LD_CLONES(normalize_rows_backward)
{
    const norm *p = ctx;
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
    norm p = {.y = dx,
              .dy = dy,
              .x = y,
              .of_inverse = inverse,
              .n_cols = n_cols,
              .accumulate = accumulate};
    return ld_parallel_for(n_rows, GRAIN, normalize_rows_backward, &p);
}

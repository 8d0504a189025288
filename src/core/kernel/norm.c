#include "kernel/norm.h"

#include <math.h>

#include "kernel/chains.h"
#include "system/simd.h"
#include "system/threads.h"

enum {
    GRAIN = 64,        /* rows */
    COLS = 32,         /* columns whose sums stay in registers */
    BLOCK = LD_CHAINS, /* rows whose sums are made before anything is computed with them */
    SIDE = 4           /* rows side by side, for which what belongs to a column is loaded once */
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

/* --- what layer norm and batch norm have in common -------------------------------------------- */

/* Computes y = (x - mean) * inverse * gain + bias for `count` rows from r on. mean and inverse have
 * an element for each of these rows or, without of_rows, for each column. */
static LD_INLINE void normalize(const norm *p, int64_t r, int count, const double *mean,
                                const double *inverse, bool of_rows)
{
    const int64_t k = p->n_cols;
    const float *x = p->x + r * k;
    float *y = p->y + r * k;
    LD_INDEPENDENT /* x and y may be the same memory */
    for (int64_t j = 0; j < k; j++) {
        double gain = p->gain[j], bias = p->bias[j];
        for (int i = 0; i < count; i++) {
            int64_t at = of_rows ? i : j;
            y[i * k + j] = (float)((x[i * k + j] - mean[at]) * inverse[at] * gain + bias);
        }
    }
}

static LD_INLINE void parameters_of_columns(const norm *p, int64_t first, int64_t width,
                                            bool of_rows)
{
    double dgain[COLS] = {0}, dbias[COLS] = {0};
    for (int64_t r = 0; r < p->n_rows; r++) {
        const float *x = p->x + r * p->n_cols + first, *dy = p->dy + r * p->n_cols + first;
        for (int64_t j = 0; j < width; j++) {
            /* The differences and products of batch norm are rounded to float. */
            double product = of_rows ? dy[j] * (x[j] - (double)p->of_mean[r])
                                     : dy[j] * (x[j] - p->of_mean[first + j]);
            dgain[j] += product * (of_rows ? p->of_inverse[r] : p->inverse[first + j]);
            dbias[j] += dy[j];
        }
    }
    for (int64_t j = 0; j < width; j++) {
        p->dgain[first + j] = dgain[j];
        p->dbias[first + j] = dbias[j];
    }
}

/* --- sums over a row --------------------------------------------------------------------------- */

/* What is summed, in eight lanes: x, or the square of its distance to the mean; in backward h = gain *
 * dy, or h * (x - mean) * inverse. */
typedef enum { VALUES, SQUARES, GRADIENTS, PRODUCTS } summand;

static LD_INLINE double term(const norm *p, int64_t r, int64_t j, double mean, double inverse,
                             summand kind)
{
    const int64_t at = r * p->n_cols + j;
    if (kind == VALUES)
        return p->x[at];
    if (kind == SQUARES)
        return (p->x[at] - mean) * (p->x[at] - mean);
    double h = (double)p->dy[at] * p->gain[j];
    return kind == GRADIENTS ? h : h * (p->x[at] - mean) * inverse;
}

/* Returns the mean over row r. The row's mean and the inverse of its deviation are read where the
 * summand has them. */
static LD_INLINE double mean_of_row(const norm *p, int64_t r, double mean, double inverse,
                                    summand kind)
{
    double lane[LD_LANES] = {0};
    const int64_t k = p->n_cols;
    int64_t j = 0;
    for (; j + LD_LANES <= k; j += LD_LANES)
        for (int i = 0; i < LD_LANES; i++)
            lane[i] += term(p, r, j + i, mean, inverse, kind);
    for (; j < k; j++)
        lane[0] += term(p, r, j, mean, inverse, kind);
    return ld_lanes_total(lane) / (double)k;
}

/* --- layer norm ------------------------------------------------------------------------------- */

LD_CLONES(layer_norm)
{
    const norm *p = ctx;
    for (int64_t first = begin; first < end; first += BLOCK) {
        const int64_t count = end - first < BLOCK ? end - first : BLOCK;
        double mean[BLOCK], inverse[BLOCK];
        for (int64_t r = 0; r < count; r++)
            mean[r] = mean_of_row(p, first + r, 0, 0, VALUES);
        for (int64_t r = 0; r < count; r++) {
            double variance = mean_of_row(p, first + r, mean[r], 0, SQUARES);
            inverse[r] = 1.0 / sqrt(variance + p->eps);
        }
        int64_t r = 0;
        for (; r + SIDE <= count; r += SIDE)
            normalize(p, first + r, SIDE, mean + r, inverse + r, true);
        for (; r < count; r++)
            normalize(p, first + r, 1, mean + r, inverse + r, true);
        for (r = 0; r < count; r++) {
            p->row_mean[first + r] = (float)mean[r];
            p->row_inverse[first + r] = (float)inverse[r];
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

/* Computes dx of `count` rows from r on, of which h_mean and hn_mean are the means of h and of h * n. */
static LD_INLINE void layer_norm_dx(const norm *p, int64_t r, int count, const double *h_mean,
                                    const double *hn_mean, bool add)
{
    const int64_t k = p->n_cols;
    const float *x = p->x + r * k, *dy = p->dy + r * k;
    float *dx = p->y + r * k;
    LD_INDEPENDENT /* dx and dy may be the same memory */
    for (int64_t j = 0; j < k; j++) {
        double gain = p->gain[j];
        for (int i = 0; i < count; i++) {
            int64_t at = i * k + j;
            double mean = p->of_mean[r + i], inverse = p->of_inverse[r + i];
            double h = dy[at] * gain, n = (x[at] - mean) * inverse;
            float d = (float)((h - h_mean[i] - n * hn_mean[i]) * inverse);
            dx[at] = add ? dx[at] + d : d;
        }
    }
}

static LD_INLINE void layer_norm_backward_rows(const norm *p, int64_t begin, int64_t end, bool add)
{
    for (int64_t first = begin; first < end; first += BLOCK) {
        const int64_t count = end - first < BLOCK ? end - first : BLOCK;
        double h_mean[BLOCK], hn_mean[BLOCK];
        for (int64_t r = 0; r < count; r++)
            h_mean[r] = mean_of_row(p, first + r, 0, 0, GRADIENTS);
        for (int64_t r = 0; r < count; r++)
            hn_mean[r] = mean_of_row(p, first + r, p->of_mean[first + r], p->of_inverse[first + r],
                                     PRODUCTS);
        int64_t r = 0;
        for (; r + SIDE <= count; r += SIDE)
            layer_norm_dx(p, first + r, SIDE, h_mean + r, hn_mean + r, add);
        for (; r < count; r++)
            layer_norm_dx(p, first + r, 1, h_mean + r, hn_mean + r, add);
    }
}

LD_CLONES(layer_norm_backward)
{
    const norm *p = ctx;
    if (p->accumulate)
        layer_norm_backward_rows(p, begin, end, true);
    else
        layer_norm_backward_rows(p, begin, end, false);
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

LD_CLONES(layer_norm_parameters)
{
    if (end - begin == COLS)
        parameters_of_columns(ctx, begin, COLS, true);
    else
        parameters_of_columns(ctx, begin, end - begin, true);
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

LD_CLONES(row_moments)
{
    const norm *p = ctx;
    for (int64_t r = begin; r < end; r++) {
        p->dbias[r] = mean_of_row(p, r, 0, 0, VALUES);
        p->dgain[r] = mean_of_row(p, r, p->dbias[r], 0, SQUARES);
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

LD_CLONES(batch_norm)
{
    const norm *p = ctx;
    int64_t r = begin;
    for (; r + SIDE <= end; r += SIDE)
        normalize(p, r, SIDE, p->mean, p->inverse, false);
    for (; r < end; r++)
        normalize(p, r, 1, p->mean, p->inverse, false);
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

LD_CLONES(batch_norm_parameters)
{
    if (end - begin == COLS)
        parameters_of_columns(ctx, begin, COLS, false);
    else
        parameters_of_columns(ctx, begin, end - begin, false);
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

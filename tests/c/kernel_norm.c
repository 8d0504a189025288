/* Layer norm, batch norm and rows of length 1 with their gradients, against loops over one row or column
 * alone. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "check.h"
#include "kernel/batch_norm.h"
#include "kernel/layer_norm.h"
#include "kernel/moments.h"
#include "kernel/unit_rows.h"

static const double eps = 1e-3;

/* The sum of n terms in eight lanes, what is left over in the first; lanes are added in pairs. */
static double in_lanes(const double *term, int64_t n)
{
    double lane[8] = {0};
    for (int64_t i = 0; i < n; i++)
        lane[i < n / 8 * 8 ? i % 8 : 0] += term[i];
    return ((lane[0] + lane[1]) + (lane[2] + lane[3])) +
           ((lane[4] + lane[5]) + (lane[6] + lane[7]));
}

typedef struct {
    int64_t n, k;
    float *x, *dy, *gain, *bias; /* given */
    float *y, *dx, *want, *want_dx, *mean, *inverse, *want_mean, *want_inverse;
    double *term, *of_gain, *of_bias, *want_gain, *want_bias;
} norm_case;

static norm_case new_case(int64_t n, int64_t k, numbers kind)
{
    int64_t size = n > k ? n : k;
    norm_case c = {n,
                   k,
                   new_floats(n * k, kind),
                   new_floats(n * k, kind),
                   new_floats(k, ORDINARY),
                   new_floats(k, ORDINARY),
                   new_floats(n * k, ORDINARY),
                   new_floats(n * k, ORDINARY),
                   new_floats(n * k, ORDINARY),
                   NULL,
                   new_floats(size, ORDINARY),
                   new_floats(size, ORDINARY),
                   new_floats(size, ORDINARY),
                   new_floats(size, ORDINARY),
                   .term = new_block(5 * (size + 1), sizeof(double))};
    c.want_dx = copy_floats(c.dx, n * k);
    c.of_gain = c.term + size + 1;
    c.of_bias = c.of_gain + size + 1;
    c.want_gain = c.of_bias + size + 1;
    c.want_bias = c.want_gain + size + 1;
    return c;
}

/* --- layer norm --------------------------------------------------------------------------------- */

/* The sum of n terms in sixteen lanes of float; lanes are added half to half, then in pairs. */
static float in_floats(const double *term, int64_t n)
{
    float lane[16] = {0};
    for (int64_t i = 0; i < n; i++)
        lane[i % 16] += (float)term[i];
    for (int l = 0; l < 8; l++)
        lane[l] += lane[l + 8];
    return ((lane[0] + lane[1]) + (lane[2] + lane[3])) +
           ((lane[4] + lane[5]) + (lane[6] + lane[7]));
}

static void plain_layer_norm(const norm_case *c, int64_t r)
{
    const float *x = c->x + r * c->k;
    for (int64_t j = 0; j < c->k; j++)
        c->term[j] = x[j];
    const float rough = in_floats(c->term, c->k) / (float)c->k;
    for (int64_t j = 0; j < c->k; j++)
        c->term[j] = x[j] - rough;
    const double rest = in_floats(c->term, c->k) / (double)c->k;
    for (int64_t j = 0; j < c->k; j++)
        c->term[j] = (x[j] - rough) * (x[j] - rough);
    double variance = in_floats(c->term, c->k) / (double)c->k - rest * rest;
    const float missing = (float)rest;
    const float inverse = (float)(1.0 / sqrt((variance < 0 ? 0 : variance) + eps));
    for (int64_t j = 0; j < c->k; j++)
        c->want[r * c->k + j] = ((x[j] - rough) - missing) * inverse * c->gain[j] + c->bias[j];
    c->want_mean[r] = rough + missing;
    c->want_inverse[r] = inverse;
}

static void plain_layer_norm_backward(const norm_case *c, int64_t r, bool accumulate)
{
    const float *x = c->x + r * c->k, *dy = c->dy + r * c->k;
    const float mean = c->want_mean[r], inverse = c->want_inverse[r];
    for (int64_t j = 0; j < c->k; j++)
        c->term[j] = dy[j] * c->gain[j];
    const float h_mean = in_floats(c->term, c->k) / (float)c->k;
    for (int64_t j = 0; j < c->k; j++)
        c->term[j] = dy[j] * c->gain[j] * ((x[j] - mean) * inverse);
    const float hn_mean = in_floats(c->term, c->k) / (float)c->k;
    for (int64_t j = 0; j < c->k; j++) {
        float n = (x[j] - mean) * inverse, *to = &c->want_dx[r * c->k + j];
        float d = (dy[j] * c->gain[j] - h_mean - n * hn_mean) * inverse;
        *to = accumulate ? *to + d : d;
    }
}

/* Sums over the rows of column j, 32 of them at a time in float. */
static void plain_layer_norm_parameters(const norm_case *c, int64_t j)
{
    float products = 0, values = 0;
    c->want_gain[j] = c->want_bias[j] = 0;
    for (int64_t r = 0; r < c->n; r++) {
        int64_t i = r * c->k + j;
        products += c->dy[i] * ((c->x[i] - c->want_mean[r]) * c->want_inverse[r]);
        values += c->dy[i];
        if (r % 32 == 31 || r == c->n - 1) {
            c->want_gain[j] += products;
            c->want_bias[j] += values;
            products = values = 0;
        }
    }
}

static void check_layer_norm(norm_case *c)
{
    int64_t n = c->n, k = c->k;
    ld_layer_norm(c->y, c->mean, c->inverse, c->x, c->gain, c->bias, eps, n, k);
    for (int64_t r = 0; r < n; r++)
        plain_layer_norm(c, r);
    check(same_floats(c->y, c->want, n * k) && same_floats(c->mean, c->want_mean, n) &&
              same_floats(c->inverse, c->want_inverse, n),
          "layer norm of %" PRId64 " x %" PRId64, n, k);
    for (int accumulate = 1; accumulate >= 0; accumulate--) {
        ld_layer_norm_backward(c->dx, c->dy, c->x, c->gain, c->mean, c->inverse, n, k, accumulate);
        for (int64_t r = 0; r < n; r++)
            plain_layer_norm_backward(c, r, accumulate);
        check(same_floats(c->dx, c->want_dx, n * k), "its gradient, accumulate %d", accumulate);
    }
    ld_layer_norm_parameters(c->of_gain, c->of_bias, c->dy, c->x, c->mean, c->inverse, n, k);
    for (int64_t j = 0; j < k; j++)
        plain_layer_norm_parameters(c, j);
    check(same_doubles(c->of_gain, c->want_gain, k) && same_doubles(c->of_bias, c->want_bias, k),
          "those of its parameters, %" PRId64 " x %" PRId64, n, k);
    memcpy(c->y, c->x, (size_t)(n * k) * sizeof(float));
    ld_layer_norm(c->y, c->mean, c->inverse, c->y, c->gain, c->bias, eps, n, k);
    check(same_floats(c->y, c->want, n * k), "layer norm in place");
}

static double largest(double a, double b)
{
    return a > b ? a : b;
}

/* Layer norm and its gradient are as near to what double gives as float allows; layer norm also
 * where all numbers of a row are near one that is far from 0. */
static void check_layer_norm_in_double(float offset)
{
    enum { ROWS = 33, COLUMNS = 300 };
    norm_case c = new_case(ROWS, COLUMNS, ORDINARY);
    double wrong = 0, wrong_gradient = 0;
    for (int64_t i = 0; i < ROWS * COLUMNS; i++)
        c.x[i] += offset;
    ld_layer_norm(c.y, c.mean, c.inverse, c.x, c.gain, c.bias, eps, ROWS, COLUMNS);
    ld_layer_norm_backward(c.dx, c.dy, c.x, c.gain, c.mean, c.inverse, ROWS, COLUMNS, false);
    for (int64_t r = 0; r < ROWS; r++) {
        const float *x = c.x + r * COLUMNS, *dy = c.dy + r * COLUMNS;
        double mean = 0, variance = 0, h_mean = 0, hn_mean = 0;
        for (int64_t j = 0; j < COLUMNS; j++)
            mean += x[j] / (double)COLUMNS;
        for (int64_t j = 0; j < COLUMNS; j++)
            variance += (x[j] - mean) * (x[j] - mean) / COLUMNS;
        const double inverse = 1 / sqrt(variance + eps);
        for (int64_t j = 0; j < COLUMNS; j++) {
            double h = (double)dy[j] * c.gain[j], n = (x[j] - mean) * inverse;
            h_mean += h / COLUMNS;
            hn_mean += h * n / COLUMNS;
            wrong = largest(wrong, fabs(c.y[r * COLUMNS + j] - n * c.gain[j] - c.bias[j]));
        }
        for (int64_t j = 0; j < COLUMNS; j++) {
            double h = (double)dy[j] * c.gain[j], n = (x[j] - mean) * inverse;
            double want = (h - h_mean - n * hn_mean) * inverse;
            wrong_gradient = largest(wrong_gradient, fabs(c.dx[r * COLUMNS + j] - want));
        }
    }
    check(wrong < 2e-6, "layer norm about %g is off by %g", (double)offset, wrong);
    check(offset != 0 || wrong_gradient < 2e-6, "its gradient is off by %g", wrong_gradient);
}

/* --- batch norm --------------------------------------------------------------------------------- */

static void check_batch_norm(norm_case *c)
{
    int64_t n = c->n, k = c->k;
    double *mean = c->term, *inverse = new_block(k, sizeof *inverse);
    if (n == 0)
        goto done;
    ld_column_moments(c->of_gain, c->of_bias, c->x, n, k);
    for (int64_t j = 0; j < k; j++) {
        double sum = 0, squares = 0;
        for (int64_t r = 0; r < n; r++)
            sum += c->x[r * k + j];
        mean[j] = sum / (double)n;
        for (int64_t r = 0; r < n; r++)
            squares += (c->x[r * k + j] - mean[j]) * (c->x[r * k + j] - mean[j]);
        c->want_gain[j] = squares / (double)n;
        inverse[j] = 1.0 / sqrt(c->want_gain[j] + eps);
        c->want_mean[j] = (float)mean[j];
    }
    check(same_doubles(c->of_gain, mean, k) && same_doubles(c->of_bias, c->want_gain, k),
          "moments of the columns of %" PRId64 " x %" PRId64, n, k);
    ld_batch_norm(c->y, c->x, mean, inverse, c->gain, c->bias, n, k);
    for (int64_t i = 0; i < n * k; i++) {
        int64_t j = i % k;
        c->want[i] = (float)((c->x[i] - mean[j]) * inverse[j] * c->gain[j] + c->bias[j]);
    }
    check(same_floats(c->y, c->want, n * k), "batch norm of %" PRId64 " x %" PRId64, n, k);
    ld_batch_norm_parameters(c->of_gain, c->of_bias, c->dy, c->x, c->want_mean, inverse, n, k);
    for (int64_t j = 0; j < k; j++) {
        c->want_gain[j] = c->want_bias[j] = 0;
        for (int64_t i = j; i < n * k; i += k) {
            c->want_gain[j] += c->dy[i] * (c->x[i] - c->want_mean[j]) * inverse[j];
            c->want_bias[j] += c->dy[i];
        }
    }
    check(same_doubles(c->of_gain, c->want_gain, k) && same_doubles(c->of_bias, c->want_bias, k),
          "gradients of its parameters, %" PRId64 " x %" PRId64, n, k);
    for (int accumulate = 1; accumulate >= 0; accumulate--) {
        if (!accumulate)
            memcpy(c->dx, c->dy, (size_t)(n * k) * sizeof(float)); /* dx may be dy */
        ld_batch_norm_backward(c->dx, accumulate ? c->dy : c->dx, c->x, c->gain, c->want_mean,
                               inverse, c->want_gain, c->want_bias, n, k, accumulate);
        for (int64_t i = 0; i < n * k; i++) {
            int64_t j = i % k;
            double z = (c->x[i] - c->want_mean[j]) * inverse[j];
            double of_sums = (c->want_bias[j] + z * c->want_gain[j]) / (double)n;
            float d = (float)(c->gain[j] * inverse[j] * (c->dy[i] - of_sums));
            c->want_dx[i] = accumulate ? c->want_dx[i] + d : d;
        }
        check(same_floats(c->dx, c->want_dx, n * k), "its gradient, accumulate %d", accumulate);
    }
done:
}

/* --- moments of rows, and gradients of variances -------------------------------------------------- */

static void check_moments(norm_case *c)
{
    const int64_t n = c->n, k = c->k;
    double *mean = new_block(n + k + 1, sizeof *mean);
    double *variance = new_block(n + k + 1, sizeof *variance);
    bool same = true;
    if (k > 0)
        ld_row_moments(mean, variance, c->x, n, k);
    for (int64_t r = 0; r < n && k > 0; r++) {
        for (int64_t j = 0; j < k; j++)
            c->term[j] = c->x[r * k + j];
        double m = in_lanes(c->term, k) / (double)k;
        for (int64_t j = 0; j < k; j++)
            c->term[j] = (c->x[r * k + j] - m) * (c->x[r * k + j] - m);
        double v = in_lanes(c->term, k) / (double)k;
        same &= same_doubles(&mean[r], &m, 1) && same_doubles(&variance[r], &v, 1);
    }
    check(same, "moments of the rows of %" PRId64 " x %" PRId64, n, k);
    for (int64_t i = 0; i < n + k; i++) {
        mean[i] = (double)(i % 5) / 3;
        variance[i] = (double)(i % 7) - 2.5; /* the factors */
    }
    for (int way = 3; way >= 0; way--) {
        bool of_rows = way & 1, add = way & 2;
        ld_moments_backward(c->dx, c->x, variance, mean, n, k, of_rows, add);
        for (int64_t i = 0; i < n * k; i++) {
            int64_t line = of_rows ? i / k : i % k;
            float d = (float)(variance[line] * (c->x[i] - mean[line]));
            c->want_dx[i] = add ? c->want_dx[i] + d : d;
        }
        check(same_floats(c->dx, c->want_dx, n * k), "gradients of variances, way %d", way);
    }
}

/* --- rows of length 1 --------------------------------------------------------------------------- */

static void check_normalize_rows(norm_case *c)
{
    int64_t n = c->n, k = c->k;
    for (int64_t j = 0; j < k && n > 2; j++)
        c->x[2 * k + j] = 0; /* a row of zeros */
    ld_normalize_rows(c->y, c->inverse, c->x, n, k);
    for (int64_t r = 0; r < n; r++) {
        double square = 0;
        for (int64_t i = r * k; i < (r + 1) * k; i++)
            square += (double)c->x[i] * c->x[i];
        double inverse = square > 0 ? 1.0 / sqrt(square) : 0.0;
        for (int64_t i = r * k; i < (r + 1) * k; i++)
            c->want[i] = (float)(c->x[i] * inverse);
        c->want_inverse[r] = (float)inverse;
    }
    check(same_floats(c->y, c->want, n * k) && same_floats(c->inverse, c->want_inverse, n),
          "rows of length 1, %" PRId64 " x %" PRId64, n, k);
    for (int accumulate = 1; accumulate >= 0; accumulate--) {
        if (!accumulate)
            memcpy(c->dx, c->dy, (size_t)(n * k) * sizeof(float)); /* dx may be dy */
        ld_normalize_rows_backward(c->dx, accumulate ? c->dy : c->dx, c->want, c->inverse, n, k,
                                   accumulate);
        for (int64_t r = 0; r < n; r++) {
            double dot = 0, inverse = c->want_inverse[r];
            for (int64_t i = r * k; i < (r + 1) * k; i++)
                dot += (double)c->want[i] * c->dy[i];
            for (int64_t i = r * k; i < (r + 1) * k; i++) {
                float d = (float)((c->dy[i] - c->want[i] * dot) * inverse);
                c->want_dx[i] = accumulate ? c->want_dx[i] + d : d;
            }
        }
        check(same_floats(c->dx, c->want_dx, n * k), "their gradient, accumulate %d", accumulate);
    }
}

void test(void)
{
    static const int64_t shapes[][2] = {{0, 3}, {4, 0},   {1, 1},   {3, 7},
                                        {8, 8}, {17, 33}, {130, 67}};
    for (int i = 0; i < (int)(sizeof shapes / sizeof *shapes); i++)
        for (int kind = ORDINARY; kind <= SPECIAL; kind++) {
            norm_case c = new_case(shapes[i][0], shapes[i][1], (numbers)kind);
            check_layer_norm(&c);
            check_batch_norm(&c);
            memcpy(c.want_dx, c.dx, (size_t)(c.n * c.k) * sizeof(float));
            check_normalize_rows(&c);
            check_moments(&c);
        }
    check_layer_norm_in_double(0);
    check_layer_norm_in_double(1000);
}

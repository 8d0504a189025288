#include <math.h>

#include "base/simd.h"
#include "base/threads.h"
#include "grad/op.h"

enum { ROW_GRAIN = 64, LANES = 8, TILE = 128 };

/* Sums are in double, of every LANES-th element each, so that their loops vectorise. */
static inline __attribute__((always_inline)) double total(const double lane[LANES])
{
    return ((lane[0] + lane[1]) + (lane[2] + lane[3])) +
           ((lane[4] + lane[5]) + (lane[6] + lane[7]));
}

typedef struct {
    const ld_tensor *x, *gain, *bias;
    float *y;
    ld_tensor *mean, *inverse; /* of each row: its mean, and 1 / its deviation */
    double eps;
} layer_norm;

static inline __attribute__((always_inline)) double mean_of(const float *x, int64_t k)
{
    double lane[LANES] = {0};
    int64_t j = 0;
    for (; j + LANES <= k; j += LANES)
        for (int i = 0; i < LANES; i++)
            lane[i] += x[j + i];
    for (; j < k; j++)
        lane[0] += x[j];
    return total(lane) / (double)k;
}

static inline __attribute__((always_inline)) double variance_of(const float *x, double mean,
                                                                int64_t k)
{
    double lane[LANES] = {0};
    int64_t j = 0;
    for (; j + LANES <= k; j += LANES)
        for (int i = 0; i < LANES; i++)
            lane[i] += (x[j + i] - mean) * (x[j + i] - mean);
    for (; j < k; j++)
        lane[0] += (x[j] - mean) * (x[j] - mean);
    return total(lane) / (double)k;
}

LD_CLONES(layer_norm_rows)
{
    const layer_norm *p = ctx;
    const float *gain = p->gain->data, *bias = p->bias->data;
    int64_t k = p->x->n_cols;
    for (int64_t r = begin; r < end; r++) {
        const float *x = p->x->data + r * k;
        float *y = p->y + r * k;
        double mean = mean_of(x, k), inverse = 1.0 / sqrt(variance_of(x, mean, k) + p->eps);
        LD_INDEPENDENT
        for (int64_t j = 0; j < k; j++)
            y[j] = (float)((x[j] - mean) * inverse * gain[j] + bias[j]);
        p->mean->data[r] = (float)mean;
        p->inverse->data[r] = (float)inverse;
    }
}

typedef struct {
    const ld_tensor *x, *gain, *mean, *inverse, *g;
    float *dx;
    bool accumulate;
} layer_norm_dx;

/* With n = (x - mean) / deviation and h = gain * dy:
 * dx = (h - mean(h) - n * mean(h * n)) / deviation */
static inline __attribute__((always_inline)) void dx_row(const layer_norm_dx *p, int64_t r,
                                                         bool add)
{
    int64_t k = p->x->n_cols, j = 0;
    const float *x = p->x->data + r * k, *g = p->g->data + r * k, *gain = p->gain->data;
    float *dx = p->dx + r * k;
    double mean = p->mean->data[r], inverse = p->inverse->data[r];
    double of_h[LANES] = {0}, of_hn[LANES] = {0};
    for (; j + LANES <= k; j += LANES)
        for (int i = 0; i < LANES; i++) {
            double h = (double)g[j + i] * gain[j + i];
            of_h[i] += h;
            of_hn[i] += h * (x[j + i] - mean) * inverse;
        }
    for (; j < k; j++) {
        double h = (double)g[j] * gain[j];
        of_h[0] += h;
        of_hn[0] += h * (x[j] - mean) * inverse;
    }
    double h_mean = total(of_h) / (double)k, hn_mean = total(of_hn) / (double)k;
    LD_INDEPENDENT
    for (j = 0; j < k; j++) {
        double h = (double)g[j] * gain[j], normal = (x[j] - mean) * inverse;
        float d = (float)((h - h_mean - normal * hn_mean) * inverse);
        dx[j] = add ? dx[j] + d : d;
    }
}

LD_CLONES(layer_norm_dx_rows)
{
    const layer_norm_dx *p = ctx;
    for (int64_t r = begin; r < end; r++) {
        if (p->accumulate)
            dx_row(p, r, true);
        else
            dx_row(p, r, false);
    }
}

typedef struct {
    const ld_node *n;
    ld_tensor *gain, *bias; /* gradients, NULL where none is wanted */
} layer_norm_d;

/* dgain = sum over rows of dy * n,  dbias = sum over rows of dy: of a tile of columns */
LD_CLONES(parameter_columns)
{
    const layer_norm_d *p = ctx;
    const ld_tensor *x = p->n->in[0], *g = p->n->out->grad;
    double of_gain[TILE] = {0}, of_bias[TILE] = {0};
    int64_t width = end - begin;
    for (int64_t r = 0; r < x->n_rows; r++) {
        double mean = p->n->saved[0]->data[r], inverse = p->n->saved[1]->data[r];
        const float *row = x->data + r * x->n_cols + begin, *dy = g->data + r * x->n_cols + begin;
        for (int64_t j = 0; j < width; j++) {
            of_gain[j] += dy[j] * (row[j] - mean) * inverse;
            of_bias[j] += dy[j];
        }
    }
    for (int64_t j = 0; p->gain && j < width; j++)
        p->gain->data[begin + j] += (float)of_gain[j];
    for (int64_t j = 0; p->bias && j < width; j++)
        p->bias->data[begin + j] += (float)of_bias[j];
}

static ld_status layer_norm_parameters(ld_node *n)
{
    layer_norm_d p = {.n = n};
    ld_status st = LD_OK;
    if (ld_wants_grad(n->in[1]))
        LD_TRY(ld_grad_zeroed(n->in[1], &p.gain));
    if (ld_wants_grad(n->in[2]))
        LD_TRY(ld_grad_zeroed(n->in[2], &p.bias));
    if (p.gain || p.bias)
        st = ld_parallel_for(n->in[0]->n_cols, TILE, parameter_columns, &p);
done:
    return st;
}

static ld_status layer_norm_backward(ld_node *n)
{
    ld_status st = LD_OK;
    if (ld_wants_grad(n->in[0])) {
        ld_tensor *grad;
        layer_norm_dx p = {n->in[0], n->in[1], n->saved[0], n->saved[1], n->out->grad, NULL, false};
        LD_TRY(ld_grad_target(n->in[0], &grad, &p.accumulate));
        p.dx = grad->data;
        LD_TRY(ld_parallel_for(grad->n_rows, ROW_GRAIN, layer_norm_dx_rows, &p));
    }
    LD_TRY(layer_norm_parameters(n));
done:
    return st;
}

ld_status ld_op_layer_norm(ld_tape *tape, ld_tensor **out, ld_tensor *x, ld_tensor *gain,
                           ld_tensor *bias, double eps)
{
    if (x->ndim != 2 || gain->ndim != 1 || bias->ndim != 1 || gain->n_rows != x->n_cols ||
        bias->n_rows != x->n_cols)
        return ld_fail(LD_SHAPE,
                       "layer_norm: x is %s, gain %s and bias %s; vectors as long as a "
                       "row of x expected",
                       ld_tensor_shape(x), ld_tensor_shape(gain), ld_tensor_shape(bias));
    ld_tensor *y = NULL, *mean = NULL, *inverse = NULL;
    ld_node node = {.name = "layer_norm",
                    .backward = layer_norm_backward,
                    .unread = LD_IN2 | LD_OUT,
                    .in = {x, gain, bias}};
    ld_status st;
    LD_TRY(ld_tensor_like(&y, x));
    LD_TRY(ld_tensor_new(&mean, 1, x->n_rows, 1));
    LD_TRY(ld_tensor_new(&inverse, 1, x->n_rows, 1));
    node.saved[0] = mean;
    node.saved[1] = inverse;
    layer_norm p = {x, gain, bias, y->data, mean, inverse, eps};
    LD_TRY(ld_parallel_for(x->n_rows, ROW_GRAIN, layer_norm_rows, &p));
done:
    st = ld_tape_finish(tape, out, y, &node, st);
    ld_tensor_unref(mean);
    ld_tensor_unref(inverse);
    return st;
}

/* saved: 1 / length of each row, 0 for a zero row. dx = (dy - y (y . dy)) / length */
static ld_status normalize_rows_backward(ld_node *n)
{
    ld_tensor *grad;
    bool accumulate;
    ld_status st = ld_grad_pass(n, n->in[0], &grad, &accumulate);
    if (st != LD_OK)
        return st;
    int64_t k = grad->n_cols;
    for (int64_t r = 0; r < grad->n_rows; r++) {
        const float *y = n->out->data + r * k, *g = n->out->grad->data + r * k;
        double dot = 0, inverse = n->saved[0]->data[r];
        for (int64_t j = 0; j < k; j++)
            dot += (double)y[j] * g[j];
        for (int64_t j = 0; j < k; j++) {
            float d = (float)((g[j] - y[j] * dot) * inverse), *to = &grad->data[r * k + j];
            *to = accumulate ? *to + d : d;
        }
    }
    return LD_OK;
}

ld_status ld_op_normalize_rows(ld_tape *tape, ld_tensor **out, ld_tensor *x)
{
    if (x->ndim != 2)
        return ld_fail(LD_SHAPE, "normalize_rows: a matrix expected, got %s", ld_tensor_shape(x));
    ld_tensor *y = NULL, *saved = NULL;
    ld_node node = {
        .name = "normalize_rows", .backward = normalize_rows_backward, .unread = LD_IN0, .in = {x}};
    int64_t k = x->n_cols;
    ld_status st;
    LD_TRY(ld_tensor_like(&y, x));
    LD_TRY(ld_tensor_new(&saved, 1, x->n_rows, 1));
    node.saved[0] = saved;
    for (int64_t r = 0; r < x->n_rows; r++) {
        double square = 0;
        for (int64_t j = 0; j < k; j++)
            square += (double)x->data[r * k + j] * x->data[r * k + j];
        double inverse = square > 0 ? 1.0 / sqrt(square) : 0.0;
        saved->data[r] = (float)inverse;
        for (int64_t j = 0; j < k; j++)
            y->data[r * k + j] = (float)(x->data[r * k + j] * inverse);
    }
done:
    st = ld_tape_finish(tape, out, y, &node, st);
    ld_tensor_unref(saved);
    return st;
}

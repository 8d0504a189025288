#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "grad/op.h"

enum { ROW_GRAIN = 64 };

typedef struct {
    const ld_tensor *x, *gain, *bias;
    float *y;
    ld_tensor *mean, *inverse; /* of each row: its mean, and 1 / its deviation */
    double eps;
} layer_norm;

static void layer_norm_rows(void *ctx, int64_t begin, int64_t end)
{
    const layer_norm *p = ctx;
    int64_t k = p->x->n_cols;
    for (int64_t r = begin; r < end; r++) {
        const float *x = p->x->data + r * k;
        double mean = 0, square = 0;
        for (int64_t j = 0; j < k; j++)
            mean += x[j];
        mean /= (double)k;
        for (int64_t j = 0; j < k; j++)
            square += (x[j] - mean) * (x[j] - mean);
        double inverse = 1.0 / sqrt(square / (double)k + p->eps);
        for (int64_t j = 0; j < k; j++)
            p->y[r * k + j] =
                (float)((x[j] - mean) * inverse * p->gain->data[j] + p->bias->data[j]);
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
static void layer_norm_dx_rows(void *ctx, int64_t begin, int64_t end)
{
    const layer_norm_dx *p = ctx;
    int64_t k = p->x->n_cols;
    for (int64_t r = begin; r < end; r++) {
        const float *x = p->x->data + r * k, *g = p->g->data + r * k;
        float *dx = p->dx + r * k;
        double mean = p->mean->data[r], inverse = p->inverse->data[r];
        double h_mean = 0, hn_mean = 0;
        for (int64_t j = 0; j < k; j++) {
            double h = (double)g[j] * p->gain->data[j];
            h_mean += h;
            hn_mean += h * (x[j] - mean) * inverse;
        }
        h_mean /= (double)k;
        hn_mean /= (double)k;
        for (int64_t j = 0; j < k; j++) {
            double h = (double)g[j] * p->gain->data[j], normal = (x[j] - mean) * inverse;
            float d = (float)((h - h_mean - normal * hn_mean) * inverse);
            dx[j] = p->accumulate ? dx[j] + d : d;
        }
    }
}

/* dgain = sum over rows of dy * n,  dbias = sum over rows of dy, in double */
static ld_status layer_norm_parameters(ld_node *node)
{
    ld_tensor *x = node->in[0], *gain = node->in[1], *bias = node->in[2], *grad;
    const float *g = node->out->grad->data;
    int64_t k = x->n_cols;
    double *sums = ld_calloc_array(2 * k, sizeof *sums, LD_MEM_SCRATCH);
    ld_status st = sums ? LD_OK : LD_NOMEM;
    if (st != LD_OK)
        return st;
    for (int64_t r = 0; r < x->n_rows; r++) {
        double mean = node->saved[0]->data[r], inverse = node->saved[1]->data[r];
        for (int64_t j = 0; j < k; j++) {
            sums[j] += g[r * k + j] * (x->data[r * k + j] - mean) * inverse;
            sums[k + j] += g[r * k + j];
        }
    }
    for (int i = 0; i < 2; i++) {
        ld_tensor *parameter = i == 0 ? gain : bias;
        if (!ld_wants_grad(parameter))
            continue;
        LD_TRY(ld_grad_zeroed(parameter, &grad));
        for (int64_t j = 0; j < k; j++)
            grad->data[j] += (float)sums[i * k + j];
    }
done:
    ld_free(sums);
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
    ld_status st = ld_grad_zeroed(n->in[0], &grad);
    if (st != LD_OK)
        return st;
    int64_t k = grad->n_cols;
    for (int64_t r = 0; r < grad->n_rows; r++) {
        const float *y = n->out->data + r * k, *g = n->out->grad->data + r * k;
        double dot = 0, inverse = n->saved[0]->data[r];
        for (int64_t j = 0; j < k; j++)
            dot += (double)y[j] * g[j];
        for (int64_t j = 0; j < k; j++)
            grad->data[r * k + j] += (float)((g[j] - y[j] * dot) * inverse);
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

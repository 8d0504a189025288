/* Batch normalisation (Ioffe and Szegedy, ICML 2015): each column to mean 0 and variance 1. Sums over
 * the rows are in double, in the order of the rows and in one thread. */
#include <math.h>

#include "base/memory.h"
#include "grad/op.h"

/* The means of the columns of x (n x k), n > 0, and their variances over n, from two passes. */
static void moments(double *mean, double *variance, const float *x, int64_t n, int64_t k)
{
    for (int64_t r = 0; r < n; r++)
        for (int64_t j = 0; j < k; j++)
            mean[j] += x[r * k + j];
    for (int64_t j = 0; j < k; j++)
        mean[j] /= (double)n;
    for (int64_t r = 0; r < n; r++)
        for (int64_t j = 0; j < k; j++)
            variance[j] += (x[r * k + j] - mean[j]) * (x[r * k + j] - mean[j]);
    for (int64_t j = 0; j < k; j++)
        variance[j] /= (double)n;
}

/* in: x, gain, bias; saved: mean, variance; number: eps. With z = (x - mean) / deviation, column by
 * column and with sums over the n rows: dgain = sum(dy z), dbias = sum(dy),
 * dx = gain / deviation * (dy - sum(dy) / n - z sum(dy z) / n) */
static ld_status batch_norm_backward(ld_node *node)
{
    ld_tensor *x = node->in[0], *gain = node->in[1], *bias = node->in[2], *grad;
    const float *g = node->out->grad->data, *mean = node->saved[0]->data;
    int64_t n = x->n_rows, k = x->n_cols;
    double *sums = ld_calloc_array(3 * k, sizeof *sums, LD_MEM_SCRATCH);
    bool accumulate;
    double *of_dy = sums, *of_dy_z = sums + k, *inverse = sums + 2 * k;
    ld_status st = sums ? LD_OK : LD_NOMEM;
    if (st != LD_OK)
        return st;
    for (int64_t j = 0; j < k; j++)
        inverse[j] = 1.0 / sqrt(node->saved[1]->data[j] + node->number);
    for (int64_t r = 0; r < n; r++)
        for (int64_t j = 0; j < k; j++) {
            of_dy[j] += g[r * k + j];
            of_dy_z[j] += g[r * k + j] * (x->data[r * k + j] - mean[j]) * inverse[j];
        }
    for (int i = 1; i <= 2; i++) {
        if (!ld_wants_grad(node->in[i]))
            continue;
        LD_TRY(ld_grad_zeroed(i == 1 ? gain : bias, &grad));
        for (int64_t j = 0; j < k; j++)
            grad->data[j] += (float)(i == 1 ? of_dy_z[j] : of_dy[j]);
    }
    if (!ld_wants_grad(x))
        goto done;
    LD_TRY(ld_grad_pass(node, x, &grad, &accumulate));
    for (int64_t r = 0; r < n; r++)
        for (int64_t j = 0; j < k; j++) {
            double z = (x->data[r * k + j] - mean[j]) * inverse[j];
            double d = g[r * k + j] - (of_dy[j] + z * of_dy_z[j]) / (double)n;
            float dx = (float)(gain->data[j] * inverse[j] * d), *to = &grad->data[r * k + j];
            *to = accumulate ? *to + dx : dx;
        }
done:
    ld_free(sums);
    return st;
}

static ld_status check_shapes(const ld_tensor *x, const ld_tensor *gain, const ld_tensor *bias)
{
    if (x->ndim != 2 || gain->ndim != 1 || bias->ndim != 1 || gain->n_rows != x->n_cols ||
        bias->n_rows != x->n_cols)
        return ld_fail(LD_SHAPE,
                       "batch_norm: x is %s, gain %s and bias %s; vectors as long as a row of x "
                       "expected",
                       ld_tensor_shape(x), ld_tensor_shape(gain), ld_tensor_shape(bias));
    if (x->n_rows == 0)
        return ld_fail(LD_SHAPE, "batch_norm: there are no rows");
    return LD_OK;
}

ld_status ld_op_batch_norm(ld_tape *tape, ld_tensor **out, ld_tensor **mean, ld_tensor **variance,
                           ld_tensor *x, ld_tensor *gain, ld_tensor *bias, double eps)
{
    int64_t n = x->n_rows, k = x->n_cols;
    ld_tensor *y = NULL, *m = NULL, *v = NULL;
    double *sums = NULL;
    ld_node node = {.name = "batch_norm",
                    .backward = batch_norm_backward,
                    .unread = LD_IN2 | LD_OUT,
                    .in = {x, gain, bias},
                    .number = eps};
    ld_status st;
    LD_TRY(check_shapes(x, gain, bias));
    if (!(sums = ld_calloc_array(2 * k, sizeof *sums, LD_MEM_SCRATCH)))
        return LD_NOMEM;
    LD_TRY(ld_tensor_like(&y, x));
    LD_TRY(ld_tensor_new(&m, 1, k, 1));
    LD_TRY(ld_tensor_new(&v, 1, k, 1));
    moments(sums, sums + k, x->data, n, k);
    for (int64_t j = 0; j < k; j++) {
        m->data[j] = (float)sums[j];
        v->data[j] = (float)sums[k + j];
        sums[k + j] = 1.0 / sqrt(sums[k + j] + eps);
    }
    for (int64_t r = 0; r < n; r++)
        for (int64_t j = 0; j < k; j++)
            y->data[r * k + j] =
                (float)((x->data[r * k + j] - sums[j]) * sums[k + j] * gain->data[j] +
                        bias->data[j]);
    node.saved[0] = m;
    node.saved[1] = v;
    LD_TRY(ld_tensor_clone(mean, m)); /* which users may change */
    LD_TRY(ld_tensor_clone(variance, v));
done:
    ld_free(sums);
    st = ld_tape_finish(tape, out, y, &node, st);
    ld_tensor_unref(m);
    ld_tensor_unref(v);
    return st;
}

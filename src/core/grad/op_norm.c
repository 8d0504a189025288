/* Normalisation: batch norm, layer norm, and rows of length 1. */
#include <math.h>

#include "grad/op.h"
#include "kernel/batch_norm.h"
#include "kernel/layer_norm.h"
#include "kernel/moments.h"
#include "kernel/unit_rows.h"
#include "memory/memory.h"

static ld_status check_shapes(const char *where, const ld_tensor *x, const ld_tensor *gain,
                              const ld_tensor *bias)
{
    if (x->ndim != 2 || gain->ndim != 1 || bias->ndim != 1 || gain->n_rows != x->n_cols ||
        bias->n_rows != x->n_cols)
        return ld_fail(LD_SHAPE,
                       "%s: x is %s, gain %s and bias %s; vectors as long as a row of x expected",
                       where, ld_tensor_shape(x), ld_tensor_shape(gain), ld_tensor_shape(bias));
    return LD_OK;
}

/* Adds sums over the rows, one for each column, to the gradient of t, if t needs one. */
static ld_status add_sums(ld_tensor *t, const double *sums)
{
    ld_tensor *grad;
    ld_status st = ld_wants_grad(t) ? ld_grad_zeroed(t, &grad) : LD_OK;
    for (int64_t j = 0; st == LD_OK && ld_wants_grad(t) && j < t->n_rows; j++)
        grad->data[j] += (float)sums[j];
    return st;
}

/* --- layer norm ------------------------------------------------------------------------------- */

/* Backward of layer norm. The node's inputs are x, gain and bias; it saved the mean and the inverse
 * deviation of each row. dx comes last, since it may be written over dy. */
static ld_status layer_norm_backward(ld_node *n)
{
    const ld_tensor *x = n->in[0], *gain = n->in[1], *bias = n->in[2], *dy = n->out->grad;
    const float *mean = n->saved[0]->data, *inverse = n->saved[1]->data;
    const int64_t rows = x->n_rows, k = x->n_cols;
    LD_FREED double *sums = NULL;
    ld_tensor *dx;
    bool accumulate;
    if (ld_wants_grad(gain) || ld_wants_grad(bias)) {
        if (!(sums = ld_alloc_array(2 * k, sizeof *sums, LD_MEM_SCRATCH)))
            return LD_NOMEM;
        LD_CHECK(
            ld_layer_norm_parameters(sums, sums + k, dy->data, x->data, mean, inverse, rows, k));
        LD_CHECK(add_sums(n->in[1], sums));
        LD_CHECK(add_sums(n->in[2], sums + k));
    }
    if (!ld_wants_grad(x))
        return LD_OK;
    LD_CHECK(ld_grad_pass(n, n->in[0], &dx, &accumulate));
    return ld_layer_norm_backward(dx->data, dy->data, x->data, gain->data, mean, inverse, rows, k,
                                  accumulate);
}

ld_status ld_op_layer_norm(ld_tape *tape, ld_tensor **out, ld_tensor *x, ld_tensor *gain,
                           ld_tensor *bias, double eps)
{
    LD_OWN(ld_tensor) *y = NULL, *mean = NULL, *inverse = NULL;
    ld_node node = {.name = "layer_norm",
                    .backward = layer_norm_backward,
                    .unread = LD_IN2 | LD_OUT,
                    .in = {x, gain, bias}};
    LD_CHECK(check_shapes(node.name, x, gain, bias));
    LD_CHECK(ld_tensor_like(&y, x));
    LD_CHECK(ld_tensor_new(&mean, 1, x->n_rows, 1));
    LD_CHECK(ld_tensor_new(&inverse, 1, x->n_rows, 1));
    node.saved[0] = mean;
    node.saved[1] = inverse;
    LD_CHECK(ld_layer_norm(y->data, mean->data, inverse->data, x->data, gain->data, bias->data, eps,
                           x->n_rows, x->n_cols));
    return ld_tape_finish(tape, out, y, &node);
}

/* --- batch norm (Ioffe and Szegedy, ICML 2015) ------------------------------------------------ */

/* Backward of batch norm. The node's inputs are x, gain and bias; it saved the mean and the
 * variance of each column, and has eps as its number. */
static ld_status batch_norm_backward(ld_node *n)
{
    ld_tensor *x = n->in[0], *grad;
    const float *mean = n->saved[0]->data, *variance = n->saved[1]->data, *dy = n->out->grad->data;
    int64_t rows = x->n_rows, k = x->n_cols;
    LD_FREED double *sums = ld_alloc_array(3 * k, sizeof *sums, LD_MEM_SCRATCH);
    double *dgain = sums, *dbias = sums + k, *inverse = sums + 2 * k;
    bool accumulate;
    if (!sums)
        return LD_NOMEM;
    for (int64_t j = 0; j < k; j++)
        inverse[j] = 1.0 / sqrt(variance[j] + n->number);
    LD_CHECK(ld_batch_norm_parameters(dgain, dbias, dy, x->data, mean, inverse, rows, k));
    LD_CHECK(add_sums(n->in[1], dgain));
    LD_CHECK(add_sums(n->in[2], dbias));
    if (!ld_wants_grad(x))
        return LD_OK;
    LD_CHECK(ld_grad_pass(n, x, &grad, &accumulate));
    return ld_batch_norm_backward(grad->data, dy, x->data, n->in[1]->data, mean, inverse, dgain,
                                  dbias, rows, k, accumulate);
}

ld_status ld_op_batch_norm(ld_tape *tape, ld_tensor **out, ld_tensor **mean, ld_tensor **variance,
                           ld_tensor *x, ld_tensor *gain, ld_tensor *bias, double eps)
{
    int64_t n = x->n_rows, k = x->n_cols;
    LD_OWN(ld_tensor) *y = NULL, *m = NULL, *v = NULL;
    LD_FREED double *moments = NULL;
    ld_node node = {.name = "batch_norm",
                    .backward = batch_norm_backward,
                    .unread = LD_IN2 | LD_OUT,
                    .in = {x, gain, bias},
                    .number = eps};
    LD_CHECK(check_shapes(node.name, x, gain, bias));
    if (n == 0)
        return ld_fail(LD_SHAPE, "batch_norm: there are no rows");
    if (!(moments = ld_alloc_array(2 * k, sizeof *moments, LD_MEM_SCRATCH)))
        return LD_NOMEM;
    LD_CHECK(ld_tensor_like(&y, x));
    LD_CHECK(ld_tensor_new(&m, 1, k, 1));
    LD_CHECK(ld_tensor_new(&v, 1, k, 1));
    LD_CHECK(ld_column_moments(moments, moments + k, x->data, n, k));
    for (int64_t j = 0; j < k; j++) {
        m->data[j] = (float)moments[j];
        v->data[j] = (float)moments[k + j];
        moments[k + j] = 1.0 / sqrt(moments[k + j] + eps);
    }
    LD_CHECK(ld_batch_norm(y->data, x->data, moments, moments + k, gain->data, bias->data, n, k));
    node.saved[0] = m;
    node.saved[1] = v;
    LD_CHECK(ld_tensor_clone(mean, m)); /* which users may change */
    LD_CHECK(ld_tensor_clone(variance, v));
    return ld_tape_finish(tape, out, y, &node);
}

/* --- rows of length 1 ------------------------------------------------------------------------- */

/* Backward of the division by lengths. The node saved 1 / length of each row. */
static ld_status normalize_rows_backward(ld_node *n)
{
    const ld_tensor *y = n->out;
    ld_tensor *dx;
    bool accumulate;
    LD_CHECK(ld_grad_pass(n, n->in[0], &dx, &accumulate));
    return ld_normalize_rows_backward(dx->data, y->grad->data, y->data, n->saved[0]->data,
                                      y->n_rows, y->n_cols, accumulate);
}

ld_status ld_op_normalize_rows(ld_tape *tape, ld_tensor **out, ld_tensor *x)
{
    if (x->ndim != 2)
        return ld_fail(LD_SHAPE, "normalize_rows: a matrix expected, got %s", ld_tensor_shape(x));
    LD_OWN(ld_tensor) *y = NULL, *saved = NULL;
    ld_node node = {
        .name = "normalize_rows", .backward = normalize_rows_backward, .unread = LD_IN0, .in = {x}};
    LD_CHECK(ld_tensor_like(&y, x));
    LD_CHECK(ld_tensor_new(&saved, 1, x->n_rows, 1));
    node.saved[0] = saved;
    LD_CHECK(ld_normalize_rows(y->data, saved->data, x->data, x->n_rows, x->n_cols));
    return ld_tape_finish(tape, out, y, &node);
}

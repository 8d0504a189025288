/* Sums. They are accumulated in double and in the order of the rows, in one thread: a reduction
 * that is split by the number of threads would depend on it. */
#include <inttypes.h>

#include "base/memory.h"
#include "grad/op.h"

static ld_status sum_backward(ld_node *n)
{
    ld_tensor *grad;
    ld_status st = ld_grad_zeroed(n->in[0], &grad);
    if (st != LD_OK)
        return st;
    float g = (float)(n->out->grad->data[0] * n->number);
    for (int64_t i = 0, size = ld_tensor_size(grad); i < size; i++)
        grad->data[i] += g;
    return LD_OK;
}

ld_status ld_op_sum(ld_tape *tape, ld_tensor **out, ld_tensor *x, double scale)
{
    ld_tensor *y;
    ld_node node = {.name = "sum",
                    .backward = sum_backward,
                    .unread = LD_IN0 | LD_OUT,
                    .in = {x},
                    .number = scale};
    ld_status st = ld_tensor_new(&y, 1, 1, 1);
    if (st != LD_OK)
        return st;
    double sum = 0;
    for (int64_t i = 0, n = ld_tensor_size(x); i < n; i++)
        sum += x->data[i];
    y->data[0] = (float)(sum * scale);
    return ld_tape_finish(tape, out, y, &node, LD_OK);
}

static ld_status row_sums_backward(ld_node *n)
{
    ld_tensor *grad;
    ld_status st = ld_grad_zeroed(n->in[0], &grad);
    if (st != LD_OK)
        return st;
    for (int64_t r = 0; r < grad->n_rows; r++)
        for (int64_t j = 0; j < grad->n_cols; j++)
            grad->data[r * grad->n_cols + j] += n->out->grad->data[r];
    return LD_OK;
}

ld_status ld_op_row_sums(ld_tape *tape, ld_tensor **out, ld_tensor *x)
{
    ld_tensor *y;
    ld_node node = {
        .name = "row_sums", .backward = row_sums_backward, .unread = LD_IN0 | LD_OUT, .in = {x}};
    ld_status st = ld_tensor_new(&y, 1, x->n_rows, 1);
    if (st != LD_OK)
        return st;
    for (int64_t r = 0; r < x->n_rows; r++) {
        double sum = 0;
        for (int64_t j = 0; j < x->n_cols; j++)
            sum += x->data[r * x->n_cols + j];
        y->data[r] = (float)sum;
    }
    return ld_tape_finish(tape, out, y, &node, LD_OK);
}

static ld_status col_sums_backward(ld_node *n)
{
    ld_tensor *grad;
    ld_status st = ld_grad_zeroed(n->in[0], &grad);
    if (st != LD_OK)
        return st;
    for (int64_t r = 0; r < grad->n_rows; r++)
        for (int64_t j = 0; j < grad->n_cols; j++)
            grad->data[r * grad->n_cols + j] += n->out->grad->data[j];
    return LD_OK;
}

ld_status ld_op_col_sums(ld_tape *tape, ld_tensor **out, ld_tensor *x)
{
    if (x->ndim != 2)
        return ld_fail(LD_SHAPE, "col_sums: a matrix expected, got %s", ld_tensor_shape(x));
    ld_tensor *y = NULL;
    ld_node node = {
        .name = "col_sums", .backward = col_sums_backward, .unread = LD_IN0 | LD_OUT, .in = {x}};
    ld_status st = LD_OK;
    double *sums = ld_calloc_array(x->n_cols, sizeof *sums, LD_MEM_SCRATCH);
    if (!sums)
        return LD_NOMEM;
    LD_TRY(ld_tensor_new(&y, 1, x->n_cols, 1));
    for (int64_t r = 0; r < x->n_rows; r++)
        for (int64_t j = 0; j < x->n_cols; j++)
            sums[j] += x->data[r * x->n_cols + j];
    for (int64_t j = 0; j < x->n_cols; j++)
        y->data[j] = (float)sums[j];
done:
    ld_free(sums);
    return ld_tape_finish(tape, out, y, &node, st);
}

static ld_status norm_backward(ld_node *n)
{
    const ld_tensor *x = n->in[0], *y = n->out;
    ld_tensor *grad;
    ld_status st = ld_grad_zeroed(n->in[0], &grad);
    if (st != LD_OK || y->data[0] == 0)
        return st;
    double scale = (double)y->grad->data[0] / y->data[0];
    for (int64_t i = 0, size = ld_tensor_size(grad); i < size; i++)
        grad->data[i] += (float)(scale * x->data[i]);
    return LD_OK;
}

ld_status ld_op_norm(ld_tape *tape, ld_tensor **out, ld_tensor *x)
{
    ld_tensor *y;
    ld_node node = {.name = "norm", .backward = norm_backward, .in = {x}};
    ld_status st = ld_tensor_new(&y, 1, 1, 1);
    if (st != LD_OK)
        return st;
    y->data[0] = (float)ld_tensor_norm(x);
    return ld_tape_finish(tape, out, y, &node, LD_OK);
}

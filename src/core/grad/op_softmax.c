/* Softmax over rows, and its logarithm. */
#include "grad/op.h"
#include "kernel/softmax.h"

static ld_status forward(ld_tensor **out, const ld_tensor *x, bool of_log, const char *where)
{
    if (x->ndim != 2 || x->n_cols < 1)
        return ld_fail(LD_SHAPE, "%s: logits of n x classes expected, got %s", where,
                       ld_tensor_shape(x));
    LD_CHECK(ld_tensor_like(out, x));
    return ld_softmax((*out)->data, x->data, x->n_rows, x->n_cols, of_log);
}

ld_status ld_log_softmax_of(ld_tensor **out, const ld_tensor *x, const char *where)
{
    return forward(out, x, true, where);
}

/* Backward of softmax or, if the node's variant is 1, of its logarithm. */
static ld_status softmax_backward(ld_node *n)
{
    const ld_tensor *y = n->out;
    ld_tensor *dx;
    bool accumulate;
    LD_CHECK(ld_grad_pass(n, n->in[0], &dx, &accumulate));
    return ld_softmax_backward(dx->data, y->grad->data, y->data, y->n_rows, y->n_cols, n->variant,
                               accumulate);
}

static ld_status op(ld_tape *tape, ld_tensor **out, ld_tensor *x, bool of_log)
{
    LD_OWN(ld_tensor) *y = NULL;
    ld_node node = {.name = of_log ? "log_softmax" : "softmax",
                    .backward = softmax_backward,
                    .unread = LD_IN0,
                    .in = {x},
                    .variant = of_log};
    LD_CHECK(forward(&y, x, of_log, node.name));
    return ld_tape_finish(tape, out, y, &node);
}

ld_status ld_op_softmax(ld_tape *tape, ld_tensor **out, ld_tensor *x)
{
    return op(tape, out, x, false);
}

ld_status ld_op_log_softmax(ld_tape *tape, ld_tensor **out, ld_tensor *x)
{
    return op(tape, out, x, true);
}

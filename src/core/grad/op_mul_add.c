/* A multiple of a tensor plus rows of another one, as a layer combines its neighbours and the nodes
 * themselves. Product and sum are rounded separately, so the bits are those of two operations. */
#include <inttypes.h>

#include "grad/op.h"
#include "kernel/gather.h"
#include "kernel/reduce.h"

/* Passes the gradient on: dy = g, for all of y or for its rows. All of y may get the memory of g. */
static ld_status pass_to_y(const ld_node *n)
{
    ld_tensor *y = n->in[2], *g = n->out->grad, *dy;
    bool distinct;
    if (!n->index)
        return ld_grad_pass_all(n, y);
    LD_CHECK(ld_grad_zeroed(y, &dy));
    LD_CHECK(ld_index_is_distinct(&distinct, n->index));
    return ld_scatter_rows(dy->data, g->data, n->index->data, n->index->size, y->n_cols, distinct);
}

/* Backward of x * factor + y[rows]: dfactor is the sum of x * g. dx comes last, since it may be
 * written over g, unless y has the memory of g by then. The node's inputs are x, factor and y, its
 * index the rows of y, its number the factor where that is no tensor. */
static ld_status mul_add_backward(ld_node *n)
{
    ld_tensor *x = n->in[0], *factor = n->in[1], *y = n->in[2], *g = n->out->grad, *grad;
    int64_t size = ld_tensor_size(g);
    bool accumulate;
    double sum;
    if (ld_wants_grad(factor)) {
        LD_CHECK(ld_grad_zeroed(factor, &grad));
        LD_CHECK(ld_total(&sum, g->data, x->data, LD_ROUNDED_PRODUCTS, size));
        grad->data[0] += (float)sum;
    }
    if (ld_wants_grad(y))
        LD_CHECK(pass_to_y(n));
    if (ld_wants_grad(x)) {
        LD_CHECK(y->grad == g ? ld_grad_target(x, &grad, &accumulate)
                              : ld_grad_pass(n, x, &grad, &accumulate));
        LD_CHECK(ld_scale(grad->data, g->data, size, factor ? factor->data[0] : (float)n->number,
                          accumulate));
    }
    return LD_OK;
}

static ld_status check_shapes(const ld_tensor *x, const ld_tensor *factor, const ld_tensor *y,
                              const ld_index *rows)
{
    int64_t n_rows = rows ? rows->size : y->n_rows;
    if (factor && ld_tensor_size(factor) != 1)
        return ld_fail(LD_SHAPE, "mul_add: the factor must have one element, it is %s",
                       ld_tensor_shape(factor));
    if (y->ndim != x->ndim || y->n_cols != x->n_cols || n_rows != x->n_rows) {
        if (rows)
            return ld_fail(LD_SHAPE, "mul_add: %" PRId64 " rows of %s do not fit %s", n_rows,
                           ld_tensor_shape(y), ld_tensor_shape(x));
        return ld_fail(LD_SHAPE, "mul_add: %s does not fit %s", ld_tensor_shape(y),
                       ld_tensor_shape(x));
    }
    return rows ? ld_index_check(rows, 0, y->n_rows, "mul_add: row") : LD_OK;
}

ld_status ld_op_mul_add(ld_tape *tape, ld_tensor **out, ld_tensor *x, ld_tensor *factor,
                        double number, ld_tensor *y, ld_index *rows, bool done)
{
    unsigned x_unread = ld_wants_grad(factor) ? 0 : LD_IN0;
    bool over = done && x_unread && x != y && ld_tape_may_overwrite(tape, x);
    LD_OWN(ld_tensor) *z = NULL;
    ld_node node = {.name = "mul_add",
                    .backward = mul_add_backward,
                    .unread = x_unread | LD_IN2 | LD_OUT,
                    .in = {x, factor, y},
                    .index = rows,
                    .number = number};
    LD_CHECK(check_shapes(x, factor, y, rows));
    LD_CHECK(over ? ld_tensor_view(&z, x, x->ndim, x->n_rows, x->n_cols) : ld_tensor_like(&z, x));
    ld_status st = ld_mul_add(z->data, x->data, factor ? factor->data[0] : (float)number, y->data,
                              rows ? rows->data : NULL, x->n_rows, x->n_cols);
    if (over)
        ld_tensor_release(x);
    LD_CHECK(st);
    return ld_tape_finish(tape, out, z, &node);
}

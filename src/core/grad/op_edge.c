#include <inttypes.h>
#include <math.h>

#include "grad/op.h"

/* dscore = y * (dy - sum over the row of y * dy) */
static ld_status edge_softmax_backward(ld_node *n)
{
    const ld_structure *s = n->matrix->s;
    const float *y = n->out->data, *g = n->out->grad->data;
    ld_tensor *grad;
    ld_status st = ld_grad_zeroed(n->in[0], &grad);
    if (st != LD_OK)
        return st;
    for (int64_t r = 0; r < s->n_rows; r++) {
        double dot = 0;
        for (int64_t e = s->offsets[r]; e < s->offsets[r + 1]; e++)
            dot += (double)y[e] * g[e];
        for (int64_t e = s->offsets[r]; e < s->offsets[r + 1]; e++)
            grad->data[e] += (float)(y[e] * (g[e] - dot));
    }
    return LD_OK;
}

ld_status ld_op_edge_softmax(ld_tape *tape, ld_tensor **out, ld_csr *a, ld_tensor *scores)
{
    const ld_structure *s = a->s;
    if (scores->ndim != 1 || scores->n_rows != s->nnz)
        return ld_fail(LD_SHAPE, "edge_softmax: scores of %s for %" PRId64 " entries",
                       ld_tensor_shape(scores), s->nnz);
    ld_tensor *y;
    ld_node node = {.name = "edge_softmax",
                    .backward = edge_softmax_backward,
                    .unread = LD_IN0,
                    .in = {scores},
                    .matrix = a};
    ld_status st = ld_tensor_like(&y, scores);
    if (st != LD_OK)
        return st;
    for (int64_t r = 0; r < s->n_rows; r++) {
        int64_t begin = s->offsets[r], end = s->offsets[r + 1];
        float top = -INFINITY;
        double sum = 0;
        for (int64_t e = begin; e < end; e++)
            top = scores->data[e] > top ? scores->data[e] : top;
        for (int64_t e = begin; e < end; e++)
            sum += y->data[e] = expf(scores->data[e] - top);
        for (int64_t e = begin; e < end; e++)
            y->data[e] = (float)(y->data[e] / sum);
    }
    return ld_tape_finish(tape, out, y, &node, LD_OK);
}

/* dx_v = sum over v's entries of g * y_u,  dy_u = sum over u's entries of g * x_v: two products
 * with the matrix whose values are g. */
static ld_status dot_edges_backward(ld_node *n)
{
    ld_tensor *x = n->in[0], *y = n->in[1], *grad;
    ld_csr *g = NULL;
    bool accumulate;
    ld_status st;
    LD_TRY(ld_csr_new(&g, n->matrix->s, n->out->grad, NULL, NULL));
    if (ld_wants_grad(x)) {
        LD_TRY(ld_grad_target(x, &grad, &accumulate));
        LD_TRY(ld_spmm(grad, g, y, accumulate));
    }
    if (ld_wants_grad(y)) {
        LD_TRY(ld_grad_target(y, &grad, &accumulate));
        LD_TRY(ld_spmm_t(grad, g, x, accumulate));
    }
done:
    ld_csr_unref(g);
    return st;
}

ld_status ld_op_dot_edges(ld_tape *tape, ld_tensor **out, ld_csr *a, ld_tensor *x, ld_tensor *y)
{
    ld_tensor *z = NULL;
    ld_node node = {.name = "dot_edges",
                    .backward = dot_edges_backward,
                    .unread = LD_OUT,
                    .in = {x, y},
                    .matrix = a};
    ld_status st = ld_tensor_new(&z, 1, a->s->nnz, 1);
    if (st == LD_OK)
        st = ld_sddmm(z, a, x, y);
    return ld_tape_finish(tape, out, z, &node, st);
}

static ld_status add_edges_backward(ld_node *n)
{
    const ld_structure *s = n->matrix->s;
    const float *g = n->out->grad->data;
    ld_tensor *dx = NULL, *dy = NULL;
    ld_status st = LD_OK;
    if (ld_wants_grad(n->in[0]))
        LD_TRY(ld_grad_zeroed(n->in[0], &dx));
    if (ld_wants_grad(n->in[1]))
        LD_TRY(ld_grad_zeroed(n->in[1], &dy));
    for (int64_t r = 0; r < s->n_rows; r++) {
        for (int64_t e = s->offsets[r]; e < s->offsets[r + 1]; e++) {
            if (dx)
                dx->data[r] += g[e];
            if (dy)
                dy->data[s->columns[e]] += g[e];
        }
    }
done:
    return st;
}

ld_status ld_op_add_edges(ld_tape *tape, ld_tensor **out, ld_csr *a, ld_tensor *x, ld_tensor *y)
{
    const ld_structure *s = a->s;
    if (x->ndim != 1 || y->ndim != 1 || x->n_rows != s->n_rows || y->n_rows != s->n_cols)
        return ld_fail(LD_SHAPE,
                       "add_edges: vectors of %s and %s for a %" PRId64 " x %" PRId64 " matrix",
                       ld_tensor_shape(x), ld_tensor_shape(y), s->n_rows, s->n_cols);
    ld_tensor *z;
    ld_node node = {.name = "add_edges",
                    .backward = add_edges_backward,
                    .unread = LD_IN0 | LD_IN1 | LD_OUT,
                    .in = {x, y},
                    .matrix = a};
    ld_status st = ld_tensor_new(&z, 1, s->nnz, 1);
    if (st != LD_OK)
        return st;
    for (int64_t r = 0; r < s->n_rows; r++)
        for (int64_t e = s->offsets[r]; e < s->offsets[r + 1]; e++)
            z->data[e] = x->data[r] + y->data[s->columns[e]];
    return ld_tape_finish(tape, out, z, &node, LD_OK);
}

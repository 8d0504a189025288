/* Operations on values at the entries of a matrix, that is, on edges: nnz numbers, or nnz x k for k
 * heads at once. */
#include <inttypes.h>

#include "grad/op.h"
#include "kernel/edges.h"
#include "kernel/softmax.h"

/* --- softmax over the entries of a row -------------------------------------------------------- */

static ld_status edge_softmax_backward(ld_node *n)
{
    const ld_structure *s = n->matrix->s;
    const ld_tensor *y = n->out;
    ld_tensor *dx;
    bool accumulate;
    LD_CHECK(ld_grad_pass(n, n->in[0], &dx, &accumulate));
    return ld_segment_softmax_backward(dx->data, y->grad->data, y->data, s->offsets, s->n_rows,
                                       y->n_cols, accumulate);
}

ld_status ld_op_edge_softmax(ld_tape *tape, ld_tensor **out, ld_csr *a, ld_tensor *scores)
{
    if (scores->n_rows != a->s->nnz)
        return ld_fail(LD_SHAPE, "edge_softmax: scores of %s for %" PRId64 " entries",
                       ld_tensor_shape(scores), a->s->nnz);
    LD_OWN(ld_tensor) *y = NULL;
    ld_node node = {.name = "edge_softmax",
                    .backward = edge_softmax_backward,
                    .unread = LD_IN0,
                    .in = {scores},
                    .matrix = a};
    LD_CHECK(ld_tensor_like(&y, scores));
    LD_CHECK(
        ld_segment_softmax(y->data, scores->data, a->s->offsets, a->s->n_rows, scores->n_cols));
    return ld_tape_finish(tape, out, y, &node);
}

/* --- products of the rows that an entry joins ------------------------------------------------- */

/* Backward of dot_edges: dx_v = sum over v's entries of g * y_u, dy_u = sum over u's entries of g *
 * x_v: two products with the matrix whose values are g. */
static ld_status dot_edges_backward(ld_node *n)
{
    ld_tensor *x = n->in[0], *y = n->in[1], *grad;
    LD_OWN(ld_csr) *g = NULL;
    bool accumulate;
    LD_CHECK(ld_csr_new(&g, n->matrix->s, n->out->grad, NULL, NULL));
    if (ld_wants_grad(x)) {
        LD_CHECK(ld_grad_target(x, &grad, &accumulate));
        LD_CHECK(ld_spmm(grad, g, y, accumulate));
    }
    if (ld_wants_grad(y)) {
        LD_CHECK(ld_grad_target(y, &grad, &accumulate));
        LD_CHECK(ld_spmm_t(grad, g, x, accumulate));
    }
    return LD_OK;
}

ld_status ld_op_dot_edges(ld_tape *tape, ld_tensor **out, ld_csr *a, ld_tensor *x, ld_tensor *y)
{
    LD_OWN(ld_tensor) *z = NULL;
    ld_node node = {.name = "dot_edges",
                    .backward = dot_edges_backward,
                    .unread = LD_OUT,
                    .in = {x, y},
                    .matrix = a};
    LD_CHECK(ld_tensor_new(&z, 1, a->s->nnz, 1));
    LD_CHECK(ld_sddmm(z, a, x, y));
    return ld_tape_finish(tape, out, z, &node);
}

/* --- sums of the numbers that an entry joins -------------------------------------------------- */

static ld_status add_edges_backward(ld_node *n)
{
    ld_structure *s = n->matrix->s, *by_column;
    const ld_tensor *g = n->out->grad;
    ld_tensor *grad;
    if (ld_wants_grad(n->in[0])) {
        LD_CHECK(ld_grad_zeroed(n->in[0], &grad));
        LD_CHECK(ld_collect_edges(grad->data, s->offsets, NULL, s->n_rows, g->data, g->n_cols));
    }
    if (!ld_wants_grad(n->in[1]))
        return LD_OK;
    LD_CHECK(ld_structure_transpose(&by_column, s));
    LD_CHECK(ld_grad_zeroed(n->in[1], &grad));
    return ld_collect_edges(grad->data, by_column->offsets, by_column->source, s->n_cols, g->data,
                            g->n_cols);
}

ld_status ld_op_add_edges(ld_tape *tape, ld_tensor **out, ld_csr *a, ld_tensor *x, ld_tensor *y)
{
    const ld_structure *s = a->s;
    if (x->ndim != y->ndim || x->n_cols != y->n_cols || x->n_rows != s->n_rows ||
        y->n_rows != s->n_cols)
        return ld_fail(LD_SHAPE,
                       "add_edges: %s and %s for the rows and columns of a %" PRId64 " x %" PRId64
                       " matrix",
                       ld_tensor_shape(x), ld_tensor_shape(y), s->n_rows, s->n_cols);
    LD_OWN(ld_tensor) *z = NULL;
    ld_node node = {.name = "add_edges",
                    .backward = add_edges_backward,
                    .unread = LD_IN0 | LD_IN1 | LD_OUT,
                    .in = {x, y},
                    .matrix = a};
    LD_CHECK(ld_tensor_new(&z, x->ndim, s->nnz, x->n_cols));
    LD_CHECK(ld_add_edges(z->data, s->offsets, s->columns, s->n_rows, x->data, y->data, x->n_cols));
    return ld_tape_finish(tape, out, z, &node);
}

/* --- products with a matrix for each head ----------------------------------------------------- */

static ld_status matmul_heads_backward(ld_node *n)
{
    ld_tensor *w = n->in[0], *x = n->in[1], *g = n->out->grad, *grad;
    bool accumulate;
    if (ld_wants_grad(w)) {
        LD_CHECK(ld_grad_target(w, &grad, &accumulate));
        LD_CHECK(ld_sddmm_heads(grad, n->matrix, g, x, accumulate));
    }
    if (ld_wants_grad(x)) {
        LD_CHECK(ld_grad_target(x, &grad, &accumulate));
        LD_CHECK(ld_spmm_heads(grad, n->matrix, true, w, g, accumulate));
    }
    return LD_OK;
}

ld_status ld_op_matmul_heads(ld_tape *tape, ld_tensor **out, ld_csr *a, ld_tensor *w, ld_tensor *x)
{
    LD_OWN(ld_tensor) *y = NULL;
    ld_node node = {.name = "matmul_heads",
                    .backward = matmul_heads_backward,
                    .unread = LD_OUT,
                    .in = {w, x},
                    .matrix = a};
    LD_CHECK(ld_tensor_new(&y, 2, a->s->n_rows, x->n_cols));
    LD_CHECK(ld_spmm_heads(y, a, false, w, x, false));
    return ld_tape_finish(tape, out, y, &node);
}

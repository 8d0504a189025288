/* For each row of a matrix, the sum over its entries e, in column u, of v_e relu(x_u + f_e w + b):
 * how GINE combines neighbours with the features f of edges (kernel/relu_sums.h). */
#include <inttypes.h>

#include "grad/nonzero_rows.h"
#include "grad/op.h"
#include "kernel/relu_sums.h"

enum { X, F, W, B, V };

/* The operands of a node as its kernel takes them. */
static ld_relu_terms terms_of(const ld_node *n)
{
    const ld_structure *s = n->matrix->s;
    ld_relu_terms t = {.n_rows = s->n_rows,
                       .offsets = s->offsets,
                       .columns = s->columns,
                       .v = n->in[V]->data,
                       .f = n->in[F]->data,
                       .d = n->in[F]->n_cols,
                       .x = n->in[X] ? n->in[X]->data : NULL,
                       .k = n->in[W]->n_cols,
                       .w = n->in[W]->data,
                       .b = n->in[B] ? n->in[B]->data : NULL};
    if (n->sparse)
        t.sparse = ld_csr_factors(n->sparse);
    return t;
}

/* The memory to which the gradient of an input is added, or NULL where none is wanted. */
static ld_status target(float **data, ld_tensor *t)
{
    ld_tensor *grad;
    *data = NULL;
    if (!ld_wants_grad(t))
        return LD_OK;
    LD_CHECK(ld_grad_zeroed(t, &grad));
    *data = grad->data;
    return LD_OK;
}

/* Adds the gradients of the weights and of the features of entries. */
static ld_status entries_backward(const ld_node *n, const ld_relu_terms *t)
{
    LD_OWN(ld_tensor) *dv = NULL, *df = NULL;
    if (ld_wants_grad(n->in[V]))
        LD_CHECK(ld_tensor_like(&dv, n->in[V]));
    if (ld_wants_grad(n->in[F]))
        LD_CHECK(ld_tensor_like(&df, n->in[F]));
    if (!dv && !df)
        return LD_OK;
    LD_CHECK(
        ld_relu_sums_entries(dv ? dv->data : NULL, df ? df->data : NULL, t, n->out->grad->data));
    if (dv)
        LD_CHECK(ld_grad_add(n->in[V], dv));
    return df ? ld_grad_add(n->in[F], df) : LD_OK;
}

static ld_status relu_sums_backward(ld_node *n)
{
    const ld_relu_terms t = terms_of(n);
    LD_OWN(ld_index) *rows = NULL;
    float *dx, *dw, *db;
    LD_CHECK(target(&dx, n->in[X]));
    LD_CHECK(target(&dw, n->in[W]));
    LD_CHECK(target(&db, n->in[B]));
    if (dx || dw || db) {
        LD_CHECK(ld_nonzero_rows(&rows, n->out->grad, NULL, n->in[F]));
        LD_CHECK(ld_relu_sums_backward(dx, dw, db, &t, n->out->grad->data, rows ? rows->data : NULL,
                                       rows ? rows->size : 0));
    }
    return entries_backward(n, &t);
}

static ld_status check_shapes(const ld_node *n)
{
    const ld_structure *s = n->matrix->s;
    const ld_tensor *x = n->in[X], *f = n->in[F], *w = n->in[W], *b = n->in[B], *v = n->in[V];
    const int64_t rows = x ? x->n_rows : n->sparse->s->n_rows;
    const int64_t cols = x ? x->n_cols : n->sparse->s->n_cols;
    if (rows != s->n_cols || cols != w->n_cols)
        return ld_fail(LD_SHAPE,
                       "relu_sums: x is %" PRId64 " x %" PRId64 ", %" PRId64 " x %" PRId64
                       " expected, by the columns of the matrix and of w",
                       rows, cols, s->n_cols, w->n_cols);
    if (v->ndim != 1 || v->n_rows != s->nnz)
        return ld_fail(LD_SHAPE, "relu_sums: weights of %s for %" PRId64 " entries",
                       ld_tensor_shape(v), s->nnz);
    if (f->n_rows != s->nnz || f->n_cols != w->n_rows)
        return ld_fail(LD_SHAPE,
                       "relu_sums: features of %s, %" PRId64 " x %" PRId64
                       " expected, by the entries and the rows of w",
                       ld_tensor_shape(f), s->nnz, w->n_rows);
    if (b && (b->ndim != 1 || b->n_rows != w->n_cols))
        return ld_fail(LD_SHAPE, "relu_sums: the bias is %s, %" PRId64 " expected",
                       ld_tensor_shape(b), w->n_cols);
    return LD_OK;
}

ld_status ld_op_relu_sums(ld_tape *tape, ld_tensor **out, ld_csr *a, ld_tensor *v, ld_tensor *x,
                          ld_csr *sparse, ld_tensor *f, ld_tensor *w, ld_tensor *b)
{
    LD_OWN(ld_tensor) *y = NULL;
    LD_OWN(ld_csr) *sorted = NULL;
    ld_node node = {.name = "relu_sums",
                    .backward = relu_sums_backward,
                    .unread = LD_OUT,
                    .in = {[X] = x, [F] = f, [W] = w, [B] = b, [V] = v},
                    .matrix = a};
    ld_relu_terms t;
    if (!x)
        LD_CHECK(ld_csr_canonical(&sorted, sparse));
    node.sparse = sorted;
    LD_CHECK(check_shapes(&node));
    LD_CHECK(ld_tensor_new(&y, 2, a->s->n_rows, w->n_cols));
    t = terms_of(&node);
    LD_CHECK(ld_relu_sums(y->data, &t));
    return ld_tape_finish(tape, out, y, &node);
}

/* Operations that combine the neighbours of a node, the rows of x that its row of a matrix has
 * entries for: their mean, largest and standard deviation. The values of the matrix are not used.
 * Where a row has no entries the result is 0, and no gradient goes on. */
#include <inttypes.h>

#include "grad/op.h"
#include "kernel/segment.h"

static ld_segments segments_of(const ld_structure *s)
{
    return (ld_segments){s->offsets, s->columns, s->n_rows};
}

static ld_status check_shapes(const char *name, const ld_csr *a, const ld_tensor *x)
{
    if (x->n_rows != a->s->n_cols)
        return ld_fail(LD_SHAPE, "%s: %s for the columns of a %" PRId64 " x %" PRId64 " matrix",
                       name, ld_tensor_shape(x), a->s->n_rows, a->s->n_cols);
    return LD_OK;
}

/* --- mean ------------------------------------------------------------------------------------- */

/* The mean is the product with the matrix of these entries whose rows sum to 1. */
ld_status ld_op_neighbour_mean(ld_tape *tape, ld_tensor **out, ld_csr *a, ld_tensor *x)
{
    LD_OWN(ld_tensor) *share = NULL;
    LD_OWN(ld_csr) *means = NULL;
    LD_CHECK(check_shapes("neighbour_mean", a, x));
    LD_CHECK(ld_csr_degrees(&share, a, NULL));
    for (int64_t r = 0; r < share->n_rows; r++)
        share->data[r] = share->data[r] > 0 ? 1 / share->data[r] : 0;
    LD_CHECK(ld_csr_new(&means, a->s, NULL, share, NULL));
    return ld_op_spmm(tape, out, means, x, NULL);
}

/* --- the largest ------------------------------------------------------------------------------ */

/* Backward of the largest. The node's index has the row of x that each element of the result came
 * from, or -1. */
static ld_status neighbour_max_backward(ld_node *n)
{
    const ld_tensor *g = n->out->grad;
    ld_tensor *grad;
    ld_status st = ld_grad_zeroed(n->in[0], &grad);
    for (int64_t i = 0; st == LD_OK && i < n->index->size; i++)
        if (n->index->data[i] >= 0)
            grad->data[n->index->data[i] * g->n_cols + i % g->n_cols] += g->data[i];
    return st;
}

ld_status ld_op_neighbour_max(ld_tape *tape, ld_tensor **out, ld_csr *a, ld_tensor *x)
{
    LD_OWN(ld_tensor) *y = NULL;
    LD_OWN(ld_index) *best = NULL;
    ld_node node = {.name = "neighbour_max",
                    .backward = neighbour_max_backward,
                    .unread = LD_IN0 | LD_OUT,
                    .in = {x}};
    LD_CHECK(check_shapes(node.name, a, x));
    LD_CHECK(ld_tensor_new(&y, x->ndim, a->s->n_rows, x->n_cols));
    LD_CHECK(ld_index_new(&best, ld_tensor_size(y)));
    LD_CHECK(ld_segment_max(y->data, best->data, segments_of(a->s), x->data, x->n_cols));
    node.index = best;
    return ld_tape_finish(tape, out, y, &node);
}

/* --- standard deviation ----------------------------------------------------------------------- */

/* Backward of the standard deviation. The node's saved[0] holds the means. */
static ld_status neighbour_std_backward(ld_node *n)
{
    const ld_tensor *y = n->out, *x = n->in[0];
    LD_OWN(ld_tensor) *factor = NULL;
    ld_tensor *grad;
    ld_structure *columns;
    LD_CHECK(ld_structure_transpose(&columns, n->matrix->s));
    LD_CHECK(ld_tensor_like(&factor, y));
    LD_CHECK(ld_segment_std_factors(factor->data, y->grad->data, y->data, segments_of(n->matrix->s),
                                    y->n_cols));
    LD_CHECK(ld_grad_zeroed(n->in[0], &grad));
    return ld_segment_std_backward(grad->data, factor->data, n->saved[0]->data,
                                   segments_of(columns), x->data, x->n_cols);
}

ld_status ld_op_neighbour_std(ld_tape *tape, ld_tensor **out, ld_csr *a, ld_tensor *x)
{
    LD_OWN(ld_tensor) *y = NULL, *mean = NULL;
    ld_node node = {
        .name = "neighbour_std", .backward = neighbour_std_backward, .in = {x}, .matrix = a};
    LD_CHECK(check_shapes(node.name, a, x));
    LD_CHECK(ld_tensor_new(&y, x->ndim, a->s->n_rows, x->n_cols));
    LD_CHECK(ld_tensor_like(&mean, y));
    LD_CHECK(ld_segment_std(mean->data, y->data, segments_of(a->s), x->data, x->n_cols));
    node.saved[0] = mean;
    return ld_tape_finish(tape, out, y, &node);
}

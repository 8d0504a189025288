/* Matrix: the mean, largest and standard deviation of the rows of x that a row has entries for, and
 * GINE's sums of these with features of edges (relu_sums). ladies.segments makes the matrix by
 * which groups of rows other than neighbours are combined in the same way. */
#include "grad/op.h"
#include "state/bind.h"

static ld_status neighbour_mean(bind_call *c)
{
    return ld_op_neighbour_mean(c->tape, c->out[0].tensor, c->in[0].matrix, c->in[1].tensor);
}

static ld_status neighbour_max(bind_call *c)
{
    return ld_op_neighbour_max(c->tape, c->out[0].tensor, c->in[0].matrix, c->in[1].tensor);
}

static ld_status neighbour_std(bind_call *c)
{
    return ld_op_neighbour_std(c->tape, c->out[0].tensor, c->in[0].matrix, c->in[1].tensor);
}

static ld_status relu_sums(bind_call *c)
{
    ld_tensor *x = bind_to_operand(c->L, 3);
    return ld_op_relu_sums(c->tape, c->out[0].tensor, c->in[0].matrix, c->in[1].tensor, x,
                           x ? NULL : bind_matrix(c->L, 3), c->in[3].tensor, c->in[4].tensor,
                           c->in[5].tensor);
}

static ld_status segments(bind_call *c)
{
    ld_index **order = bind_new_index(c->L), **ends = bind_new_index(c->L);
    const ld_index *ids = c->in[0].index;
    bind_check(c->L, ld_index_check(ids, 0, c->in[1].integer, "segments: id"));
    bind_check(c->L, ld_index_group(order, ends, ids, c->in[1].integer));
    return ld_csr_from_arrays(c->out[0].matrix, c->in[1].integer, ids->size, *ends, *order, NULL);
}

static const bind_function functions[] = {
    {"segments", segments,
     "ladies.segments(idx, n) -> Matrix\n"
     "n segments of rows, as a matrix of ones: row s of it has an entry in column i where idx[i] is\n"
     "s, ascending. For an x with #idx rows S:matmul(x) are the sums of each segment, and\n"
     "S:neighbour_mean(x), S:neighbour_max(x) and S:neighbour_std(x) what these are. So one pools the\n"
     "nodes of many graphs by the graph of each, and numbers of A's entries, such as messages, by\n"
     "ladies.segments(A:row_of(), A.n_rows). S:edge_softmax(scores[S:col_of()]) are weights that sum\n"
     "to 1 within each segment. An error for an id outside of 1 .. n."},
    {NULL, NULL, NULL},
};

static const bind_function methods[] = {
    {"neighbour_mean", neighbour_mean,
     "A:neighbour_mean(x) -> Tensor\n"
     "Row v is the mean of the rows u of x, one for each of A's columns, that row v has entries for\n"
     "(segment mean; see ladies.segments); zeros where it has none. A's own values do not matter.\n"
     "Differentiable in x.",
     .passes = "x", .reads = "A"},
    {"neighbour_max", neighbour_max,
     "A:neighbour_max(x) -> Tensor\nElement (v, j) is the largest x[u][j] of the columns u that row "
     "v has\nentries in (segment max), 0 where it has none; A's own values do not matter.\n"
     "Differentiable in x: the gradient goes to the first of the largest. -A:neighbour_max(-x) are\n"
     "the smallest.",
     .passes = "x", .reads = "A"},
    {"neighbour_std", neighbour_std,
     "A:neighbour_std(x) -> Tensor\n"
     "Element (v, j) is the standard deviation of x[u][j] over the columns u that row v has entries\n"
     "in (segment std): the root of the mean square of what is left without their mean, over n and\n"
     "not n - 1, in double; 0 where it has none. A's own values do not matter. Differentiable in x;\n"
     "the derivative is taken for 0 where the deviation is 0. An aggregator of PNA (Corso et al.\n"
     "2020).",
     .passes = "x", .reads = "A"},
    {"relu_sums", relu_sums,
     "A:relu_sums(v: Tensor, x: Tensor | Matrix, f: Tensor, w [, b: Tensor]) -> Tensor\n"
     "Row r is the sum over r's entries e, in column u, of v[e] * max(x[u] + f[e] * w + b, 0), which\n"
     "are not stored: v has a weight for each entry of A, f a row of d features, w is d x x.n_cols\n"
     "and b a vector. n_rows x x.n_cols; A's own values do not matter. The sums of GINE (Hu et al.\n"
     "2020). Differentiable in v, f, w, b and x; a sparse x is a constant.",
     .passes = "v x f w b", .reads = "A"},
    {NULL, NULL, NULL},
};

const bind_subject bind_subject_neighbour = {.extends = {{&bind_matrix_class, methods}},
                                             .functions = {{functions}}};

/* Matrix: its entries one by one, the diagonal, and pairs of nodes: places, values, scales. */
#include "grad/op.h"
#include "state/bind.h"
#include "tensor/bind_tensor.h"

static ld_status matrix_row_of(bind_call *c)
{
    return ld_csr_row_of(c->out[0].index, c->in[0].matrix);
}

static ld_status matrix_col_of(bind_call *c)
{
    return ld_csr_col_of(c->out[0].index, c->in[0].matrix);
}

static ld_status matrix_offsets(bind_call *c)
{
    return ld_csr_offsets(c->out[0].index, c->in[0].matrix);
}

static ld_status matrix_entry_values(bind_call *c)
{
    return ld_op_entries(c->tape, c->out[0].tensor, c->in[0].matrix);
}

static ld_status matrix_with_values(bind_call *c)
{
    const ld_csr *a = c->in[0].matrix;
    ld_tensor *t = c->in[1].tensor;
    if (t->ndim != 1 || t->n_rows != a->s->nnz)
        return ld_fail(LD_SHAPE, "with_values: a vector of %lld expected, got %s",
                       (long long)a->s->nnz, ld_tensor_shape(t));
    bind_check(c->L, ld_csr_new(c->out[0].matrix, a->s, t, NULL, NULL));
    bool kept = ld_tape_records(bind_tape(c->L)) || bind_expects_step(c->L);
    return kept ? LD_OK : ld_csr_settle(c->out[0].matrix);
}

static ld_status matrix_scale_entries(bind_call *c)
{
    return ld_op_csr_scale_entries(c->tape, c->out[0].matrix, c->in[0].matrix, c->in[1].tensor);
}

static ld_status matrix_pick_entries(bind_call *c)
{
    ld_csr *a = c->in[0].matrix;
    ld_index *positions =
        bind_to_tensor(c->L, 2) ? bind_push_positions(c->L, 2, a->s->nnz) : bind_index(c->L, 2);
    return ld_op_csr_pick_entries(c->tape, c->out[0].matrix, a, positions);
}

static ld_status matrix_dropout(bind_call *c)
{
    return ld_op_csr_dropout(c->tape, c->out[0].matrix, c->in[0].matrix, c->in[1].number,
                             c->in[2].rng);
}

static ld_status matrix_diagonal(bind_call *c)
{
    return ld_csr_diagonal(c->out[0].index, c->in[0].matrix);
}

static ld_status matrix_diagonal_values(bind_call *c)
{
    return ld_op_diagonal_values(c->tape, c->out[0].tensor, c->in[0].matrix);
}

static ld_status matrix_to_dense(bind_call *c)
{
    return ld_op_to_dense(c->tape, c->out[0].tensor, c->in[0].matrix);
}

static int value_range(lua_State *L)
{
    float least, greatest;
    ld_csr *a = bind_any_matrix(L, 1);
    if (!a->values || a->s->nnz == 0)
        return 0;
    ld_tensor_range(&least, &greatest, a->values);
    lua_pushnumber(L, (lua_Number)least);
    lua_pushnumber(L, (lua_Number)greatest);
    return 2;
}

static ld_status matrix_find(bind_call *c)
{
    return ld_csr_find(c->out[0].index, c->in[0].matrix, c->in[1].index, c->in[2].index);
}

static ld_status matrix_has(bind_call *c)
{
    return ld_csr_has(c->out[0].tensor, c->in[0].matrix, c->in[1].index, c->in[2].index);
}

static ld_status matrix_common_neighbours(bind_call *c)
{
    return ld_csr_common(c->out[0].tensor, c->in[0].matrix, c->in[1].index, c->in[2].index,
                         c->in[3].tensor);
}

static const bind_function functions[] = {
    {"value_range", NULL,
     "ladies_core.value_range(A) -> number, number\n"
     "The least and the greatest of A.values, which are not copied for it: both nan where one is;\n"
     "nothing where there are none.",
     .raw = value_range},
    {NULL, NULL, NULL},
};

static const bind_function methods[] = {
    {"row_of", matrix_row_of, "A:row_of() -> Index\nThe row of every entry.", .reads = "A"},
    {"col_of", matrix_col_of, "A:col_of() -> Index\nThe column of every entry.", .reads = "A"},
    {"offsets", matrix_offsets,
     "A:offsets() -> Index\nWhere each row's entries begin, and one more for the end (from 1).",
     .reads = "A"},
    {"entry_values", matrix_entry_values,
     "A:entry_values() -> Tensor\nThe value of every entry, scales included. Differentiable.",
     .passes = "A"},
    {"with_values", matrix_with_values,
     "A:with_values(t) -> Matrix\n"
     "A matrix of A's structure with the vector t (one number per entry) as values and no scales.\n"
     "In a step gradients flow to t through all differentiable functions of the matrix. It may be\n"
     "made before the step, but nothing of it; where nothing is recorded it is a constant.",
     .reads = "A t"},
    {"scale_entries", matrix_scale_entries,
     "A:scale_entries(w) -> Matrix\n"
     "Every entry times its element of w. Structure and scales are shared. Differentiable.",
     .passes = "A w"},
    {"pick_entries", matrix_pick_entries,
     "A:pick_entries(idx: Index | Tensor) -> Matrix\n"
     "The entries at ascending positions, or those where a mask with an element for each, such as\n"
     "A:entry_values():above(0.1), is not 0; rows and columns stay. `edge` has the positions in\n"
     "A.root. Differentiable in the values and scales of A.",
     .passes = "A"},
    {"dropout", matrix_dropout,
     "A:dropout(p: number, rng) -> Matrix\n"
     "Leaves out each entry with probability p (a multiple of 2^-16) and divides the others by\n"
     "1 - p: dropout of sparse features (Srivastava et al. 2014), or of edges (Rong et al. 2020).\n"
     "Differentiable in the values and scales of A.",
     .passes = "A"},
    {"diagonal", matrix_diagonal,
     "A:diagonal() -> Index\n"
     "For every row the place of its entry on the diagonal among the entries of the row, from 1 on;\n"
     "0 where there is none; that of the last of several.",
     .reads = "A"},
    {"diagonal_values", matrix_diagonal_values,
     "A:diagonal_values() -> Tensor\nThe diagonal of a square matrix, 0 where there is no entry\n"
     "and the sum where there are several. Differentiable.",
     .passes = "A"},
    {"to_dense", matrix_to_dense, "A:to_dense() -> Tensor\nDifferentiable.", .passes = "A"},
    {"find", matrix_find,
     "A:find(rows: Index, cols: Index) -> Index\n"
     "For each pair (rows[i], cols[i]) the position of its entry among those of A, 0 where A has\n"
     "none: A:entry_values()[at] are their values where there are. A pair costs the logarithm of the\n"
     "entries in its row; in a slice, whose rows may be in any order, these entries.",
     .reads = "A"},
    {"has", matrix_has,
     "A:has(rows: Index, cols: Index) -> Tensor\n"
     "1 for each pair (rows[i], cols[i]) that A has an entry for, 0 for the others: whether there is\n"
     "an edge from node cols[i] to node rows[i]. Costs as A:find, and is a mask as t:above gives.",
     .reads = "A"},
    {"common_neighbours", matrix_common_neighbours,
     "A:common_neighbours(a: Index, b: Index [, w]) -> Tensor\n"
     "For each pair of rows a[i] and b[i] the number of columns that both have an entry in; with the\n"
     "vector w the sum of these columns' elements of it: w = 1 / log(degree) is the index of Adamic\n"
     "and Adar (2003), w = 1 / degree resource allocation (Zhou et al. 2009). A's values do not\n"
     "matter; w is a constant. Costs the entries of both rows, or less where one is far shorter.",
     .reads = "A"},
    {NULL, NULL, NULL},
};

const bind_subject bind_subject_entries = {.extends = {{&bind_matrix_class, methods}},
                                           .functions = {{functions}}};

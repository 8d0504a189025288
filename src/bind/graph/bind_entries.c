/* Matrix: its entries one by one, and the diagonal: places, values, scales. */
#include "grad/op.h"
#include "state/bind.h"

static int matrix_row_of(lua_State *L)
{
    ld_csr *a = bind_any_matrix(L, 1);
    bind_check(L, ld_csr_row_of(bind_new_index(L), a));
    return 1;
}

static int matrix_col_of(lua_State *L)
{
    ld_csr *a = bind_any_matrix(L, 1);
    bind_check(L, ld_csr_col_of(bind_new_index(L), a));
    return 1;
}

static int matrix_offsets(lua_State *L)
{
    ld_csr *a = bind_any_matrix(L, 1);
    bind_check(L, ld_csr_offsets(bind_new_index(L), a));
    return 1;
}

static int matrix_entry_values(lua_State *L)
{
    ld_csr *a = bind_matrix_operand(L, 1);
    bind_check(L, ld_op_entries(bind_tape(L), bind_new_tensor(L), a));
    return 1;
}

static int matrix_with_values(lua_State *L)
{
    ld_csr *a = bind_any_matrix(L, 1);
    ld_tensor *t = bind_operand(L, 2);
    if (t->ndim != 1 || t->n_rows != a->s->nnz)
        return bind_error(L, "with_values: a vector of %I expected, got %s", (LUAI_UACINT)a->s->nnz,
                          ld_tensor_shape(t));
    ld_csr **out = bind_new_matrix(L);
    bind_check(L, ld_csr_new(out, a->s, t, NULL, NULL));
    if (!ld_tape_records(bind_tape(L)) && !bind_expects_step(L))
        bind_check(L, ld_csr_settle(out));
    return 1;
}

static int matrix_scale_entries(lua_State *L)
{
    ld_csr *a = bind_matrix_operand(L, 1);
    ld_tensor *w = bind_factor(L, 2);
    bind_check(L, ld_op_csr_scale_entries(bind_tape(L), bind_new_matrix(L), a, w));
    return 1;
}

static int matrix_pick_entries(lua_State *L)
{
    ld_csr *a = bind_matrix_operand(L, 1);
    ld_index *positions =
        bind_to_tensor(L, 2) ? bind_push_positions(L, 2, a->s->nnz) : bind_index(L, 2);
    bind_check(L, ld_op_csr_pick_entries(bind_tape(L), bind_new_matrix(L), a, positions));
    return 1;
}

static int matrix_dropout(lua_State *L)
{
    ld_csr *a = bind_matrix_operand(L, 1);
    lua_Number p = bind_check_number(L, 2);
    ld_rng *rng = bind_rng(L, 3);
    bind_check(L, ld_op_csr_dropout(bind_tape(L), bind_new_matrix(L), a, p, rng));
    return 1;
}

static int matrix_diagonal(lua_State *L)
{
    ld_csr *a = bind_any_matrix(L, 1);
    bind_check(L, ld_csr_diagonal(bind_new_index(L), a));
    return 1;
}

static int matrix_diagonal_values(lua_State *L)
{
    ld_csr *a = bind_matrix_operand(L, 1);
    bind_check(L, ld_op_diagonal_values(bind_tape(L), bind_new_tensor(L), a));
    return 1;
}

static int matrix_to_dense(lua_State *L)
{
    ld_csr *a = bind_matrix_operand(L, 1);
    bind_check(L, ld_op_to_dense(bind_tape(L), bind_new_tensor(L), a));
    return 1;
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

static const bind_function functions[] = {
    {"value_range", value_range,
     "ladies_core.value_range(A) -> number, number\n"
     "The least and the greatest of A.values, which are not copied for it: both nan where one is;\n"
     "nothing where there are none."},
    {NULL, NULL, NULL},
};

static const bind_function methods[] = {
    {"row_of", matrix_row_of, "A:row_of() -> Index\nThe row of every entry."},
    {"col_of", matrix_col_of, "A:col_of() -> Index\nThe column of every entry."},
    {"offsets", matrix_offsets,
     "A:offsets() -> Index\nWhere each row's entries begin, and one more for the end (from 1)."},
    {"entry_values", matrix_entry_values,
     "A:entry_values() -> Tensor\nThe value of every entry, scales included. Differentiable."},
    {"with_values", matrix_with_values,
     "A:with_values(t) -> Matrix\nThe same structure with the vector t (one number per entry) as\n"
     "values and no scales. In a step gradients flow to t through all that is made of the\n"
     "matrix and said to be differentiable. It may be made before the step, but nothing of it;\n"
     "where nothing is recorded it is a constant."},
    {"scale_entries", matrix_scale_entries,
     "A:scale_entries(w) -> Matrix\n"
     "Every entry times its element of w. Structure and scales are shared. Differentiable."},
    {"pick_entries", matrix_pick_entries,
     "A:pick_entries(idx: Index | Tensor) -> Matrix\n"
     "The entries at ascending positions, or those where a mask with an element for each, such as\n"
     "A:entry_values():above(0.1), is not 0; rows and columns stay. `edge` has the positions in\n"
     "A.root. Differentiable in the values and scales of A."},
    {"dropout", matrix_dropout,
     "A:dropout(p: number, rng) -> Matrix\n"
     "Leaves out each entry with probability p (a multiple of 2^-16) and divides the others by\n"
     "1 - p: dropout of sparse features (Srivastava et al. 2014), or of edges (Rong et al. 2020).\n"
     "Differentiable in the values and scales of A."},
    {"diagonal", matrix_diagonal,
     "A:diagonal() -> Index\n"
     "For every row the place of its entry on the diagonal among the entries of the row, from 1 on;\n"
     "0 where there is none."},
    {"diagonal_values", matrix_diagonal_values,
     "A:diagonal_values() -> Tensor\nThe diagonal of a square matrix, 0 where there is no entry.\n"
     "Differentiable."},
    {"to_dense", matrix_to_dense, "A:to_dense() -> Tensor\nDifferentiable."},
    {NULL, NULL, NULL},
};

void bind_open_entries(lua_State *L)
{
    bind_methods(L, BIND_MATRIX, methods);
    bind_functions(L, functions);
}

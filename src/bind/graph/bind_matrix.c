/* Matrix: sparse matrices. Products are differentiable and thus in bind_grad.c. */
#include <inttypes.h>
#include <string.h>

#include "grad/op.h"
#include "graph/components.h"
#include "state/bind.h"

ld_csr **bind_new_matrix(lua_State *L)
{
    bind_collect(L);
    ld_csr **a = lua_newuserdatauv(L, sizeof(ld_csr *), 0);
    *a = NULL;
    luaL_setmetatable(L, BIND_MATRIX);
    return a;
}

static int64_t count_option(lua_State *L, const char *where, const char *name)
{
    char what[64];
    snprintf(what, sizeof what, "%s: %s", where, name);
    lua_getfield(L, 1, name);
    int64_t n = bind_count(L, -1, what);
    lua_pop(L, 1);
    return n;
}

static ld_index *index_option(lua_State *L, const char *where, const char *name)
{
    ld_index *x = bind_option_index(L, 1, where, name);
    if (!x)
        bind_error(L, "%s: the option %s is missing", where, name);
    return x;
}

static int matrix_new(lua_State *L)
{
    static const char *const names[] = {"n_rows", "n_cols", "rows", "cols", "values", NULL};
    bind_check_type(L, 1, LUA_TTABLE);
    bind_check_options(L, 1, "matrix", names);
    int64_t n_rows = count_option(L, "matrix", "n_rows");
    int64_t n_cols = count_option(L, "matrix", "n_cols");
    ld_index *rows = index_option(L, "matrix", "rows"), *cols = index_option(L, "matrix", "cols");
    ld_tensor *values = bind_option_tensor(L, 1, "matrix", "values");
    bind_check(L, ld_csr_from_coo(bind_new_matrix(L), n_rows, n_cols, rows, cols, values));
    return 1;
}

static int matrix_csr(lua_State *L)
{
    static const char *const names[] = {"n_rows", "n_cols", "offsets", "columns", "values", NULL};
    bind_check_type(L, 1, LUA_TTABLE);
    bind_check_options(L, 1, "csr", names);
    int64_t n_rows = count_option(L, "csr", "n_rows"), n_cols = count_option(L, "csr", "n_cols");
    ld_index *offsets = index_option(L, "csr", "offsets");
    ld_index *columns = index_option(L, "csr", "columns");
    ld_tensor *values = bind_option_tensor(L, 1, "csr", "values");
    bind_check(L, ld_csr_from_arrays(bind_new_matrix(L), n_rows, n_cols, offsets, columns, values));
    return 1;
}

static int matrix_sparse(lua_State *L)
{
    ld_tensor *t = bind_tensor(L, 1);
    bind_check(L, ld_csr_from_dense(bind_new_matrix(L), t));
    return 1;
}

static int matrix_block_diagonal(lua_State *L)
{
    bind_check_type(L, 1, LUA_TTABLE);
    lua_Integer n = (lua_Integer)lua_rawlen(L, 1);
    ld_csr **parts = lua_newuserdatauv(L, (size_t)n * sizeof *parts + 1, 0);
    for (lua_Integer i = 0; i < n; i++) {
        lua_rawgeti(L, 1, i + 1);
        parts[i] = bind_matrix(L, -1);
        lua_pop(L, 1);
    }
    bind_check(L, ld_csr_block_diagonal(bind_new_matrix(L), parts, n));
    return 1;
}

static void drop(void *matrix)
{
    ld_csr_unref(matrix);
}

static int matrix_gc(lua_State *L)
{
    bind_drop(L, bind_check_userdata(L, 1, BIND_MATRIX), drop);
    return 0;
}

static int matrix_len(lua_State *L)
{
    lua_pushinteger(L, bind_any_matrix(L, 1)->s->n_rows);
    return 1;
}

static int matrix_tostring(lua_State *L)
{
    if (bind_push_closed(L, 1, BIND_MATRIX))
        return 1;
    const ld_structure *s = ((ld_csr *)bind_object(L, 1, BIND_MATRIX))->s;
    lua_pushfstring(L, "Matrix %I x %I, %I entries", (LUAI_UACINT)s->n_rows, (LUAI_UACINT)s->n_cols,
                    (LUAI_UACINT)s->nnz);
    return 1;
}

static int matrix_get_field(lua_State *L)
{
    ld_csr *a = bind_any_matrix(L, 1);
    const char *key = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "";
    if (strcmp(key, "n_rows") == 0)
        lua_pushinteger(L, a->s->n_rows);
    else if (strcmp(key, "n_cols") == 0)
        lua_pushinteger(L, a->s->n_cols);
    else if (strcmp(key, "nnz") == 0)
        lua_pushinteger(L, a->s->nnz);
    else if (strcmp(key, "looped") == 0)
        lua_pushboolean(L, a->s->looped);
    else if (strcmp(key, "requires_grad") == 0)
        lua_pushboolean(L, ld_wants_grad(a->values) || ld_wants_grad(a->row_scale) ||
                               ld_wants_grad(a->col_scale));
    else if (strcmp(key, "edge") == 0)
        bind_check(L, ld_csr_origin(bind_new_index(L), a));
    else if (strcmp(key, "root") == 0) {
        if (!a->s->root || a->s->root->s->row_ids)
            lua_pushnil(L);
        else
            *bind_new_matrix(L) = ld_csr_ref(a->s->root);
    } else if (strcmp(key, "values") == 0) {
        if (!a->values)
            lua_pushnil(L);
        else if (ld_wants_grad(a->values))
            *bind_new_tensor(L) = ld_tensor_ref(a->values);
        else /* a copy: matrices that share the values must not change through it */
            bind_check(L, ld_tensor_clone(bind_new_tensor(L), a->values));
    } else
        return bind_no_field(L, BIND_MATRIX);
    return 1;
}

/* --- slices ----------------------------------------------------------------------------------- */

static int matrix_slice(lua_State *L)
{
    static const char *const names[] = {"first", NULL};
    ld_csr *a = bind_matrix_operand(L, 1);
    ld_index *rows = bind_index(L, 2), *cols = bind_to_index(L, 3), *first = NULL;
    if (cols) {
        ld_csr **u = bind_new_matrix(L);
        bind_check(L, ld_csr_slice_cols(u, a, rows, cols));
        bind_check(L, ld_op_csr_part(bind_tape(L), u, a, rows, cols));
        lua_pushvalue(L, 3);
        return 2;
    }
    bind_check_options(L, 3, "slice", names);
    if (bind_option(L, 3, "first"))
        first = bind_index(L, -1);
    ld_csr **u = bind_new_matrix(L);
    ld_index **src = bind_new_index(L);
    bind_check(L, ld_csr_slice(u, src, a, rows, first));
    bind_check(L, ld_op_csr_part(bind_tape(L), u, a, rows, *src));
    return 2;
}

static int matrix_rows(lua_State *L)
{
    ld_csr *a = bind_matrix_operand(L, 1);
    ld_index *rows = bind_index(L, 2);
    ld_csr **u = bind_new_matrix(L);
    bind_check(L, ld_csr_rows(u, a, rows));
    bind_check(L, ld_op_csr_part(bind_tape(L), u, a, rows, NULL));
    return 1;
}

static int matrix_induced(lua_State *L)
{
    ld_csr *a = bind_matrix_operand(L, 1);
    ld_index *nodes = bind_index(L, 2);
    ld_csr **u = bind_new_matrix(L);
    bind_check(L, ld_csr_slice_cols(u, a, nodes, nodes));
    bind_check(L, ld_op_csr_part(bind_tape(L), u, a, nodes, nodes));
    return 1;
}

static int matrix_pick_cols(lua_State *L)
{
    ld_csr *a = bind_matrix_operand(L, 1);
    ld_index *pick = bind_index(L, 2);
    ld_csr **u = bind_new_matrix(L);
    bind_check(L, ld_csr_pick_cols(u, a, pick));
    bind_check(L, ld_op_csr_part(bind_tape(L), u, a, NULL, pick));
    return 1;
}

/* --- scaling and sums ------------------------------------------------------------------------- */

static int matrix_col_sums(lua_State *L)
{
    ld_csr *a = bind_matrix_operand(L, 1);
    int power = bind_power(L, 2);
    bind_check(L, ld_op_entry_col_sums(bind_tape(L), bind_new_tensor(L), a, power));
    return 1;
}

static int matrix_row_sums(lua_State *L)
{
    ld_csr *a = bind_matrix_operand(L, 1);
    int power = bind_power(L, 2);
    bind_check(L, ld_op_entry_row_sums(bind_tape(L), bind_new_tensor(L), a, power));
    return 1;
}

static int matrix_col_max(lua_State *L)
{
    ld_csr *a = bind_matrix_operand(L, 1);
    bind_check(L, ld_op_entry_max(bind_tape(L), bind_new_tensor(L), a, true));
    return 1;
}

static int matrix_row_max(lua_State *L)
{
    ld_csr *a = bind_matrix_operand(L, 1);
    bind_check(L, ld_op_entry_max(bind_tape(L), bind_new_tensor(L), a, false));
    return 1;
}

static int matrix_degrees(lua_State *L)
{
    ld_csr *a = bind_any_matrix(L, 1);
    ld_index *rows = lua_isnoneornil(L, 2) ? NULL : bind_index(L, 2);
    bind_check(L, ld_csr_degrees(bind_new_tensor(L), a, rows));
    return 1;
}

static int matrix_empty_rows(lua_State *L)
{
    lua_pushinteger(L, ld_csr_empty_rows(bind_any_matrix(L, 1)));
    return 1;
}

static int matrix_loops(lua_State *L)
{
    lua_pushinteger(L, ld_csr_loops(bind_any_matrix(L, 1)));
    return 1;
}

static int matrix_scale_cols(lua_State *L)
{
    ld_csr *a = bind_matrix_operand(L, 1);
    ld_tensor *w = bind_factor(L, 2);
    bind_check(L, ld_op_csr_scale_cols(bind_tape(L), bind_new_matrix(L), a, w));
    return 1;
}

static int matrix_scale_rows(lua_State *L)
{
    ld_csr *a = bind_matrix_operand(L, 1);
    ld_tensor *w = bind_factor(L, 2);
    bind_check(L, ld_op_csr_scale_rows(bind_tape(L), bind_new_matrix(L), a, w));
    return 1;
}

static int matrix_row_normalize(lua_State *L)
{
    ld_csr *a = bind_matrix_operand(L, 1);
    bind_check(L, ld_op_csr_row_normalize(bind_tape(L), bind_new_matrix(L), a));
    return 1;
}

static int matrix_normalize(lua_State *L)
{
    static const char *const kinds[] = {"sym", "row", "none", NULL};
    static const char *const names[] = {"self_loops", NULL};
    ld_csr *a = bind_matrix_operand(L, 1);
    ld_normalization kind = (ld_normalization)bind_word(L, 2, kinds);
    bind_check_options(L, 3, "normalize", names);
    bool self_loops = bind_option_boolean(L, 3, "self_loops", true);
    bind_check(L, ld_op_csr_normalize(bind_tape(L), bind_new_matrix(L), a, kind, self_loops));
    return 1;
}

static int matrix_add_diag(lua_State *L)
{
    ld_csr *a = bind_matrix_operand(L, 1);
    if (bind_to_operand(L, 2)) {
        ld_tensor *v = bind_factor(L, 2);
        bind_check(L, ld_op_csr_add_diagonal(bind_tape(L), bind_new_matrix(L), a, v));
        return 1;
    }
    float v = (float)bind_check_number(L, 2);
    bind_check(L, ld_op_csr_add_diag(bind_tape(L), bind_new_matrix(L), a, v));
    return 1;
}

static int matrix_without_loops(lua_State *L)
{
    ld_csr *a = bind_matrix_operand(L, 1);
    bind_check(L, ld_op_csr_set_loops(bind_tape(L), bind_new_matrix(L), a, false));
    return 1;
}

/* --- the rest --------------------------------------------------------------------------------- */

static int matrix_transpose(lua_State *L)
{
    ld_csr *a = bind_matrix_operand(L, 1);
    bind_check(L, ld_op_csr_transpose(bind_tape(L), bind_new_matrix(L), a));
    return 1;
}

static int matrix_detach(lua_State *L)
{
    ld_csr *a = bind_any_matrix(L, 1);
    bind_check(L, ld_csr_detach(bind_new_matrix(L), a));
    return 1;
}

static int matrix_symmetrize(lua_State *L)
{
    ld_csr *a = bind_matrix(L, 1);
    ld_csr **out = bind_new_matrix(L);
    bind_check(L, ld_csr_symmetrize(out, a));
    bind_check(L, ld_csr_settle(out)); /* it may be a itself */
    return 1;
}

static int matrix_is_symmetric(lua_State *L)
{
    bool symmetric = false;
    bind_check(L, ld_csr_is_symmetric(&symmetric, bind_any_matrix(L, 1)));
    lua_pushboolean(L, symmetric);
    return 1;
}

static int matrix_components(lua_State *L)
{
    ld_csr *a = bind_any_matrix(L, 1);
    int64_t count = 0;
    bind_check(L, ld_csr_components(bind_new_index(L), &count, a));
    lua_pushinteger(L, count);
    return 2;
}

static int matrix_is_close(lua_State *L)
{
    const ld_csr *a = bind_any_matrix(L, 1), *b = bind_any_matrix(L, 2);
    double tolerance = bind_opt_number(L, 3, 1e-5);
    lua_pushboolean(L, ld_csr_is_close(a, b, tolerance));
    return 1;
}

static int matrix_eq(lua_State *L)
{
    bool both = luaL_testudata(L, 1, BIND_MATRIX) && luaL_testudata(L, 2, BIND_MATRIX);
    lua_pushboolean(L, both && ld_csr_is_close(bind_any_matrix(L, 1), bind_any_matrix(L, 2), 0));
    return 1;
}

static int matrix_hash(lua_State *L)
{
    uint64_t hash;
    bind_check(L, ld_csr_hash(&hash, bind_any_matrix(L, 1)));
    bind_push_hash(L, hash);
    return 1;
}

static const bind_function functions[] = {
    {"matrix", matrix_new,
     "ladies.matrix{n_rows=, n_cols=, rows=Index, cols=Index [, values=Tensor]} -> Matrix\n"
     "A sparse matrix (CSR) from coordinates. Entries given twice are summed; without values "
     "every\n"
     "entry is 1 and duplicates count once. A == B when shapes, places and values of all entries\n"
     "are equal."},
    {"csr", matrix_csr,
     "ladies.csr{n_rows=, n_cols=, offsets=Index, columns=Index [, values=Tensor]} -> Matrix\n"
     "A sparse matrix from CSR arrays as they lie in a file: offsets has n_rows + 1 elements and,\n"
     "read as an Index, starts at 1. Rows are sorted and duplicates merged."},
    {"block_diagonal", matrix_block_diagonal,
     "ladies.block_diagonal(list: Matrix[]) -> Matrix\n"
     "The matrices of a list one after the other along the diagonal. They must all be slices of one\n"
     "matrix, as the result then is (`edge` and `root`), or none of them one."},
    {"sparse", matrix_sparse,
     "ladies.sparse(tensor: Tensor) -> Matrix\nThe elements of a dense matrix that are not zero."},
    {NULL, NULL, NULL},
};

static const bind_function methods[] = {
    {"slice", matrix_slice,
     "A:slice(dst [, {first = Index}]) -> U, src\n"
     "Rows dst with the columns compacted to those touched; src holds their ids, in order of "
     "first\n"
     "touch after those of `first`, which come first whether touched or not. Costs the entries of "
     "U.\n"
     "A:slice(dst, src) -> U, src\n"
     "Rows dst and the given columns. Repeated ids are an error. Differentiable.\n"
     "U.edge are the positions of U's entries in U.root, the matrix that A is or was sliced from,\n"
     "whatever has happened to their values; a slice keeps it in memory. U.root is nil when U is no\n"
     "slice, or one of a graph in shards, whose entries have no positions."},
    {"rows", matrix_rows,
     "A:rows(idx) -> Matrix\nThe rows named by an Index, with all columns; rows may repeat.\n"
     "Differentiable."},
    {"induced", matrix_induced,
     "A:induced(nodes) -> Matrix\n"
     "The rows and columns `nodes`: the induced subgraph, whose `edge` are positions in A. Costs "
     "the\n"
     "entries of A's rows `nodes`. Differentiable."},
    {"pick_cols", matrix_pick_cols,
     "A:pick_cols(pick) -> Matrix\nColumn j of the result is column pick[j] of A.\n"
     "Differentiable."},
    {"col_sums", matrix_col_sums,
     "A:col_sums([power]) -> Tensor\nThe sum of each column; of the squares of its entries for\n"
     "power 2. Summed in double. Differentiable."},
    {"row_sums", matrix_row_sums,
     "A:row_sums([power]) -> Tensor\nThe sum of each row; of the squares of its entries for power "
     "2.\nDifferentiable."},
    {"col_max", matrix_col_max,
     "A:col_max() -> Tensor\nThe largest entry of each column; 0 where there is none.\n"
     "Differentiable: the gradient goes to the first of the largest."},
    {"row_max", matrix_row_max,
     "A:row_max() -> Tensor\nThe largest entry of each row; 0 where there is none.\n"
     "Differentiable: the gradient goes to the first of the largest."},
    {"degrees", matrix_degrees,
     "A:degrees([idx]) -> Tensor\nThe number of entries of every row, or of rows idx."},
    {"empty_rows", matrix_empty_rows,
     "A:empty_rows() -> integer\nThe number of rows without entries."},
    {"loops", matrix_loops, "A:loops() -> integer\nThe number of entries on the diagonal."},
    {"scale_cols", matrix_scale_cols,
     "A:scale_cols(w) -> Matrix\nColumn j times w[j]. Entries are shared, not copied.\n"
     "Differentiable."},
    {"scale_rows", matrix_scale_rows,
     "A:scale_rows(w) -> Matrix\nRow i times w[i]. Entries are shared, not copied.\n"
     "Differentiable."},
    {"row_normalize", matrix_row_normalize,
     "A:row_normalize() -> Matrix\nEvery row divided by its sum; rows of sum zero stay as they "
     "are.\nDifferentiable."},
    {"normalize", matrix_normalize,
     "A:normalize(\"sym\" | \"row\" | \"none\" [, {self_loops = true}]) -> Matrix\n"
     "D^-1/2 A D^-1/2, D^-1 A, or A, with D the row sums, after self-loops of weight 1 were put on\n"
     "the diagonal (replacing those that are there). Kipf and Welling 2017; Zou et al. 2019,\n"
     "section 2. Differentiable."},
    {"add_diag", matrix_add_diag,
     "A:add_diag(v: Tensor | number) -> Matrix\n"
     "v added to every diagonal entry, or v[i] to the i-th for a vector "
     "v; missing\nones are made. Differentiable."},
    {"without_loops", matrix_without_loops,
     "A:without_loops() -> Matrix\nThe diagonal dropped. Differentiable."},
    {"transpose", matrix_transpose, "A:transpose() -> Matrix\nDifferentiable."},
    {"detach", matrix_detach,
     "A:detach() -> Matrix\nA with its values and scales as constants, which outlive the step. "
     "Parameters\n"
     "among them are copied."},
    {"symmetrize", matrix_symmetrize,
     "A:symmetrize() -> Matrix\nThe union of A and its transpose; the larger value where both "
     "have\n"
     "one."},
    {"is_symmetric", matrix_is_symmetric, "A:is_symmetric() -> boolean"},
    {"components", matrix_components,
     "A:components() -> Index, integer\n"
     "The connected component of every node of a square matrix, entries taken both ways, and the\n"
     "number of components. They count from 1 in the order of their first nodes."},
    {"is_close", matrix_is_close,
     "A:is_close(B: Matrix [, tolerance = 1e-5]) -> boolean\n"
     "Whether A and B have entries in the same places, in the same order, whose values differ by no\n"
     "more than tolerance times the larger one. Costs nothing when they are one matrix."},
    {"hash", matrix_hash,
     "A:hash() -> string\n16 hexadecimal digits that depend on structure, order and every value."},
    {NULL, NULL, NULL},
};

static const bind_function operators[] = {
    {"__len", matrix_len, "#A -> integer\nThe number of rows."},
    {"__eq", matrix_eq,
     "A == B -> boolean\n"
     "Whether shapes, and places, order and values of all entries are equal. See A:is_close(B)."},
    {NULL, NULL, NULL},
};

void bind_open_matrix(lua_State *L)
{
    static const luaL_Reg meta[] = {
        {"__gc", matrix_gc},
        {"__tostring", matrix_tostring},
        {NULL, NULL},
    };
    static const char *const properties[] = {
        "n_rows:integer",        "n_cols:integer", "nnz:integer",
        "looped:boolean",        "values:Tensor",  "edge:Index",
        "requires_grad:boolean", "root:Matrix",    NULL};
    bind_class(L, BIND_MATRIX, methods, meta, properties, matrix_get_field);
    bind_operators(L, BIND_MATRIX, operators);
    bind_functions(L, functions);
}

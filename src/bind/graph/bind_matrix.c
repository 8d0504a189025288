/* Matrix: sparse matrices, their sums and products with each other. Products with tensors are
 * differentiable and thus in bind_grad.c. */
#include <string.h>

#include "grad/op.h"
#include "state/bind.h"
#include "tensor/bind_tensor.h"

static ld_status matrix_new(bind_call *c)
{
    return ld_csr_from_coo(c->out[0].matrix, c->in[1].integer, c->in[2].integer, c->in[3].index,
                           c->in[4].index, c->in[5].tensor);
}

static ld_status matrix_csr(bind_call *c)
{
    return ld_csr_from_arrays(c->out[0].matrix, c->in[1].integer, c->in[2].integer, c->in[3].index,
                              c->in[4].index, c->in[5].tensor);
}

static ld_status matrix_sparse(bind_call *c)
{
    return ld_csr_from_dense(c->out[0].matrix, c->in[0].tensor);
}

static ld_status matrix_block_diagonal(bind_call *c)
{
    int64_t n;
    ld_csr **parts = bind_push_list(c->L, 1, BIND_MATRIX, &n);
    return ld_csr_block_diagonal(c->out[0].matrix, parts, n);
}

static ld_status matrix_len(bind_call *c)
{
    c->out[0].integer = bind_any_matrix(c->L, 1)->s->n_rows;
    return LD_OK;
}

static void matrix_describe(lua_State *L, const void *object)
{
    const ld_structure *s = ((const ld_csr *)object)->s;
    lua_pushfstring(L, "Matrix %I x %I, %I entries", (LUAI_UACINT)s->n_rows, (LUAI_UACINT)s->n_cols,
                    (LUAI_UACINT)s->nnz);
}

static void push_values(lua_State *L, const ld_csr *a)
{
    if (!a->values)
        lua_pushnil(L);
    else if (ld_wants_grad(a->values))
        *bind_new_tensor(L) = ld_tensor_ref(a->values);
    else /* a copy: matrices that share the values must not change through it */
        bind_check(L, ld_tensor_clone(bind_new_tensor(L), a->values));
}

static void matrix_field(lua_State *L, const char *key)
{
    ld_csr *a = bind_any_matrix(L, 1);
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
    else if (strcmp(key, "values") == 0)
        push_values(L, a);
    else if (a->s->from.root && !a->s->from.root->s->from.row_ids) /* root */
        *bind_new_matrix(L) = ld_csr_ref(a->s->from.root);
    else
        lua_pushnil(L);
}

/* --- slices ----------------------------------------------------------------------------------- */

/* A:slice. Its columns are those of an Index; or, with an option table, the columns that the rows
 * touch, with the Index `first` before them. */
static int matrix_slice(lua_State *L)
{
    static const char *const names[] = {"first", NULL};
    ld_csr *a = bind_matrix_operand(L, 1);
    ld_index *rows = bind_index(L, 2), *cols = bind_to_index(L, 3), *first = NULL;
    if (cols) {
        bind_check(L, ld_op_csr_slice(bind_tape(L), bind_new_matrix(L), a, rows, cols));
        lua_pushvalue(L, 3);
        return 2;
    }
    bind_check_options(L, 3, "slice", names);
    if (lua_istable(L, 3) && lua_getfield(L, 3, "first") != LUA_TNIL)
        first = bind_index(L, -1);
    ld_csr **u = bind_new_matrix(L);
    ld_index **src = bind_new_index(L);
    bind_check(L, ld_op_csr_slice_touched(bind_tape(L), u, src, a, rows, first));
    return 2;
}

static ld_status matrix_rows(bind_call *c)
{
    return ld_op_csr_slice(c->tape, c->out[0].matrix, c->in[0].matrix, c->in[1].index, NULL);
}

static ld_status matrix_induced(bind_call *c)
{
    ld_index *nodes = c->in[1].index;
    return ld_op_csr_slice(c->tape, c->out[0].matrix, c->in[0].matrix, nodes, nodes);
}

static ld_status matrix_pick_cols(bind_call *c)
{
    return ld_op_csr_slice(c->tape, c->out[0].matrix, c->in[0].matrix, NULL, c->in[1].index);
}

/* --- scaling and sums ------------------------------------------------------------------------- */

static ld_status matrix_col_sums(bind_call *c)
{
    return ld_op_entry_col_sums(c->tape, c->out[0].tensor, c->in[0].matrix, bind_power(c));
}

static ld_status matrix_row_sums(bind_call *c)
{
    return ld_op_entry_row_sums(c->tape, c->out[0].tensor, c->in[0].matrix, bind_power(c));
}

/* Finds the largest entry of each row or, where `kind` is 1, of each column. */
static ld_status matrix_max(bind_call *c)
{
    return ld_op_entry_max(c->tape, c->out[0].tensor, c->in[0].matrix, c->kind);
}

static ld_status matrix_degrees(bind_call *c)
{
    return ld_csr_degrees(c->out[0].tensor, c->in[0].matrix, c->in[1].index);
}

static ld_status matrix_empty_rows(bind_call *c)
{
    c->out[0].integer = ld_csr_empty_rows(c->in[0].matrix);
    return LD_OK;
}

static ld_status matrix_loops(bind_call *c)
{
    c->out[0].integer = ld_csr_loops(c->in[0].matrix);
    return LD_OK;
}

static ld_status matrix_scale_cols(bind_call *c)
{
    return ld_op_csr_scale_cols(c->tape, c->out[0].matrix, c->in[0].matrix, c->in[1].tensor);
}

static ld_status matrix_scale_rows(bind_call *c)
{
    return ld_op_csr_scale_rows(c->tape, c->out[0].matrix, c->in[0].matrix, c->in[1].tensor);
}

static ld_status matrix_row_normalize(bind_call *c)
{
    return ld_op_csr_row_normalize(c->tape, c->out[0].matrix, c->in[0].matrix);
}

static ld_status matrix_normalize(bind_call *c)
{
    return ld_op_csr_normalize(c->tape, c->out[0].matrix, c->in[0].matrix,
                               (ld_normalization)c->in[1].integer, c->in[3].flag);
}

static ld_status matrix_add_diag(bind_call *c)
{
    ld_csr *a = c->in[0].matrix;
    if (bind_to_operand(c->L, 2))
        return ld_op_csr_add_diagonal(c->tape, c->out[0].matrix, a, bind_factor(c->L, 2));
    float v = (float)bind_check_number(c->L, 2);
    return ld_op_csr_add_diag(c->tape, c->out[0].matrix, a, v);
}

static ld_status matrix_without_loops(bind_call *c)
{
    return ld_op_csr_set_loops(c->tape, c->out[0].matrix, c->in[0].matrix, false);
}

/* --- the rest --------------------------------------------------------------------------------- */

static ld_status matrix_transpose(bind_call *c)
{
    return ld_op_csr_transpose(c->tape, c->out[0].matrix, c->in[0].matrix);
}

static ld_status matrix_detach(bind_call *c)
{
    return ld_csr_detach(c->out[0].matrix, c->in[0].matrix);
}

static ld_status matrix_symmetrize(bind_call *c)
{
    bind_check(c->L, ld_csr_symmetrize(c->out[0].matrix, c->in[0].matrix));
    return ld_csr_settle(c->out[0].matrix); /* it may be the matrix itself */
}

static ld_status matrix_is_symmetric(bind_call *c)
{
    return ld_csr_is_symmetric(&c->out[0].flag, c->in[0].matrix);
}

static ld_status matrix_components(bind_call *c)
{
    int64_t count = 0;
    ld_status st = ld_csr_components(c->out[0].index, &count, c->in[0].matrix);
    c->out[1].integer = count;
    return st;
}

static ld_status matrix_is_close(bind_call *c)
{
    c->out[0].flag = ld_csr_is_close(c->in[0].matrix, c->in[1].matrix, c->in[2].number);
    return LD_OK;
}

static ld_status matrix_eq(bind_call *c)
{
    lua_State *L = c->L;
    bool both = luaL_testudata(L, 1, BIND_MATRIX) && luaL_testudata(L, 2, BIND_MATRIX);
    c->out[0].flag = both && ld_csr_is_close(bind_any_matrix(L, 1), bind_any_matrix(L, 2), 0);
    return LD_OK;
}

static ld_status matrix_hash(bind_call *c)
{
    uint64_t hash = 0;
    ld_status st = ld_csr_hash(&hash, c->in[0].matrix);
    bind_push_hash(c->L, hash);
    return st;
}

static ld_status matrix_matmul_sparse(bind_call *c)
{
    return ld_csr_multiply(c->out[0].matrix, c->in[0].matrix, c->in[1].matrix);
}

/* The sum or, where `kind` is 1, the difference. */
static ld_status matrix_add(bind_call *c)
{
    return ld_csr_add(c->out[0].matrix, bind_matrix(c->L, 1), bind_matrix(c->L, 2), c->kind);
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
    {"slice", NULL,
     "A:slice(dst [, {first = Index}]) -> U, src\n"
     "Rows dst with the columns compacted to those touched; src holds their ids, in order of "
     "first\n"
     "touch after those of `first`, which come first whether touched or not. Costs the entries of "
     "U.\n"
     "A:slice(dst, src) -> U, src\n"
     "Rows dst and the given columns. Repeated ids are an error. Differentiable.\n"
     "U.edge are the positions of U's entries in U.root, the matrix that A is or was sliced from,\n"
     "whatever has happened to their values; a slice keeps it in memory. U.root is nil when U is no\n"
     "slice, or one of a graph in shards, whose entries have no positions.",
     .raw = matrix_slice},
    {"rows", matrix_rows,
     "A:rows(idx) -> Matrix\nThe rows named by an Index, with all columns; rows may repeat.\n"
     "Differentiable.",
     .passes = "A"},
    {"induced", matrix_induced,
     "A:induced(nodes) -> Matrix\n"
     "The rows and columns `nodes`: the induced subgraph, whose `edge` are positions in A. Costs "
     "the\n"
     "entries of A's rows `nodes`. Differentiable.",
     .passes = "A"},
    {"pick_cols", matrix_pick_cols,
     "A:pick_cols(pick) -> Matrix\nColumn j of the result is column pick[j] of A.\n"
     "Differentiable.",
     .passes = "A"},
    {"col_sums", matrix_col_sums,
     "A:col_sums([power = 1]) -> Tensor\nThe sum of each column; of the squares of its entries for\n"
     "power 2. Summed in double. Differentiable.",
     .passes = "A"},
    {"row_sums", matrix_row_sums,
     "A:row_sums([power = 1]) -> Tensor\nThe sum of each row; of the squares of its entries for power "
     "2.\nDifferentiable.",
     .passes = "A"},
    {"col_max", matrix_max,
     "A:col_max() -> Tensor\nThe largest entry of each column; 0 where there is none.\n"
     "Differentiable: the gradient goes to the first of the largest.",
     .passes = "A", .kind = 1},
    {"row_max", matrix_max,
     "A:row_max() -> Tensor\nThe largest entry of each row; 0 where there is none.\n"
     "Differentiable: the gradient goes to the first of the largest.",
     .passes = "A"},
    {"degrees", matrix_degrees,
     "A:degrees([idx]) -> Tensor\nThe number of entries of every row, or of rows idx.",
     .reads = "A"},
    {"empty_rows", matrix_empty_rows,
     "A:empty_rows() -> integer\nThe number of rows without entries.", .reads = "A"},
    {"loops", matrix_loops, "A:loops() -> integer\nThe number of entries on the diagonal.",
     .reads = "A"},
    {"scale_cols", matrix_scale_cols,
     "A:scale_cols(w) -> Matrix\nColumn j times w[j]. Entries are shared, not copied.\n"
     "Differentiable.",
     .passes = "A w"},
    {"scale_rows", matrix_scale_rows,
     "A:scale_rows(w) -> Matrix\nRow i times w[i]. Entries are shared, not copied.\n"
     "Differentiable.",
     .passes = "A w"},
    {"row_normalize", matrix_row_normalize,
     "A:row_normalize() -> Matrix\nEvery row divided by its sum; rows of sum zero stay as they "
     "are.\nDifferentiable.",
     .passes = "A"},
    {"normalize", matrix_normalize,
     "A:normalize(\"sym\" | \"row\" | \"none\" [, {self_loops = true}]) -> Matrix\n"
     "D^-1/2 A D^-1/2, D^-1 A, or A, with D the row sums, after self-loops of weight 1 were put on\n"
     "the diagonal (replacing those that are there). Kipf and Welling 2017; Zou et al. 2019,\n"
     "section 2. Differentiable.",
     .passes = "A"},
    {"add_diag", matrix_add_diag,
     "A:add_diag(v: Tensor | number) -> Matrix\n"
     "v added to every diagonal entry, or v[i] to the i-th for a vector "
     "v; missing\nones are made, and several of one place become one, their sum. Differentiable.",
     .passes = "A"},
    {"without_loops", matrix_without_loops,
     "A:without_loops() -> Matrix\nThe diagonal dropped. Differentiable.", .passes = "A"},
    {"transpose", matrix_transpose, "A:transpose() -> Matrix\nDifferentiable.", .passes = "A"},
    {"detach", matrix_detach,
     "A:detach() -> Matrix\nA with its values and scales as constants, which outlive the step. "
     "Parameters\n"
     "among them are copied.",
     .reads = "A"},
    {"symmetrize", matrix_symmetrize,
     "A:symmetrize() -> Matrix\nThe union of A and its transpose; the larger value where both "
     "have\n"
     "one."},
    {"is_symmetric", matrix_is_symmetric, "A:is_symmetric() -> boolean", .reads = "A"},
    {"components", matrix_components,
     "A:components() -> Index, integer\n"
     "The connected component of every node of a square matrix, entries taken both ways, and the\n"
     "number of components. They count from 1 in the order of their first nodes.",
     .reads = "A"},
    {"is_close", matrix_is_close,
     "A:is_close(B: Matrix [, tolerance = 1e-5]) -> boolean\n"
     "True if A and B have entries in the same places, in the same order, whose values differ by\n"
     "no more than tolerance times the larger one. Costs nothing when they are one matrix.",
     .reads = "A B"},
    {"hash", matrix_hash,
     "A:hash() -> string\n16 hexadecimal digits that depend on structure, order and every value.",
     .reads = "A"},
    {"matmul_sparse", matrix_matmul_sparse,
     "A:matmul_sparse(B: Matrix) -> Matrix\n"
     "The product of two sparse matrices, as a sparse one: of A with itself, walks of two steps. It\n"
     "has an entry wherever an entry of A meets one of B, even if their sum is 0. Summed in double.\n"
     "Both must be constants."},
    {NULL, NULL, NULL},
};

static const bind_function operators[] = {
    {"__len", matrix_len, "#A -> integer\nThe number of rows."},
    {"__eq", matrix_eq,
     "A == B -> boolean\n"
     "True if shapes, and places, order and values of all entries are equal. See A:is_close(B)."},
    {"__add", matrix_add,
     "A + B -> Matrix\n"
     "The sum of two sparse matrices of one shape, with the entries of both: an entry without a value\n"
     "counts as 1, and so as 2 where both have it (A:symmetrize() takes the larger of two). Both must\n"
     "be constants."},
    {"__sub", matrix_add, "A - B -> Matrix\nThe difference, as A + B; what cancels stays as a 0.",
     .kind = 1},
    {"__mul", NULL,
     "A * x\n"
     "A Matrix has no *: A:scale_entries(w) multiplies each entry, as by w = ladies.full(A.nnz, 2),\n"
     "A:scale_rows(w) each row; A:matmul(x) is the product of a Matrix and a Tensor.",
     .raw = bind_absent},
    {"__div", NULL,
     "A / x\n"
     "A Matrix has no /: A:scale_entries(1 / w) divides each entry, A:scale_rows(1 / w) each row.",
     .raw = bind_absent},
    {NULL, NULL, NULL},
};

static const char *const fields[] = {"n_rows:integer",        "n_cols:integer", "nnz:integer",
                                     "looped:boolean",        "values:Tensor",  "edge:Index",
                                     "requires_grad:boolean", "root:Matrix",    NULL};

const bind_class bind_matrix_class = {
    .name = BIND_MATRIX,
    .drop = ld_csr_drop,
    .methods = methods,
    .operators = operators,
    .fields = fields,
    .get = matrix_field,
    .describe = matrix_describe,
};

const bind_subject bind_subject_matrix = {.classes = {&bind_matrix_class},
                                          .functions = {{functions}}};

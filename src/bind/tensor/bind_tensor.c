/* Tensor: making, reading, views. Changes in place are in bind_change.c, the differentiable
 * operations in bind_grad.c. */
#include <string.h>

#include "grad/op.h"
#include "tensor/bind_tensor.h"

/* --- making ----------------------------------------------------------------------------------- */

static float element(lua_State *L, int row, int column)
{
    int number;
    lua_Number v = lua_tonumberx(L, -1, &number);
    if (!number && column)
        bind_error(L, "tensor: element [%d][%d] must be a number, got a %s", row, column,
                   luaL_typename(L, -1));
    if (!number)
        bind_error(L, "tensor: element [%d] must be a number, got a %s", row, luaL_typename(L, -1));
    return (float)v;
}

static ld_status tensor_new(bind_call *c)
{
    lua_State *L = c->L;
    int n_rows = (int)lua_rawlen(L, 1);
    bool nested = lua_rawgeti(L, 1, 1) == LUA_TTABLE;
    int n_cols = nested ? (int)lua_rawlen(L, -1) : 1;
    lua_pop(L, 1);
    bind_check(L, ld_tensor_new(c->out[0].tensor, nested ? 2 : 1, n_rows, n_cols));
    float *data = (*c->out[0].tensor)->data;
    for (int r = 1; r <= n_rows; r++) {
        lua_rawgeti(L, 1, r);
        if (!nested) {
            *data++ = element(L, r, 0);
        } else {
            if (!lua_istable(L, -1) || (int)lua_rawlen(L, -1) != n_cols)
                bind_error(L, "tensor: row %d must be a table of %d numbers", r, n_cols);
            for (int column = 1; column <= n_cols; column++) {
                lua_rawgeti(L, -1, column);
                *data++ = element(L, r, column);
                lua_pop(L, 1);
            }
        }
        lua_pop(L, 1);
    }
    return LD_OK;
}

/* Makes a tensor of zeros or ones, as the function's `kind` says. */
static ld_status tensor_constant(bind_call *c)
{
    bool matrix = !lua_isnil(c->L, 2);
    return ld_tensor_full(c->out[0].tensor, matrix ? 2 : 1, c->in[0].integer,
                          matrix ? c->in[1].integer : 1, (float)c->kind);
}

/* ladies.full. It reads its arguments itself, since the one in the middle may be left out: the
 * value is the last one given, even where that is nil. */
static int tensor_full(lua_State *L)
{
    int last = lua_gettop(L) > 2 ? 3 : 2;
    bool matrix = last == 3 && !lua_isnil(L, 2);
    float value = (float)bind_check_number(L, last);
    int64_t n_rows = bind_count(L, 1, "full: n_rows");
    int64_t n_cols = matrix ? bind_count(L, 2, "full: n_cols") : 1;
    bind_check(L, ld_tensor_full(bind_new_tensor(L), matrix ? 2 : 1, n_rows, n_cols, value));
    return 1;
}

static ld_status tensor_freeze(bind_call *c)
{
    *c->out[0].tensor = ld_tensor_ref(c->in[0].tensor);
    return ld_tensor_freeze(c->in[0].tensor);
}

static ld_status tensor_clone(bind_call *c)
{
    if (bind_passes_gradient(c->L, c->in[0].tensor))
        return ld_op_clone(c->tape, c->out[0].tensor, c->in[0].tensor);
    return ld_tensor_clone(c->out[0].tensor, c->in[0].tensor);
}

/* --- reading ---------------------------------------------------------------------------------- */

static void push_row(lua_State *L, const float *data, int64_t n)
{
    lua_createtable(L, (int)n, 0);
    for (int64_t i = 0; i < n; i++) {
        lua_pushnumber(L, (lua_Number)data[i]);
        lua_rawseti(L, -2, i + 1);
    }
}

static ld_status tensor_to_table(bind_call *c)
{
    const ld_tensor *t = c->in[0].tensor;
    if (t->ndim == 1) {
        push_row(c->L, t->data, t->n_rows);
        return LD_OK;
    }
    lua_createtable(c->L, (int)t->n_rows, 0);
    for (int64_t r = 0; r < t->n_rows; r++) {
        push_row(c->L, t->data + r * t->n_cols, t->n_cols);
        lua_rawseti(c->L, -2, r + 1);
    }
    return LD_OK;
}

static ld_status tensor_item(bind_call *c)
{
    const ld_tensor *t = c->in[0].tensor;
    if (ld_tensor_size(t) != 1)
        return ld_fail(LD_SHAPE, "item: one element expected, the tensor is %s",
                       ld_tensor_shape(t));
    c->out[0].number = (lua_Number)t->data[0];
    return LD_OK;
}

/* Returns the place of the element (row, column) that the arguments after the tensor name. */
static float *place(bind_call *c)
{
    ld_tensor *t = c->in[0].tensor;
    lua_Integer row = c->in[1].integer, column = c->in[2].integer;
    if (row < 1 || row > t->n_rows || column < 1 || column > t->n_cols)
        bind_error(c->L, "element (%I, %I) of a tensor of %s", (LUAI_UACINT)row,
                   (LUAI_UACINT)column, ld_tensor_shape(t));
    return &t->data[(row - 1) * t->n_cols + column - 1];
}

static ld_status tensor_get(bind_call *c)
{
    c->out[0].number = (lua_Number)*place(c);
    return LD_OK;
}

static ld_status tensor_set(bind_call *c)
{
    *place(c) = (float)c->in[3].number;
    return LD_OK;
}

static ld_status tensor_norm(bind_call *c)
{
    if (bind_passes_gradient(c->L, c->in[0].tensor))
        return ld_op_norm(c->tape, bind_new_tensor(c->L), c->in[0].tensor);
    lua_pushnumber(c->L, ld_tensor_norm(c->in[0].tensor));
    return LD_OK;
}

/* Pushes true if every element is finite; otherwise false, the first one that is not, and its
 * place. */
static ld_status tensor_is_finite(bind_call *c)
{
    const ld_tensor *t = c->in[0].tensor;
    int64_t i = ld_tensor_not_finite(t);
    bind_push_finite(c, i, i < 0 ? 0 : t->data[i], t->n_cols);
    return LD_OK;
}

static ld_status tensor_hash(bind_call *c)
{
    uint64_t hash = 0;
    ld_status st = ld_tensor_hash(&hash, c->in[0].tensor);
    bind_push_hash(c->L, hash);
    return st;
}

static ld_status tensor_eq(bind_call *c)
{
    const ld_tensor *a = bind_to_operand(c->L, 1), *b = bind_to_operand(c->L, 2);
    c->out[0].flag = a && b && ld_tensor_equal(a, b);
    return LD_OK;
}

static ld_status tensor_len(bind_call *c)
{
    c->out[0].integer = bind_operand(c->L, 1)->n_rows;
    return LD_OK;
}

/* Appends " v1 v2 ..." for small tensors, so that the prompt shows what one wants to see. */
static void tensor_describe(lua_State *L, const void *object)
{
    const ld_tensor *t = object;
    luaL_Buffer text;
    luaL_buffinit(L, &text);
    lua_pushfstring(L, "Tensor %s", ld_tensor_shape(t));
    luaL_addvalue(&text);
    if (!t->storage) {
        luaL_addstring(&text, " of a closed step");
    } else if (t->ndim == 1 && t->n_rows <= 8) {
        luaL_addstring(&text, ":");
        for (int64_t i = 0; i < t->n_rows; i++) {
            char number[32];
            snprintf(number, sizeof number, " %.5g", (double)t->data[i]);
            luaL_addstring(&text, number);
        }
    }
    luaL_pushresult(&text);
}

/* --- views, rows, properties ------------------------------------------------------------------ */

static ld_status tensor_reshape(bind_call *c)
{
    bool matrix = !lua_isnil(c->L, 3);
    return ld_op_reshape(c->tape, c->out[0].tensor, c->in[0].tensor, matrix ? 2 : 1,
                         c->in[1].integer, matrix ? c->in[2].integer : 1);
}

static ld_status tensor_slice(bind_call *c)
{
    int64_t first, count = bind_range(c->L, 2, &first);
    return ld_op_slice(c->tape, c->out[0].tensor, c->in[0].tensor, first, count);
}

static ld_status tensor_slice_cols(bind_call *c)
{
    int64_t first, count = bind_range(c->L, 2, &first);
    return ld_op_slice_cols(c->tape, c->out[0].tensor, c->in[0].tensor, first, count);
}

static ld_status tensor_transpose(bind_call *c)
{
    return ld_op_transpose(c->tape, c->out[0].tensor, c->in[0].tensor);
}

static ld_status tensor_rows(bind_call *c)
{
    return ld_op_gather(c->tape, c->out[0].tensor, c->in[0].tensor, c->in[1].index);
}

static void tensor_field(lua_State *L, const char *key)
{
    const ld_tensor *t = bind_operand(L, 1);
    if (strcmp(key, "n_rows") == 0)
        lua_pushinteger(L, t->n_rows);
    else if (strcmp(key, "n_cols") == 0)
        lua_pushinteger(L, t->n_cols);
    else if (strcmp(key, "ndim") == 0)
        lua_pushinteger(L, t->ndim);
    else if (strcmp(key, "is_parameter") == 0)
        lua_pushboolean(L, t->is_parameter);
    else if (strcmp(key, "requires_grad") == 0)
        lua_pushboolean(L, t->requires_grad);
    else if (strcmp(key, "in_step") == 0)
        lua_pushboolean(L, t->step != 0);
    else if (t->has_grad) /* grad */
        *bind_new_tensor(L) = ld_tensor_ref(t->grad);
    else
        lua_pushnil(L);
}

/* t[idx], t[mask] and t[i]. */
static ld_status tensor_element(bind_call *c)
{
    lua_State *L = c->L;
    ld_tensor *t = bind_operand(L, 1);
    ld_tape *tape = bind_tape(L);
    ld_index *rows =
        bind_to_tensor(L, 2) ? bind_push_positions(L, 2, t->n_rows) : bind_to_index(L, 2);
    if (rows)
        return ld_op_gather(tape, bind_new_tensor(L), t, rows);
    const char *kind = t->ndim == 1 ? "a vector" : "a tensor with rows";
    if (lua_type(L, 2) != LUA_TNUMBER)
        return bind_no_position(L, 2, kind);
    int64_t i = bind_position(L, 2, t->n_rows, kind);
    if (t->ndim == 1)
        return bind_push_element(c, t, i);
    ld_tensor **row = bind_new_tensor(L);
    bind_check(L, ld_op_slice(tape, row, t, i, 1));
    return ld_op_reshape(tape, bind_new_tensor(L), *row, 1, t->n_cols, 1);
}

static ld_status tensor_set_element(bind_call *c)
{
    ld_tensor *t = bind_writable_tensor(c->L, 1);
    if (t->ndim != 1)
        return ld_fail(LD_SHAPE,
                       "t[i] = number is for vectors, and t:set_(row, column, number) for "
                       "matrices; the tensor is %s",
                       ld_tensor_shape(t));
    int64_t i = bind_position(c->L, 2, t->n_rows, "a vector");
    t->data[i] = (float)bind_check_number(c->L, 3);
    return LD_OK;
}

/* Lets go of the tensor for this userdata alone: a tape, a matrix or an optimizer may hold it as
 * well. */
static int tensor_release(lua_State *L)
{
    const ld_tensor *t = *(ld_tensor **)bind_check_userdata(L, 1, BIND_TENSOR);
    if (t && (t->step != 0 || t->requires_grad))
        return bind_error(L, "release: a step or a model still owns the tensor");
    bind_drop_tensor(L, 1);
    return 0;
}

static const bind_function functions[] = {
    {"freeze", tensor_freeze,
     "ladies_core.freeze(t) -> Tensor\n"
     "Freezes the tensor, which can never be changed from now on, and returns it: the values of\n"
     "core.csr are then not copied."},
    {"tensor", tensor_new,
     "ladies.tensor(numbers: table) -> Tensor\n"
     "A float32 vector from a table of numbers, or a matrix from a table of rows. t[i] is element i\n"
     "of a vector, row i of a matrix; an error outside of 1 .. #t. t == u when their shapes and all\n"
     "elements are equal (nan equals nothing); as keys of tables they are objects. + - * / ^ go element\n"
     "by element, with a number too; along a matrix a vector as long as a row, an n x 1 column or a\n"
     "single element is repeated. They are differentiable on both sides; of x ^ y what would be no\n"
     "number where x is 0 is taken for 0."},
    {"zeros", tensor_constant,
     "ladies.zeros(n_rows [, n_cols]) -> Tensor\nA vector or matrix of zeros."},
    {"ones", tensor_constant,
     "ladies.ones(n_rows [, n_cols]) -> Tensor\nA vector or matrix of ones.", .kind = 1},
    {"full", NULL,
     "ladies.full(n_rows [, n_cols], value: number) -> Tensor\n"
     "A vector or matrix filled with a value.",
     .raw = tensor_full},
    {NULL, NULL, NULL},
};

static const bind_function methods[] = {
    {"clone", tensor_clone,
     "t:clone() -> Tensor\n"
     "A copy with memory of its own. Differentiable; of what carries no gradient the copy outlives\n"
     "the step, as t:detach():clone() does of all else.",
     .passes = "t"},
    {"to_table", tensor_to_table,
     "t:to_table() -> table\nThe numbers as a Lua table (of rows, for a matrix).", .reads = "t"},
    {"item", tensor_item, "t:item() -> number\nThe only element of a tensor that has one.",
     .reads = "t"},
    {"get", tensor_get, "t:get(row, column) -> number", .reads = "t"},
    {"set_", tensor_set, "t:set_(row, column, value: number) -> t", .changes = "t"},
    {"norm", tensor_norm,
     "t:norm() -> number | Tensor\nThe Euclidean (Frobenius) norm, summed in double. A Tensor of one where\nt:max() is one.",
     .passes = "t"},
    {"is_finite", tensor_is_finite,
     "t:is_finite() -> boolean [, number, row, column]\n"
     "True if all elements are finite; if not, false, the first that is not, and its place.",
     .reads = "t"},
    {"hash", tensor_hash, "t:hash() -> string\n16 hexadecimal digits that depend on every bit.",
     .reads = "t"},
    {"reshape", tensor_reshape,
     "t:reshape(n_rows [, n_cols]) -> Tensor\n"
     "A tensor of t's elements in another shape; memory is shared. Differentiable.",
     .passes = "t"},
    {"slice", tensor_slice,
     "t:slice(first, last) -> Tensor\n"
     "Rows (elements, for a vector) first .. last; memory is shared. Differentiable.",
     .passes = "t"},
    {"slice_cols", tensor_slice_cols,
     "t:slice_cols(first, last) -> Tensor\n"
     "A copy of columns first .. last of a matrix. Differentiable.",
     .passes = "t"},
    {"transpose", tensor_transpose,
     "t:transpose() -> Tensor\nColumns as rows: a copy of a matrix. Differentiable.",
     .passes = "t"},
    {"rows", tensor_rows,
     "t:rows(idx) -> Tensor\n"
     "The rows named by an Index, as t[idx]; t[mask] are those where a vector with an element for\n"
     "each row, such as t:above gives for a vector, is not 0. Differentiable.",
     .passes = "t"},
    {"release", NULL,
     "t:release()\nGives t up at once instead of when the collector comes by; t can no longer be\n"
     "used. The memory goes back unless something else (a view, a matrix) still holds it.",
     .raw = tensor_release},
    {NULL, NULL, NULL},
};

static const bind_function operators[] = {
    {"__index", NULL,
     "t[i] -> number | Tensor\n"
     "Element i of a vector, row i of a matrix, as a view; an error outside of 1 .. #t. t[idx] are\n"
     "the elements or rows at the positions in an Index, t[mask] those where a vector is not 0, as\n"
     "t:rows(idx). A single element of a t that carries a gradient is a Tensor: see t:max()."},
    {"__newindex", tensor_set_element,
     "t[i] = number\nSets element i of a vector in place; of a matrix t:set_ does."},
    {"__len", tensor_len, "#t -> integer\nThe elements of a vector, the rows of a matrix."},
    {"__eq", tensor_eq,
     "t == u -> boolean\n"
     "True if shapes and all elements are equal; nan equals nothing. See t:equals(u)."},
    {NULL, NULL, NULL},
};

static const char *const fields[] = {
    "n_rows:integer",       "n_cols:integer",        "ndim:integer",    "grad:Tensor",
    "is_parameter:boolean", "requires_grad:boolean", "in_step:boolean", NULL};

const bind_class bind_tensor_class = {
    .name = BIND_TENSOR,
    .drop = ld_tensor_drop,
    .methods = methods,
    .operators = operators,
    .fields = fields,
    .get = tensor_field,
    .element = tensor_element,
    .describe = tensor_describe,
    .closed = "released",
};

const bind_subject bind_subject_tensor = {.classes = {&bind_tensor_class},
                                          .functions = {{functions}}};

/* Tensor: making, reading, views. Changes in place are in bind_change.c, the differentiable
 * operations in bind_grad.c. */
#include <string.h>

#include "grad/op.h"
#include "state/bind.h"

ld_tensor **bind_new_tensor(lua_State *L)
{
    bind_collect(L);
    ld_tensor **t = lua_newuserdatauv(L, sizeof(ld_tensor *), 0);
    *t = NULL;
    luaL_setmetatable(L, BIND_TENSOR);
    return t;
}

ld_tensor *bind_writable_tensor(lua_State *L, int arg)
{
    ld_tensor *t = bind_operand(L, arg);
    if (t->tracked)
        bind_error(L, "a tensor that a loss may depend on cannot be changed in place; "
                      "use :detach() or :clone()");
    bind_check(L, ld_tensor_change(bind_tensor(L, arg)));
    return t;
}

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

static int tensor_new(lua_State *L)
{
    bind_check_type(L, 1, LUA_TTABLE);
    int n_rows = (int)lua_rawlen(L, 1);
    bool nested = lua_rawgeti(L, 1, 1) == LUA_TTABLE;
    int n_cols = nested ? (int)lua_rawlen(L, -1) : 1;
    lua_pop(L, 1);
    ld_tensor **t = bind_new_tensor(L);
    bind_check(L, ld_tensor_new(t, nested ? 2 : 1, n_rows, n_cols));
    float *data = (*t)->data;
    for (int r = 1; r <= n_rows; r++) {
        lua_rawgeti(L, 1, r);
        if (!nested) {
            *data++ = element(L, r, 0);
        } else {
            if (!lua_istable(L, -1) || (int)lua_rawlen(L, -1) != n_cols)
                return bind_error(L, "tensor: row %d must be a table of %d numbers", r, n_cols);
            for (int c = 1; c <= n_cols; c++) {
                lua_rawgeti(L, -1, c);
                *data++ = element(L, r, c);
                lua_pop(L, 1);
            }
        }
        lua_pop(L, 1);
    }
    return 1;
}

/* Pushes a tensor of the shape at (1, 2), the latter optional. */
static int push_full(lua_State *L, bool matrix, float value)
{
    int64_t n_rows = bind_count(L, 1, "n_rows"), n_cols = matrix ? bind_count(L, 2, "n_cols") : 1;
    bind_check(L, ld_tensor_full(bind_new_tensor(L), matrix ? 2 : 1, n_rows, n_cols, value));
    return 1;
}

static int tensor_zeros(lua_State *L)
{
    return push_full(L, !lua_isnoneornil(L, 2), 0.0f);
}

static int tensor_ones(lua_State *L)
{
    return push_full(L, !lua_isnoneornil(L, 2), 1.0f);
}

/* The value is the last argument given, even where it is nil. */
static int tensor_full(lua_State *L)
{
    int last = lua_gettop(L) > 2 ? 3 : 2;
    float value = (float)bind_check_number(L, last);
    return push_full(L, last == 3 && !lua_isnil(L, 2), value);
}

static int tensor_clone(lua_State *L)
{
    ld_tensor *t = bind_operand(L, 1);
    if (bind_passes_gradient(L, t))
        bind_check(L, ld_op_clone(bind_tape(L), bind_new_tensor(L), t));
    else
        bind_check(L, ld_tensor_clone(bind_new_tensor(L), t));
    return 1;
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

static int tensor_to_table(lua_State *L)
{
    ld_tensor *t = bind_operand(L, 1);
    if (t->ndim == 1) {
        push_row(L, t->data, t->n_rows);
        return 1;
    }
    lua_createtable(L, (int)t->n_rows, 0);
    for (int64_t r = 0; r < t->n_rows; r++) {
        push_row(L, t->data + r * t->n_cols, t->n_cols);
        lua_rawseti(L, -2, r + 1);
    }
    return 1;
}

static int tensor_item(lua_State *L)
{
    ld_tensor *t = bind_operand(L, 1);
    if (ld_tensor_size(t) != 1)
        return bind_error(L, "item: one element expected, the tensor is %s", ld_tensor_shape(t));
    lua_pushnumber(L, (lua_Number)t->data[0]);
    return 1;
}

/* The place of (row, column) given as Lua integers at arg and arg + 1. */
static float *place(lua_State *L, ld_tensor *t, int arg)
{
    lua_Integer r = bind_check_integer(L, arg), c = bind_check_integer(L, arg + 1);
    if (r < 1 || r > t->n_rows || c < 1 || c > t->n_cols)
        bind_error(L, "element (%d, %d) of a tensor of %s", (int)r, (int)c, ld_tensor_shape(t));
    return &t->data[(r - 1) * t->n_cols + c - 1];
}

static int tensor_get(lua_State *L)
{
    lua_pushnumber(L, (lua_Number)*place(L, bind_operand(L, 1), 2));
    return 1;
}

static int tensor_set(lua_State *L)
{
    float *at = place(L, bind_writable_tensor(L, 1), 2);
    *at = (float)bind_check_number(L, 4);
    lua_settop(L, 1);
    return 1;
}

int bind_push_element(lua_State *L, ld_tensor *t, int64_t position)
{
    if (bind_passes_gradient(L, t))
        bind_check(L, ld_op_element(bind_tape(L), bind_new_tensor(L), t, position));
    else
        lua_pushnumber(L, (lua_Number)t->data[position]);
    return 1;
}

static int tensor_norm(lua_State *L)
{
    ld_tensor *t = bind_operand(L, 1);
    if (bind_passes_gradient(L, t))
        bind_check(L, ld_op_norm(bind_tape(L), bind_new_tensor(L), t));
    else
        lua_pushnumber(L, ld_tensor_norm(t));
    return 1;
}

/* Pushes whether every element is finite; when not, also the first one that is not and its place. */
static int tensor_is_finite(lua_State *L)
{
    ld_tensor *t = bind_operand(L, 1);
    int64_t i = ld_tensor_not_finite(t);
    lua_pushboolean(L, i < 0);
    if (i < 0)
        return 1;
    lua_pushnumber(L, (lua_Number)t->data[i]);
    lua_pushinteger(L, i / t->n_cols + 1);
    lua_pushinteger(L, i % t->n_cols + 1);
    return 4;
}

static int tensor_hash(lua_State *L)
{
    uint64_t hash;
    bind_check(L, ld_tensor_hash(&hash, bind_operand(L, 1)));
    bind_push_hash(L, hash);
    return 1;
}

static int tensor_eq(lua_State *L)
{
    const ld_tensor *a = bind_to_operand(L, 1), *b = bind_to_operand(L, 2);
    lua_pushboolean(L, a && b && ld_tensor_equal(a, b));
    return 1;
}

static int tensor_len(lua_State *L)
{
    lua_pushinteger(L, bind_operand(L, 1)->n_rows);
    return 1;
}

/* Appends " v1 v2 ..." for small tensors, so that the prompt shows what one wants to see. */
static int tensor_tostring(lua_State *L)
{
    ld_tensor *t = *(ld_tensor **)bind_check_userdata(L, 1, BIND_TENSOR);
    if (!t) {
        lua_pushliteral(L, "Tensor, released");
        return 1;
    }
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
    return 1;
}

/* --- views, rows, properties ------------------------------------------------------------------ */

static int tensor_reshape(lua_State *L)
{
    ld_tensor *t = bind_operand(L, 1);
    bool matrix = !lua_isnoneornil(L, 3);
    int64_t n_rows = bind_count(L, 2, "n_rows"), n_cols = matrix ? bind_count(L, 3, "n_cols") : 1;
    bind_check(L,
               ld_op_reshape(bind_tape(L), bind_new_tensor(L), t, matrix ? 2 : 1, n_rows, n_cols));
    return 1;
}

static int tensor_slice(lua_State *L)
{
    ld_tensor *t = bind_operand(L, 1);
    int64_t first, count = bind_range(L, 2, &first);
    bind_check(L, ld_op_slice(bind_tape(L), bind_new_tensor(L), t, first, count));
    return 1;
}

static int tensor_slice_cols(lua_State *L)
{
    ld_tensor *t = bind_operand(L, 1);
    int64_t first, count = bind_range(L, 2, &first);
    bind_check(L, ld_op_slice_cols(bind_tape(L), bind_new_tensor(L), t, first, count));
    return 1;
}

static int tensor_transpose(lua_State *L)
{
    ld_tensor *t = bind_operand(L, 1);
    bind_check(L, ld_op_transpose(bind_tape(L), bind_new_tensor(L), t));
    return 1;
}

static int tensor_rows(lua_State *L)
{
    ld_tensor *t = bind_operand(L, 1);
    ld_index *rows = bind_index(L, 2);
    bind_check(L, ld_op_gather(bind_tape(L), bind_new_tensor(L), t, rows));
    return 1;
}

static int property(lua_State *L, ld_tensor *t, const char *key)
{
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
    else if (strcmp(key, "grad") == 0) {
        if (!t->has_grad)
            lua_pushnil(L);
        else
            *bind_new_tensor(L) = ld_tensor_ref(t->grad);
    } else
        return bind_no_field(L, BIND_TENSOR);
    return 1;
}

static int tensor_get_field(lua_State *L)
{
    ld_tensor *t = bind_operand(L, 1);
    if (lua_type(L, 2) == LUA_TSTRING)
        return property(L, t, lua_tostring(L, 2));
    if (bind_to_tensor(L, 2)) {
        bind_push_positions(L, 2, t->n_rows);
        lua_replace(L, 2);
    }
    if (bind_to_index(L, 2))
        return tensor_rows(L);
    int64_t i = bind_position(L, 2, t->n_rows, t->ndim == 1 ? "a vector" : "a tensor with rows");
    if (t->ndim == 1)
        return bind_push_element(L, t, i);
    ld_tensor **row = bind_new_tensor(L), *slice;
    bind_check(L, ld_op_slice(bind_tape(L), row, t, i, 1));
    slice = *row;
    ld_tensor **vector = bind_new_tensor(L);
    bind_check(L, ld_op_reshape(bind_tape(L), vector, slice, 1, t->n_cols, 1));
    return 1;
}

static int tensor_set_element(lua_State *L)
{
    ld_tensor *t = bind_writable_tensor(L, 1);
    lua_Integer i = bind_check_integer(L, 2);
    if (t->ndim != 1 || i < 1 || i > t->n_rows)
        return bind_error(L,
                          "element %d of a tensor of %s cannot be set; t[i] = number is for "
                          "vectors, t:set_(row, column, number) for matrices",
                          (int)i, ld_tensor_shape(t));
    t->data[i - 1] = (float)bind_check_number(L, 3);
    return 0;
}

static void drop(void *tensor)
{
    ld_tensor_unref(tensor);
}

void bind_drop_tensor(lua_State *L, int arg)
{
    bind_drop(L, bind_check_userdata(L, arg, BIND_TENSOR), drop);
}

static int tensor_gc(lua_State *L)
{
    bind_drop_tensor(L, 1);
    return 0;
}

/* Gives up this name of the tensor alone: a tape, a matrix or an optimizer may hold it as well. */
static int tensor_release(lua_State *L)
{
    const ld_tensor *t = *(ld_tensor **)bind_check_userdata(L, 1, BIND_TENSOR);
    if (t && (t->step != 0 || t->requires_grad))
        return bind_error(L, "release: a step or a model still owns the tensor");
    return tensor_gc(L);
}

static int freeze(lua_State *L)
{
    bind_check(L, ld_tensor_freeze(bind_tensor(L, 1)));
    lua_settop(L, 1);
    return 1;
}

static const bind_function functions[] = {
    {"freeze", freeze,
     "ladies_core.freeze(t) -> Tensor\n"
     "The tensor itself, which can never be changed from now on: the values of core.csr are then not\n"
     "copied."},
    {"tensor", tensor_new,
     "ladies.tensor(numbers: table) -> Tensor\n"
     "A float32 vector from a table of numbers, or a matrix from a table of rows. t[i] is element i\n"
     "of a vector, row i of a matrix; an error outside of 1 .. #t. t == u when their shapes and all\n"
     "elements are equal (nan equals nothing); as keys of tables they are objects. + - * / ^ go element\n"
     "by element, with a number too; along a matrix a vector as long as a row, an n x 1 column or a\n"
     "single element is repeated. They are differentiable on both sides; of x ^ y what would be no\n"
     "number where x is 0 is taken for 0."},
    {"zeros", tensor_zeros,
     "ladies.zeros(n_rows [, n_cols]) -> Tensor\nA vector or matrix of zeros."},
    {"ones", tensor_ones, "ladies.ones(n_rows [, n_cols]) -> Tensor\nA vector or matrix of ones."},
    {"full", tensor_full,
     "ladies.full(n_rows [, n_cols], value: number) -> Tensor\n"
     "A vector or matrix filled with a value."},
    {NULL, NULL, NULL},
};

static const bind_function methods[] = {
    {"clone", tensor_clone,
     "t:clone() -> Tensor\n"
     "A copy with memory of its own. Differentiable; of what carries no gradient the copy outlives\n"
     "the step, as t:detach():clone() does of all else."},
    {"to_table", tensor_to_table,
     "t:to_table() -> table\nThe numbers as a Lua table (of rows, for a matrix)."},
    {"item", tensor_item, "t:item() -> number\nThe only element of a tensor that has one."},
    {"get", tensor_get, "t:get(row, column) -> number"},
    {"set_", tensor_set, "t:set_(row, column, value: number) -> t"},
    {"norm", tensor_norm,
     "t:norm() -> number\nThe Euclidean (Frobenius) norm, summed in double. A Tensor of one where\nt:max() is one."},
    {"is_finite", tensor_is_finite,
     "t:is_finite() -> boolean [, number, row, column]\n"
     "Whether all elements are finite; if not, the first that is not and its place."},
    {"hash", tensor_hash, "t:hash() -> string\n16 hexadecimal digits that depend on every bit."},
    {"reshape", tensor_reshape,
     "t:reshape(n_rows [, n_cols]) -> Tensor\n"
     "The same elements in another shape; memory is shared. Differentiable."},
    {"slice", tensor_slice,
     "t:slice(first, last) -> Tensor\n"
     "Rows (elements, for a vector) first .. last; memory is shared. Differentiable."},
    {"slice_cols", tensor_slice_cols,
     "t:slice_cols(first, last) -> Tensor\n"
     "A copy of columns first .. last of a matrix. Differentiable."},
    {"transpose", tensor_transpose,
     "t:transpose() -> Tensor\nColumns as rows: a copy of a matrix. Differentiable."},
    {"rows", tensor_rows,
     "t:rows(idx: Index | Tensor) -> Tensor\n"
     "The rows named by an Index, as t[idx]; t[mask] are those where a vector with an element for\n"
     "each row, such as t:above gives for a vector, is not 0. Differentiable."},
    {"release", tensor_release,
     "t:release()\nGives t up at once instead of when the collector comes by; t can no longer be\n"
     "used. The memory goes back unless something else (a view, a matrix) still holds it."},
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
     "Whether shapes and all elements are equal; nan equals nothing. See t:equals(u)."},
    {NULL, NULL, NULL},
};

void bind_open_tensor(lua_State *L)
{
    static const luaL_Reg meta[] = {
        {"__gc", tensor_gc},
        {"__tostring", tensor_tostring},
        {NULL, NULL},
    };
    static const char *const properties[] = {
        "n_rows:integer",       "n_cols:integer",        "ndim:integer",    "grad:Tensor",
        "is_parameter:boolean", "requires_grad:boolean", "in_step:boolean", NULL};
    bind_class(L, BIND_TENSOR, methods, meta, properties, tensor_get_field);
    bind_operators(L, BIND_TENSOR, operators);
    bind_functions(L, functions);
}

/* Tensor: methods that change it in place; their names end in an underscore. */
#include <string.h>

#include "state/bind.h"

static int tensor_normal(lua_State *L)
{
    ld_tensor *t = bind_writable_tensor(L, 1);
    float deviation = (float)luaL_checknumber(L, 2);
    bind_check(L, ld_tensor_normal(t, deviation, bind_rng(L, 3)));
    lua_settop(L, 1);
    return 1;
}

static int tensor_uniform(lua_State *L)
{
    ld_tensor *t = bind_writable_tensor(L, 1);
    float low = (float)luaL_checknumber(L, 2), high = (float)luaL_checknumber(L, 3);
    bind_check(L, ld_tensor_uniform(t, low, high, bind_rng(L, 4)));
    lua_settop(L, 1);
    return 1;
}

static int tensor_fill(lua_State *L)
{
    ld_tensor *t = bind_writable_tensor(L, 1);
    float value = (float)luaL_checknumber(L, 2);
    for (int64_t i = 0, n = ld_tensor_size(t); i < n; i++)
        t->data[i] = value;
    lua_settop(L, 1);
    return 1;
}

static int tensor_copy(lua_State *L)
{
    ld_tensor *t = bind_writable_tensor(L, 1), *u = bind_tensor(L, 2);
    if (!ld_tensor_same_shape(t, u))
        return luaL_error(L, "copy_: %s into %s", ld_tensor_shape(u), ld_tensor_shape(t));
    memmove(t->data, u->data, (size_t)ld_tensor_size(t) * sizeof(float));
    lua_settop(L, 1);
    return 1;
}

/* t[idx[i]] changes by the number, or by element i of the tensor, at argument 3. */
static int change_at(lua_State *L, bool multiply)
{
    ld_tensor *t = bind_writable_tensor(L, 1), *by = bind_to_tensor(L, 3);
    ld_index *at = bind_index(L, 2);
    float number = by ? 0.0f : (float)luaL_checknumber(L, 3);
    if (t->ndim != 1 || (by && (by->ndim != 1 || by->n_rows != at->size)))
        return luaL_error(L, "a vector, an Index and a number or a vector as long as the Index "
                             "expected");
    bind_check(L, ld_index_check(at, 0, t->n_rows, "position"));
    for (int64_t i = 0; i < at->size; i++) {
        float v = by ? by->data[i] : number, *x = &t->data[at->data[i]];
        *x = multiply ? *x * v : *x + v;
    }
    lua_settop(L, 1);
    return 1;
}

static int tensor_add_at(lua_State *L)
{
    return change_at(L, false);
}

static int tensor_mul_at(lua_State *L)
{
    return change_at(L, true);
}

static int tensor_copy_rows(lua_State *L)
{
    ld_tensor *t = bind_writable_tensor(L, 1), *rows = bind_tensor(L, 3);
    ld_index *at = bind_index(L, 2);
    if (rows->n_rows != at->size || rows->n_cols != t->n_cols)
        return luaL_error(L, "copy_rows_: rows of %s at %d positions into %s",
                          ld_tensor_shape(rows), (int)at->size, ld_tensor_shape(t));
    bind_check(L, ld_index_check(at, 0, t->n_rows, "copy_rows_: row"));
    for (int64_t i = 0; i < at->size; i++)
        memmove(t->data + at->data[i] * t->n_cols, rows->data + i * t->n_cols,
                (size_t)t->n_cols * sizeof(float)); /* rows may be a view of t */
    lua_settop(L, 1);
    return 1;
}

static const bind_function methods[] = {
    {"fill_", tensor_fill, "t:fill_(number) -> t"},
    {"copy_", tensor_copy, "t:copy_(u) -> t\nCopies u's elements; the same shape."},
    {"normal_", tensor_normal,
     "t:normal_(deviation, rng) -> t\nFills with normal numbers of mean 0."},
    {"uniform_", tensor_uniform,
     "t:uniform_(low, high, rng) -> t\nFills with uniform numbers between low and high."},
    {"add_at_", tensor_add_at,
     "t:add_at_(idx, v) -> t\nAdds v (a number, or a vector as long as idx) to elements idx of a\n"
     "vector, one after the other: repeated positions add up."},
    {"mul_at_", tensor_mul_at,
     "t:mul_at_(idx, v) -> t\nMultiplies elements idx of a vector by v, as add_at_ adds."},
    {"copy_rows_", tensor_copy_rows,
     "t:copy_rows_(idx, rows) -> t\nRow idx[i] becomes row i of `rows`."},
    {NULL, NULL, NULL},
};

void bind_open_change(lua_State *L)
{
    bind_methods(L, BIND_TENSOR, methods);
}

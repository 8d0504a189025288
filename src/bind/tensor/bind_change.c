/* Tensor: methods that change it in place; their names end in an underscore. */
#include "state/bind.h"

static int tensor_normal(lua_State *L)
{
    ld_tensor *t = bind_writable_tensor(L, 1);
    float deviation = (float)bind_check_number(L, 2);
    bind_check(L, ld_tensor_normal(t, deviation, bind_rng(L, 3)));
    lua_settop(L, 1);
    return 1;
}

static int tensor_uniform(lua_State *L)
{
    ld_tensor *t = bind_writable_tensor(L, 1);
    float low = (float)bind_check_number(L, 2), high = (float)bind_check_number(L, 3);
    bind_check(L, ld_tensor_uniform(t, low, high, bind_rng(L, 4)));
    lua_settop(L, 1);
    return 1;
}

static int tensor_fill(lua_State *L)
{
    ld_tensor *t = bind_writable_tensor(L, 1);
    ld_tensor_fill(t, (float)bind_check_number(L, 2));
    lua_settop(L, 1);
    return 1;
}

static int tensor_copy(lua_State *L)
{
    ld_tensor *t = bind_writable_tensor(L, 1);
    bind_check(L, ld_tensor_copy(t, bind_tensor(L, 2)));
    lua_settop(L, 1);
    return 1;
}

typedef ld_status change_at(ld_tensor *t, const ld_index *at, const ld_tensor *by, float number);

/* t[idx[i]] changes by the number, or by element i of the tensor, at argument 3. */
static int tensor_change_at(lua_State *L, change_at *change)
{
    ld_tensor *t = bind_writable_tensor(L, 1), *by = bind_to_tensor(L, 3);
    ld_index *at = bind_index(L, 2);
    bind_check(L, change(t, at, by, by ? 0.0f : (float)bind_check_number(L, 3)));
    lua_settop(L, 1);
    return 1;
}

static int tensor_add_at(lua_State *L)
{
    return tensor_change_at(L, ld_tensor_add_at);
}

static int tensor_mul_at(lua_State *L)
{
    return tensor_change_at(L, ld_tensor_mul_at);
}

static int tensor_copy_rows(lua_State *L)
{
    ld_tensor *t = bind_writable_tensor(L, 1), *rows = bind_tensor(L, 3);
    bind_check(L, ld_tensor_copy_rows(t, bind_index(L, 2), rows));
    lua_settop(L, 1);
    return 1;
}

static const bind_function methods[] = {
    {"fill_", tensor_fill, "t:fill_(value: number) -> t"},
    {"copy_", tensor_copy, "t:copy_(u) -> t\nCopies u's elements; the same shape."},
    {"normal_", tensor_normal,
     "t:normal_(deviation: number, rng) -> t\nFills with normal numbers of mean 0."},
    {"uniform_", tensor_uniform,
     "t:uniform_(low: number, high: number, rng) -> t\n"
     "Fills with uniform numbers between low and high."},
    {"add_at_", tensor_add_at,
     "t:add_at_(idx, v: Tensor | number) -> t\n"
     "Adds v (a number, or a vector as long as idx) to elements idx of a\n"
     "vector, one after the other: repeated positions add up."},
    {"mul_at_", tensor_mul_at,
     "t:mul_at_(idx, v: Tensor | number) -> t\n"
     "Multiplies elements idx of a vector by v, as add_at_ adds."},
    {"copy_rows_", tensor_copy_rows,
     "t:copy_rows_(idx, rows: Tensor) -> t\nRow idx[i] becomes row i of `rows`."},
    {NULL, NULL, NULL},
};

void bind_open_change(lua_State *L)
{
    bind_methods(L, BIND_TENSOR, methods);
}

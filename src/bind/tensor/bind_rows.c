/* Rows: features that stay in their file, of which some at a time become a Tensor. */
#include "tensor/stored_rows.h"

#include <string.h>

#include "state/bind.h"

static ld_rows *rows_at(lua_State *L, int arg)
{
    return bind_object(L, arg, BIND_ROWS);
}

ld_rows **bind_new_rows(lua_State *L)
{
    bind_collect(L);
    ld_rows **x = lua_newuserdatauv(L, sizeof *x, 0);
    *x = NULL;
    luaL_setmetatable(L, BIND_ROWS);
    return x;
}

static void drop(void *rows)
{
    ld_rows_unref(rows);
}

static int rows_gc(lua_State *L)
{
    bind_drop(L, bind_check_userdata(L, 1, BIND_ROWS), drop);
    return 0;
}

static int rows_rows(lua_State *L)
{
    ld_rows *x = rows_at(L, 1);
    ld_index *ids = bind_index(L, 2);
    bind_check(L, ld_rows_gather(bind_new_tensor(L), x, ids));
    return 1;
}

static int rows_slice(lua_State *L)
{
    ld_rows *x = rows_at(L, 1);
    int64_t first, count = bind_range(L, 2, &first);
    bind_check(L, ld_rows_slice(bind_new_tensor(L), x, first, count));
    return 1;
}

static int rows_to_tensor(lua_State *L)
{
    ld_rows *x = rows_at(L, 1);
    bind_check(L, ld_rows_slice(bind_new_tensor(L), x, 0, x->n_rows));
    return 1;
}

static int rows_prefetch(lua_State *L)
{
    bind_check(L, ld_rows_prefetch(rows_at(L, 1), bind_index(L, 2)));
    return 0;
}

static int rows_is_finite(lua_State *L)
{
    ld_rows *x = rows_at(L, 1);
    int64_t at = -1;
    float value = 0;
    bind_check(L, ld_rows_not_finite(&at, &value, x));
    lua_pushboolean(L, at < 0);
    if (at < 0)
        return 1;
    lua_pushnumber(L, value);
    lua_pushinteger(L, at / x->n_cols + 1);
    lua_pushinteger(L, at % x->n_cols + 1);
    return 4;
}

static int rows_hash(lua_State *L)
{
    uint64_t hash = 0;
    bind_check(L, ld_rows_hash(&hash, rows_at(L, 1)));
    bind_push_hash(L, hash);
    return 1;
}

static int rows_tostring(lua_State *L)
{
    if (bind_push_closed(L, 1, BIND_ROWS))
        return 1;
    const ld_rows *x = rows_at(L, 1);
    lua_pushfstring(L, "Rows %I x %I, %s%s", (LUAI_UACINT)x->n_rows, (LUAI_UACINT)x->n_cols,
                    ld_number_name(x->number), x->mapping ? " in a file" : "");
    return 1;
}

static int rows_get(lua_State *L)
{
    const ld_rows *x = rows_at(L, 1);
    const char *key = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "";
    if (strcmp(key, "n_rows") == 0)
        lua_pushinteger(L, x->n_rows);
    else if (strcmp(key, "n_cols") == 0)
        lua_pushinteger(L, x->n_cols);
    else if (strcmp(key, "dtype") == 0)
        lua_pushstring(L, ld_number_name(x->number));
    else
        return bind_no_field(L, BIND_ROWS);
    return 1;
}

static const bind_function methods[] = {
    {"rows", rows_rows,
     "x:rows(idx) -> Tensor\nThe rows of these numbers, which may repeat, as float32."},
    {"slice", rows_slice, "x:slice(first, last) -> Tensor\nRows first .. last."},
    {"to_tensor", rows_to_tensor, "x:to_tensor() -> Tensor\nAll rows, in memory."},
    {"prefetch", rows_prefetch,
     "x:prefetch(idx)\n"
     "Waits until these rows are in memory, so that rows(idx) does not: for threads that run ahead."},
    {"is_finite", rows_is_finite,
     "x:is_finite() -> boolean [, number, row, column]\n"
     "Whether all elements are finite; if not, the first that is not and its place."},
    {"hash", rows_hash, "x:hash() -> string\n16 hexadecimal digits that depend on every bit."},
    {NULL, NULL, NULL},
};

void bind_open_rows(lua_State *L)
{
    static const luaL_Reg meta[] = {{"__gc", rows_gc}, {"__tostring", rows_tostring}, {NULL, NULL}};
    static const char *const properties[] = {"n_rows:integer", "n_cols:integer", "dtype:string",
                                             NULL};
    bind_class(L, BIND_ROWS, methods, meta, properties, rows_get);
}

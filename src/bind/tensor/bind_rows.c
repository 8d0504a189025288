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

static int rows_matmul(lua_State *L)
{
    ld_rows *x = rows_at(L, 1);
    const ld_tensor *w = bind_tensor(L, 2);
    bind_check(L, ld_rows_matmul(bind_new_tensor(L), x, w));
    return 1;
}

static int rows_prefetch(lua_State *L)
{
    bind_check(L, ld_rows_prefetch(rows_at(L, 1), bind_index(L, 2)));
    return 0;
}

static int rows_missing(lua_State *L)
{
    const ld_rows *x = rows_at(L, 1);
    const ld_index *ids = bind_index(L, 2);
    bind_check(L, ld_rows_missing(bind_new_index(L), x, ids));
    return 1;
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
                    ld_number_name(x->number),
                    x->parts     ? " in parts"
                    : x->mapping ? " in a file"
                                 : "");
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
    else if (strcmp(key, "whole") == 0)
        lua_pushboolean(L, !x->bounds);
    else if (strcmp(key, "dtype") == 0)
        lua_pushstring(L, ld_number_name(x->number));
    else
        return bind_no_field(L, BIND_ROWS);
    return 1;
}

/* --- parts -------------------------------------------------------------------------------------- */

/* Pushes what a table itself has at a key: what it gives stays where the table is. */
static int push_own(lua_State *L, int table, const char *key)
{
    lua_pushstring(L, key);
    lua_rawget(L, table);
    return lua_gettop(L);
}

/* The parts of the array at arg, {{first = | ids =, rows =}, ...}, which keeps what they hold. */
static ld_rows_part *push_parts(lua_State *L, int arg, int *n)
{
    static const char *const names[] = {"first", "ids", "rows", NULL};
    bind_check_type(L, arg, LUA_TTABLE);
    *n = (int)lua_rawlen(L, arg);
    ld_rows_part *parts = lua_newuserdatauv(L, ((size_t)*n + 1) * sizeof *parts, 0);
    int top = lua_gettop(L);
    for (int i = 0; i < *n; i++) {
        lua_rawgeti(L, arg, i + 1);
        bind_check_type(L, top + 1, LUA_TTABLE);
        bind_check_options(L, top + 1, "rows_in_parts", names);
        int ids = push_own(L, top + 1, "ids"), first = push_own(L, top + 1, "first");
        int rows = push_own(L, top + 1, "rows");
        parts[i].ids = lua_isnil(L, ids) ? NULL : bind_index(L, ids);
        parts[i].first = parts[i].ids ? 0 : bind_count(L, first, "rows_in_parts: first") - 1;
        parts[i].rows = bind_object(L, rows, BIND_ROWS);
        lua_settop(L, top);
    }
    return parts;
}

static int rows_in_parts(lua_State *L)
{
    static const char *const names[] = {"dtype", "n_rows", "n_cols", "parts", "bounds", NULL};
    static const char *const types[] = {"float32", "float16", "bfloat16", NULL};
    int n_parts, n_owners;
    bind_check_type(L, 1, LUA_TTABLE);
    bind_check_options(L, 1, "rows_in_parts", names);
    lua_settop(L, 1);
    for (int i = 0; names[i]; i++)
        lua_getfield(L, 1, names[i]);
    ld_number number = (ld_number)bind_word(L, 2, types);
    int64_t n_rows = bind_count(L, 3, "rows_in_parts: n_rows");
    int64_t n_cols = bind_count(L, 4, "rows_in_parts: n_cols");
    const ld_rows_part *parts = push_parts(L, 5, &n_parts);
    const int64_t *bounds = bind_push_bounds(L, 6, &n_owners);
    ld_rows **x = bind_new_rows(L);
    bind_check(L, ld_rows_join(x, number, n_rows, n_cols, parts, n_parts, bounds, n_owners));
    return 1;
}

static const bind_function functions[] = {
    {"rows_in_parts", rows_in_parts,
     "ladies_core.rows_in_parts{dtype = string, n_rows = integer, n_cols = integer,\n"
     "  parts = table, bounds = integer[]} -> Rows\n"
     "A whole of which the rows of the parts are here. A part is {first =, rows = Rows}, those from\n"
     "`first` on, or {ids = Index, rows = Rows}, those of ascending ids. Where others are elsewhere,\n"
     "bounds[r + 1] is the number of rows before those of rank r, and its last element n_rows."},
    {NULL, NULL, NULL},
};

static const bind_function methods[] = {
    {"rows", rows_rows,
     "x:rows(idx) -> Tensor\n"
     "The rows of these numbers, which may repeat, as float32. One that another rank has is an error\n"
     "but in comm.together, where all ranks ask for the same rows; so for slice and to_tensor."},
    {"slice", rows_slice, "x:slice(first, last) -> Tensor\nRows first .. last."},
    {"to_tensor", rows_to_tensor, "x:to_tensor() -> Tensor\nAll rows, in memory."},
    {"matmul", rows_matmul,
     "x:matmul(W: Tensor) -> Tensor\n"
     "The product with a dense matrix, each row as that of it alone, to the bit: that of\n"
     "x:to_tensor() in exact inference, without all of it in memory. It has no gradient: W must be\n"
     "a constant, or nothing be recorded."},
    {"prefetch", rows_prefetch,
     "x:prefetch(idx)\n"
     "Waits until these rows are in memory, so that rows(idx) does not: for threads that run ahead."},
    {"missing", rows_missing,
     "x:missing(idx) -> Index\n"
     "Those of the ids whose rows are not here but at other ranks (x.whole: none are)."},
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
                                             "whole:boolean", NULL};
    bind_class(L, BIND_ROWS, methods, meta, properties, rows_get);
    bind_functions(L, functions);
}

#include "state/object.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "state/bind.h"
#include "state/parts.h"

void **bind_new_object(lua_State *L, const char *type)
{
    bind_collect(L);
    void **place = lua_newuserdatauv(L, sizeof *place, 0);
    *place = NULL;
    luaL_setmetatable(L, type);
    return place;
}

ld_tensor **bind_new_tensor(lua_State *L)
{
    return (ld_tensor **)bind_new_object(L, BIND_TENSOR);
}

ld_index **bind_new_index(lua_State *L)
{
    return (ld_index **)bind_new_object(L, BIND_INDEX);
}

ld_rows **bind_new_rows(lua_State *L)
{
    return (ld_rows **)bind_new_object(L, BIND_ROWS);
}

ld_csr **bind_new_matrix(lua_State *L)
{
    return (ld_csr **)bind_new_object(L, BIND_MATRIX);
}

ld_rng *bind_rng(lua_State *L, int arg)
{
    return bind_check_userdata(L, arg, BIND_RNG);
}

ld_rng *bind_new_rng(lua_State *L)
{
    ld_rng *r = lua_newuserdatauv(L, sizeof *r, 0);
    *r = ld_rng_seed(0);
    luaL_setmetatable(L, BIND_RNG);
    return r;
}

static void *open_object(lua_State *L, void **place, const char *type)
{
    if (!*place)
        bind_error(L, "the %s is closed", strchr(type, '.') + 1);
    return *place;
}

void *bind_object(lua_State *L, int arg, const char *type)
{
    return open_object(L, bind_check_userdata(L, arg, type), type);
}

void *bind_to_object(lua_State *L, int arg, const char *type)
{
    void **place = luaL_testudata(L, arg, type);
    return place ? open_object(L, place, type) : NULL;
}

ld_index *bind_index(lua_State *L, int arg)
{
    return bind_object(L, arg, BIND_INDEX);
}

ld_index *bind_to_index(lua_State *L, int arg)
{
    return bind_to_object(L, arg, BIND_INDEX);
}

/* --- arrays of Lua ---------------------------------------------------------------------------- */

int64_t *bind_push_bounds(lua_State *L, int arg, int *n_owners)
{
    *n_owners = 0;
    if (lua_isnil(L, arg))
        return NULL;
    bind_check_type(L, arg, LUA_TTABLE);
    int n = (int)lua_rawlen(L, arg);
    int64_t *bounds = lua_newuserdatauv(L, ((size_t)n + 1) * sizeof *bounds, 0);
    bind_arg_check(L, n > 1, arg, "bounds must be two numbers or more");
    for (int i = 0; i < n; i++, lua_pop(L, 1)) {
        lua_rawgeti(L, arg, i + 1);
        bounds[i] = bind_check_integer(L, lua_gettop(L));
    }
    *n_owners = n - 1;
    return bounds;
}

const char *bind_push_hash(lua_State *L, uint64_t hash)
{
    char text[17];
    snprintf(text, sizeof text, "%016" PRIx64, hash);
    return lua_pushstring(L, text);
}

/* Pushes the value of a key without metamethods and returns its place on the stack. A metamethod
 * could make a new object that nothing keeps. */
static int push_own(lua_State *L, int table, const char *key)
{
    lua_pushstring(L, key);
    lua_rawget(L, table);
    return lua_gettop(L);
}

bind_part *bind_push_parts(lua_State *L, int arg, int *n, const char *where)
{
    static const char *const names[] = {"first", "ids", "rows", NULL};
    bind_check_type(L, arg, LUA_TTABLE);
    *n = (int)lua_rawlen(L, arg);
    luaL_checkstack(L, *n + 8, "too many parts");
    bind_part *parts = lua_newuserdatauv(L, ((size_t)*n + 1) * sizeof *parts, 0);
    for (int i = 0; i < *n; i++) {
        lua_rawgeti(L, arg, i + 1);
        int part = lua_gettop(L);
        bind_check_type(L, part, LUA_TTABLE);
        bind_check_options(L, part, where, names);
        int rows = push_own(L, part, "rows"), ids = push_own(L, part, "ids");
        int first = push_own(L, part, "first");
        parts[i].ids = lua_isnil(L, ids) ? NULL : bind_index(L, ids);
        parts[i].first =
            parts[i].ids ? 0 : bind_count(L, first, lua_pushfstring(L, "%s: first", where)) - 1;
        lua_settop(L, rows);
        lua_replace(L, part);
        parts[i].rows = part;
    }
    return parts;
}

/* Makes the metatable of a class from its table: how fields, methods and elements of an object are
 * found, how it is shown, and when it is freed. A field that is not there is an error that proposes
 * one. */
#include "state/class.h"

#include <string.h>

#include "state/bind.h"
#include "text/nearest.h"

static const bind_class *class_of(lua_State *L)
{
    return lua_touserdata(L, lua_upvalueindex(1));
}

/* --- metamethods ------------------------------------------------------------------------------ */

/* The metamethod __index. Its upvalues are the class, its methods, the types of its fields, and the
 * flag of bind_unsettled. */
static int class_index(lua_State *L)
{
    const bind_class *class = class_of(L);
    bool is_name = lua_type(L, 2) == LUA_TSTRING;
    if (is_name) {
        lua_pushvalue(L, 2);
        if (lua_rawget(L, lua_upvalueindex(2)) != LUA_TNIL)
            return 1;
        lua_pop(L, 1);
    }
    const bool *unsettled = lua_touserdata(L, lua_upvalueindex(4));
    if (*unsettled)
        bind_settle(L);
    bind_check_userdata(L, 1, class->name);
    if (!is_name && class->element) {
        bind_call c = {.L = L, .class = class};
        bind_check(L, class->element(&c));
        return 1;
    }
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(3)) == LUA_TNIL)
        return bind_no_field(L, class->name);
    class->get(L, lua_tostring(L, 2));
    return 1;
}

/* The metamethod __tostring, which does not fail for an object that is closed. */
static int class_tostring(lua_State *L)
{
    const bind_class *class = class_of(L);
    bind_settle(L);
    void **place = bind_check_userdata(L, 1, class->name);
    if (!class->drop)
        class->describe(L, place);
    else if (*place)
        class->describe(L, *place);
    else
        lua_pushfstring(L, "%s, %s", strchr(class->name, '.') + 1,
                        class->closed ? class->closed : "closed");
    return 1;
}

/* The metamethods __gc and __close of objects that the class frees by `drop`. */
static int class_drop(lua_State *L)
{
    const bind_class *class = class_of(L);
    bind_drop(L, bind_check_userdata(L, 1, class->name), class->drop);
    return 0;
}

/* --- registration ----------------------------------------------------------------------------- */

/* Sets a field of the metatable on top of the stack to a function with the class as its upvalue. */
static void set_function(lua_State *L, const bind_class *class, const char *name, lua_CFunction f)
{
    lua_pushlightuserdata(L, (void *)class);
    lua_pushcclosure(L, f, 1);
    lua_setfield(L, -2, name);
}

/* Gives the metatable on top of the stack the names of its fields and a table name -> type, which
 * stays on the stack. */
static void push_fields(lua_State *L, const bind_class *class)
{
    lua_newtable(L);
    lua_newtable(L);
    for (int i = 0; class->fields && class->fields[i]; i++) {
        const char *field = class->fields[i];
        size_t length = strcspn(field, ":");
        lua_pushlstring(L, field, length);
        lua_pushvalue(L, -1);
        lua_rawseti(L, -4, i + 1);
        lua_pushstring(L, field + length + 1);
        lua_rawset(L, -3);
    }
    lua_pushvalue(L, -1);
    lua_setfield(L, -4, "__field_types");
    lua_insert(L, -2);
    lua_setfield(L, -3, "__fields");
}

static void set_operators(lua_State *L, const bind_class *class, const bind_function *list)
{
    luaL_getsubtable(L, -1, "__operators");
    for (; list->name; list++) {
        if (list->body || list->raw) {
            bind_push_operator(L, list, class);
            lua_setfield(L, -3, list->name);
        }
        lua_pushstring(L, list->doc);
        lua_setfield(L, -2, list->name);
    }
    lua_pop(L, 1);
}

void bind_open_class(lua_State *L, const bind_class *class)
{
    luaL_newmetatable(L, class->name);
    if (class->drop)
        set_function(L, class, "__gc", class_drop);
    else if (class->release)
        set_function(L, class, "__gc", class->release);
    if (class->closes)
        set_function(L, class, "__close", class->drop ? class_drop : class->release);
    if (class->describe)
        set_function(L, class, "__tostring", class_tostring);
    if (class->operators)
        set_operators(L, class, class->operators);
    if (!class->methods && !class->describe) { /* Lua code never sees its objects */
        lua_pop(L, 1);
        return;
    }
    lua_pushlightuserdata(L, (void *)class);
    lua_newtable(L);
    if (class->methods)
        bind_functions_of(L, class->methods, class);
    lua_pushvalue(L, -1);
    lua_setfield(L, -4, "__methods");
    lua_pushvalue(L, -3);
    push_fields(L, class);
    lua_remove(L, -2);
    lua_pushlightuserdata(L, (void *)bind_unsettled(L));
    lua_pushcclosure(L, class_index, 4);
    lua_setfield(L, -2, "__index");
    lua_pop(L, 1);
}

void bind_methods(lua_State *L, const bind_class *class, const bind_function *list)
{
    luaL_getmetatable(L, class->name);
    lua_getfield(L, -1, "__methods");
    bind_functions_of(L, list, class);
    lua_pop(L, 2);
}

void bind_operators(lua_State *L, const bind_class *class, const bind_function *list)
{
    luaL_getmetatable(L, class->name);
    set_operators(L, class, list);
    lua_pop(L, 1);
}

/* --- names that are not there ----------------------------------------------------------------- */

/* Returns what this library calls the field or method that other libraries call `key`, or NULL. */
static const char *called_here(const char *key)
{
    static const char *const names[][2] = {
        {"shape", "n_rows"}, {"zero_grad", "clear"}, {"view", "reshape"}, {"addcmul", "mul_add"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(key, names[i][0]) == 0)
            return names[i][1];
    return NULL;
}

/* Returns the better guess at what was meant by `key`. The name here of something that other
 * libraries call `key` is the best of all. */
static const char *nearer(const char *key, const char *best, const char *candidate)
{
    const char *here = called_here(key);
    if (here && best && strcmp(best, here) == 0)
        return best;
    return here && strcmp(candidate, here) == 0 ? candidate : ld_nearer(key, best, candidate);
}

int bind_no_field(lua_State *L, const char *type)
{
    const char *key = bind_show(L, 2), *best = NULL;
    const char *kind = strchr(type, '.') + 1;
    luaL_getmetatable(L, type);
    if (lua_type(L, 2) != LUA_TSTRING) {
        lua_getfield(L, -1, "__methods");
        bool has_rows = lua_getfield(L, -1, "rows") != LUA_TNIL;
        return bind_error(L, "%s has no elements, got [%s]%s", kind, key,
                          has_rows ? "; its rows are :rows(idx)" : "");
    }
    lua_getfield(L, -1, "__fields");
    for (int i = 1; lua_rawgeti(L, -1, i) == LUA_TSTRING; i++) {
        best = nearer(key, best, lua_tostring(L, -1));
        lua_pop(L, 1);
    }
    lua_getfield(L, -3, "__methods");
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1))
        best = nearer(key, best, lua_tostring(L, -2));
    if (best)
        return bind_error(L, "%s has no field or method \"%s\"; did you mean \"%s\"?", kind, key,
                          best);
    return bind_error(L, "%s has no field or method \"%s\"", kind, key);
}

#include "state/bind.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"

/* __index of every class; upvalues: the methods, the property getter and bind_unsettled's place. */
static int class_index(lua_State *L)
{
    if (lua_type(L, 2) == LUA_TSTRING) {
        lua_pushvalue(L, 2);
        if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL)
            return 1;
        lua_pop(L, 1);
    }
    const bool *unsettled = lua_touserdata(L, lua_upvalueindex(3));
    if (*unsettled)
        bind_settle(L);
    return lua_tocfunction(L, lua_upvalueindex(2))(L);
}

/* Adds metamethods to the metatable on top of the stack. All but __gc, which runs within other calls,
 * begin as functions do. */
static void add_metamethods(lua_State *L, const luaL_Reg *list)
{
    for (; list->name; list++) {
        if (strcmp(list->name, "__gc") == 0)
            lua_pushcfunction(L, list->func);
        else
            bind_push_function(L, list->func, NULL);
        lua_setfield(L, -2, list->name);
    }
}

/* Gives the metatable on top of the stack the names of its properties, and a table name -> type. */
static void add_properties(lua_State *L, const char *const *properties)
{
    lua_newtable(L);
    lua_newtable(L);
    for (int i = 0; properties[i]; i++) {
        size_t length = strcspn(properties[i], ":");
        lua_pushlstring(L, properties[i], length);
        lua_pushvalue(L, -1);
        lua_rawseti(L, -4, i + 1);
        lua_pushstring(L, properties[i][length] ? properties[i] + length + 1 : NULL);
        lua_rawset(L, -3);
    }
    lua_setfield(L, -3, "__field_types");
    lua_setfield(L, -2, "__fields");
}

void bind_class(lua_State *L, const char *type, const bind_function *methods,
                const luaL_Reg *metamethods, const char *const *properties, lua_CFunction get)
{
    luaL_newmetatable(L, type);
    add_metamethods(L, metamethods);
    lua_newtable(L);
    bind_functions(L, methods);
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, "__methods");
    lua_pushcfunction(L, get);
    lua_pushlightuserdata(L, (void *)bind_unsettled(L));
    lua_pushcclosure(L, class_index, 3);
    lua_setfield(L, -2, "__index");
    add_properties(L, properties);
    lua_pop(L, 1);
}

void bind_operators(lua_State *L, const char *type, const bind_function *list)
{
    luaL_getmetatable(L, type);
    luaL_getsubtable(L, -1, "__operators");
    for (; list->name; list++) {
        if (list->function) {
            bind_push_function(L, list->function, NULL);
            lua_setfield(L, -3, list->name);
        }
        lua_pushstring(L, list->doc);
        lua_setfield(L, -2, list->name);
    }
    lua_pop(L, 2);
}

void bind_methods(lua_State *L, const char *type, const bind_function *list)
{
    luaL_getmetatable(L, type);
    lua_getfield(L, -1, "__methods");
    bind_functions(L, list);
    lua_pop(L, 2);
}

void bind_hidden_class(lua_State *L, const char *type, lua_CFunction release)
{
    luaL_newmetatable(L, type);
    lua_pushcfunction(L, release);
    lua_setfield(L, -2, "__gc");
    lua_pushcfunction(L, release);
    lua_setfield(L, -2, "__close");
    lua_pop(L, 1);
}

static int to_text(lua_State *L)
{
    luaL_tolstring(L, 1, NULL);
    return 1;
}

const char *bind_error_text(lua_State *L)
{
    lua_pushcfunction(L, to_text);
    lua_insert(L, -2);
    if (lua_pcall(L, 1, 1, 0) != LUA_OK) {
        lua_pop(L, 1);
        lua_pushliteral(L, "an error without a text");
    }
    return lua_tostring(L, -1);
}

const char *bind_show(lua_State *L, int arg)
{
    enum { LONGEST = 60 };
    char line[LONGEST + 4];
    size_t length, n = 0;
    const char *text = luaL_tolstring(L, arg, &length);
    for (; n < length && n < LONGEST; n++)
        line[n] = iscntrl((unsigned char)text[n]) ? '?' : text[n];
    while (n < length && n > 0 && (text[n] & 0xC0) == 0x80) /* not within a character of UTF-8 */
        n--;
    strcpy(line + n, n < length ? "..." : "");
    lua_pop(L, 1);
    return lua_pushstring(L, line);
}

/* What other libraries call a field or a method, or NULL. */
static const char *called_here(const char *key)
{
    static const char *const names[][2] = {
        {"shape", "n_rows"}, {"zero_grad", "clear"}, {"view", "reshape"}, {"addcmul", "mul_add"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(key, names[i][0]) == 0)
            return names[i][1];
    return NULL;
}

/* The better guess at what was meant by `key`: what other libraries call so is the best. */
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

void bind_check_options(lua_State *L, int arg, const char *where, const char *const *names)
{
    if (lua_isnoneornil(L, arg))
        return;
    bind_check_type(L, arg, LUA_TTABLE);
    if (luaL_getmetafield(L, arg, "__index") != LUA_TNIL)
        bind_error(L, "%s: options must be in the table itself, not behind __index", where);
    for (lua_pushnil(L); lua_next(L, arg); lua_pop(L, 1)) {
        int i = 0;
        if (lua_type(L, -2) != LUA_TSTRING)
            bind_error(L, "%s: option names are strings, got a %s", where, luaL_typename(L, -2));
        const char *key = lua_tostring(L, -2);
        while (names[i] && strcmp(key, names[i]) != 0)
            i++;
        if (names[i])
            continue;
        const char *best = NULL;
        for (i = 0; names[i]; i++)
            best = ld_nearer(key, best, names[i]);
        key = bind_show(L, -2);
        if (best)
            bind_error(L, "%s: unknown option \"%s\"; did you mean \"%s\"?", where, key, best);
        bind_error(L, "%s: unknown option \"%s\"", where, key);
    }
}

bool bind_option(lua_State *L, int arg, const char *name)
{
    if (lua_istable(L, arg))
        return lua_getfield(L, arg, name) != LUA_TNIL;
    lua_pushnil(L);
    return false;
}

bool bind_option_boolean(lua_State *L, int arg, const char *name, bool standard)
{
    bool value = bind_option(L, arg, name) ? lua_toboolean(L, -1) : standard;
    lua_pop(L, 1);
    return value;
}

void *bind_option_object(lua_State *L, int arg, const char *where, const char *name,
                         const char *class)
{
    if (!bind_option(L, arg, name))
        return NULL;
    void *object = luaL_testudata(L, -1, class);
    if (!object)
        bind_error(L, "%s: %s must be of class %s, got %s", where, name, strchr(class, '.') + 1,
                   bind_show(L, -1));
    return object;
}

ld_rng *bind_option_rng(lua_State *L, int arg, const char *where)
{
    ld_rng *rng = bind_option_object(L, arg, where, "rng", BIND_RNG);
    if (!rng)
        bind_error(L, "%s: the option rng is missing; ladies.rng(seed) makes one", where);
    return rng;
}

lua_Number bind_option_number(lua_State *L, int arg, const char *where, const char *name,
                              lua_Number standard)
{
    lua_Number value = standard;
    if (bind_option(L, arg, name)) {
        if (lua_type(L, -1) != LUA_TNUMBER)
            bind_error(L, "%s: %s must be a number, got a %s", where, name, luaL_typename(L, -1));
        value = lua_tonumber(L, -1);
    }
    lua_pop(L, 1);
    return value;
}

int64_t bind_count(lua_State *L, int arg, const char *what)
{
    int whole;
    lua_Integer n = lua_tointegerx(L, arg, &whole);
    if (!whole || n < 0 || n > INT32_MAX)
        bind_error(L, "%s must be an integer 0 to %d, got %s", what, INT32_MAX,
                   lua_isnoneornil(L, arg) ? "nil" : bind_show(L, arg));
    return n;
}

int bind_word(lua_State *L, int arg, const char *const *words)
{
    const char *given = bind_check_string(L, arg);
    int i = 0;
    while (words[i] && strcmp(words[i], given) != 0)
        i++;
    if (!words[i])
        bind_arg_error(L, arg, lua_pushfstring(L, "invalid option '%s'", bind_show(L, arg)));
    return i;
}

int bind_power(lua_State *L, int arg)
{
    lua_Integer power = bind_opt_integer(L, arg, 1);
    bind_arg_check(L, power == 1 || power == 2, arg, "the power must be 1 or 2");
    return (int)power;
}

int bind_dimension(lua_State *L, int arg, const ld_tensor *t)
{
    if (lua_isnoneornil(L, arg))
        return 0;
    lua_Integer dim = bind_check_integer(L, arg);
    bind_arg_check(L, dim >= 1 && dim <= t->ndim, arg,
                   t->ndim == 2 ? "the dimension must be 1 (one result for each column) or 2 (one "
                                  "for each row)"
                                : "a vector has dimension 1 alone");
    return (int)dim;
}

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

int64_t bind_position(lua_State *L, int arg, int64_t n, const char *kind)
{
    int whole;
    bind_check_type(L, arg, LUA_TNUMBER);
    lua_Integer i = lua_tointegerx(L, arg, &whole);
    if (!whole || i < 1 || i > n)
        bind_error(L, "[%s] of %s of %I: positions are 1 to #x", bind_show(L, arg), kind,
                   (LUAI_UACINT)n);
    return i - 1;
}

int64_t bind_range(lua_State *L, int arg, int64_t *first)
{
    lua_Integer from = bind_check_integer(L, arg), to = bind_check_integer(L, arg + 1);
    bind_arg_check(L, from >= 1 && from <= INT32_MAX, arg, "positions start at 1");
    bind_arg_check(L, to >= from - 1 && to <= INT32_MAX, arg + 1, "must not lie before the first");
    *first = from - 1;
    return to - from + 1;
}

void bind_push_hash(lua_State *L, uint64_t hash)
{
    char text[17];
    snprintf(text, sizeof text, "%016" PRIx64, hash);
    lua_pushstring(L, text);
}

/* Errors, all of which blame the user's line: the nearest one on the stack that is in no source of
 * the library itself. So whoever calls a function of the library, which calls one of core, is told
 * where in his own code that was; a callback blames its own line. The stack is looked at when an
 * error is raised and never before. What lauxlib checks of arguments is checked here in the same
 * words, since it blames the caller whoever that is. */
#include <ctype.h>
#include <stdarg.h>
#include <string.h>

#include "state/bind.h"

/* Registry key: what the names of the library's sources begin with. */
static const char home_key;

/* Also HOME_NAME/FILE, of packages that go with the library. */
static bool is_ours(const char *source, const char *home)
{
    size_t length = strlen(home);
    if (strncmp(source, home, length) != 0)
        return false;
    source += length;
    while (*source == '_' || isalnum((unsigned char)*source))
        source++;
    return *source == '/' || *source == '\\';
}

void bind_set_home(lua_State *L)
{
    lua_rawsetp(L, LUA_REGISTRYINDEX, &home_key);
}

void bind_push_where(lua_State *L)
{
    lua_Debug call;
    lua_rawgetp(L, LUA_REGISTRYINDEX, &home_key);
    const char *home = lua_tostring(L, -1);
    for (int level = 0; lua_getstack(L, level, &call); level++) {
        lua_getinfo(L, "Sl", &call);
        if (call.currentline > 0 && !(home && is_ours(call.source, home))) {
            lua_pushfstring(L, "%s:%d: ", call.short_src, call.currentline);
            lua_remove(L, -2);
            return;
        }
    }
    lua_pop(L, 1);
    lua_pushliteral(L, "");
}

int bind_error(lua_State *L, const char *format, ...)
{
    va_list values;
    bind_push_where(L);
    va_start(values, format);
    lua_pushvfstring(L, format, values);
    va_end(values);
    lua_concat(L, 2);
    return lua_error(L);
}

void bind_check(lua_State *L, ld_status status)
{
    if (status == LD_OK)
        return;
    if (status == LD_CANCELLED) {
        /* Who set the cancel flag has set a hook as well, for Lua code. Raising the interruption
         * through it makes one Ctrl-C one error. */
        lua_Hook hook = lua_gethook(L);
        if (hook)
            hook(L, &(lua_Debug){.event = LUA_HOOKCOUNT, .currentline = -1});
        bind_interrupt(L);
    }
    bind_error(L, "%s", ld_message());
}

/* --- interruptions ------------------------------------------------------------------------------ */

#define BIND_INTERRUPTION "ladies.Interruption"

static int interruption_tostring(lua_State *L)
{
    lua_getiuservalue(L, 1, 1);
    return 1;
}

/* The class is made when it is first wanted: an interruption may come before core is opened. */
void bind_push_interruption(lua_State *L)
{
    lua_newuserdatauv(L, 0, 1);
    lua_insert(L, -2);
    lua_setiuservalue(L, -2, 1);
    if (luaL_newmetatable(L, BIND_INTERRUPTION)) {
        lua_pushcfunction(L, interruption_tostring);
        lua_setfield(L, -2, "__tostring");
    }
    lua_setmetatable(L, -2);
}

int bind_interrupt(lua_State *L)
{
    bind_push_where(L);
    lua_pushliteral(L, "interrupted!");
    lua_concat(L, 2);
    bind_push_interruption(L);
    return lua_error(L);
}

bool bind_is_interruption(lua_State *L, int at)
{
    return luaL_testudata(L, at, BIND_INTERRUPTION) != NULL;
}

/* --- arguments ---------------------------------------------------------------------------------- */

void bind_push_docs(lua_State *L)
{
    luaL_getsubtable(L, LUA_REGISTRYINDEX, "documentation of ladies");
}

const char *bind_push_function_name(lua_State *L)
{
    lua_Debug call;
    lua_getstack(L, 0, &call);
    lua_getinfo(L, "nf", &call);
    int function = lua_gettop(L);
    bind_push_docs(L);
    lua_pushvalue(L, function);
    lua_rawget(L, -2);
    const char *doc = lua_tostring(L, -1);
    if (!doc)
        return lua_pushstring(L, call.name ? call.name : "?"); /* such as an operator */
    const char *name = doc, *end = doc + strcspn(doc, "({\n");
    for (const char *c = doc; c < end; c++)
        name = *c == ':' || *c == '.' ? c + 1 : name;
    return lua_pushlstring(L, name, (size_t)(end - name));
}

int bind_arg_error(lua_State *L, int arg, const char *what)
{
    lua_Debug call;
    const char *name = bind_push_function_name(L);
    lua_getstack(L, 0, &call);
    lua_getinfo(L, "n", &call);
    if (strcmp(call.namewhat, "method") == 0 && --arg == 0)
        return bind_error(L, "calling '%s' on bad self (%s)", name, what);
    return bind_error(L, "bad argument #%d to '%s' (%s)", arg, name, what);
}

int bind_type_error(lua_State *L, int arg, const char *wanted)
{
    const char *got = luaL_typename(L, arg);
    if (luaL_getmetafield(L, arg, "__name") == LUA_TSTRING)
        got = lua_tostring(L, -1);
    bool is_sparse = strcmp(wanted, BIND_TENSOR) == 0 && strcmp(got, BIND_MATRIX) == 0;
    const char *remedy = is_sparse ? "; its to_dense() is one" : "";
    return bind_arg_error(L, arg, lua_pushfstring(L, "%s expected, got %s%s", wanted, got, remedy));
}

void bind_arg_check(lua_State *L, bool ok, int arg, const char *what)
{
    if (!ok)
        bind_arg_error(L, arg, what);
}

void bind_check_type(lua_State *L, int arg, int type)
{
    if (lua_type(L, arg) != type)
        bind_type_error(L, arg, lua_typename(L, type));
}

void bind_check_any(lua_State *L, int arg)
{
    if (lua_isnone(L, arg))
        bind_arg_error(L, arg, "value expected");
}

void *bind_check_userdata(lua_State *L, int arg, const char *type)
{
    void *object = luaL_testudata(L, arg, type);
    if (!object)
        bind_type_error(L, arg, type);
    return object;
}

const char *bind_check_lstring(lua_State *L, int arg, size_t *length)
{
    const char *text = lua_tolstring(L, arg, length);
    if (!text)
        bind_type_error(L, arg, "string");
    return text;
}

const char *bind_check_string(lua_State *L, int arg)
{
    return bind_check_lstring(L, arg, NULL);
}

lua_Number bind_check_number(lua_State *L, int arg)
{
    int is_number;
    lua_Number x = lua_tonumberx(L, arg, &is_number);
    if (!is_number)
        bind_type_error(L, arg, "number");
    return x;
}

lua_Integer bind_check_integer(lua_State *L, int arg)
{
    int is_integer;
    lua_Integer n = lua_tointegerx(L, arg, &is_integer);
    if (!is_integer && lua_isnumber(L, arg))
        bind_arg_error(L, arg, "number has no integer representation");
    if (!is_integer)
        bind_type_error(L, arg, "number");
    return n;
}

const char *bind_opt_string(lua_State *L, int arg, const char *standard)
{
    return lua_isnoneornil(L, arg) ? standard : bind_check_string(L, arg);
}

lua_Number bind_opt_number(lua_State *L, int arg, lua_Number standard)
{
    return lua_isnoneornil(L, arg) ? standard : bind_check_number(L, arg);
}

lua_Integer bind_opt_integer(lua_State *L, int arg, lua_Integer standard)
{
    return lua_isnoneornil(L, arg) ? standard : bind_check_integer(L, arg);
}

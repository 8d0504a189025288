/* Errors of the library, each of which names the line of the user's own code: the nearest line on
 * the stack that is in no source of the library itself. A callback that fails names its own line.
 * The stack is looked at only when an error is raised. The checks of arguments that lauxlib has are
 * made here in the same words, since lauxlib names the caller, even one within the library. */
#include <ctype.h>
#include <stdarg.h>
#include <string.h>

#include "state/bind.h"
#include "text/nearest.h"
#include "text/printable.h"

/* The registry key of the folder that the library's own folder lies in, as names of sources
 * begin. */
static const char home_key;

/* Returns true if a source is a file of the library or of the experiments that come with it. */
static bool is_ours(const char *source, const char *home)
{
    static const char *const folders[] = {"ladies", "experiments"};
    size_t length = strlen(home);
    if (strncmp(source, home, length) != 0)
        return false;
    source += length;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        size_t n = strlen(folders[i]);
        if (strncmp(source, folders[i], n) == 0 && (source[n] == '/' || source[n] == '\\'))
            return true;
    }
    return false;
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
        /* Ctrl-C sets the cancel flag and also a hook, which interrupts Lua code. The interruption
         * is raised by the hook here, too, so that one Ctrl-C is not two errors. A hook that is not
         * for counts, such as a counter of lines, is another's. */
        if (lua_gethookmask(L) & LUA_MASKCOUNT)
            lua_gethook(L)(L, &(lua_Debug){.event = LUA_HOOKCOUNT, .currentline = -1});
        bind_interrupt(L);
    }
    bind_error(L, "%s", ld_message());
}

/* --- interruptions ---------------------------------------------------------------------------- */

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

/* --- arguments -------------------------------------------------------------------------------- */

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
    bool is_list = strcmp(wanted, "number") == 0 && lua_istable(L, arg) && lua_rawlen(L, arg) > 0;
    const char *remedy = is_sparse ? "; its to_dense() is one"
                         : is_list ? "; of a list, as samples for each layer are, give one element"
                                   : "";
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

void *bind_check_userdata(lua_State *L, int arg, const char *type)
{
    void *object = luaL_testudata(L, arg, type);
    if (!object)
        bind_type_error(L, arg, type);
    return object;
}

const char *bind_check_bytes(lua_State *L, int arg)
{
    const char *text = lua_tostring(L, arg);
    if (!text)
        bind_type_error(L, arg, "string");
    return text;
}

bool bind_is_text(lua_State *L, int at)
{
    return lua_type(L, at) == LUA_TSTRING && strlen(lua_tostring(L, at)) == lua_rawlen(L, at);
}

const char *bind_check_string(lua_State *L, int arg)
{
    const char *text = bind_check_bytes(L, arg);
    bind_arg_check(L, bind_is_text(L, arg), arg, "string without zero bytes expected");
    return text;
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

/* --- values in messages ---------------------------------------------------------------------- */

static int to_text(lua_State *L)
{
    luaL_tolstring(L, 1, NULL);
    return 1;
}

static int no_text(lua_State *L)
{
    lua_pushliteral(L, "an error without a text");
    return 1;
}

const char *bind_error_text(lua_State *L)
{
    lua_pushcfunction(L, to_text);
    lua_insert(L, -2);
    if (lua_pcall(L, 1, 1, 0) != LUA_OK) {
        lua_pop(L, 1);
        lua_pushcfunction(L, no_text);
        lua_pcall(L, 0, 1, 0); /* which may leave "not enough memory", a text that Lua has ready */
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

const char *bind_printable(lua_State *L, int arg, bool lines)
{
    size_t length;
    const char *text = lua_tolstring(L, arg, &length), *end = text + length;
    luaL_Buffer shown;
    luaL_buffinit(L, &shown);
    while (text < end)
        luaL_addsize(&shown, (size_t)ld_printable(luaL_prepbuffsize(&shown, LD_PRINTABLE), &text,
                                                  end, lines));
    luaL_pushresult(&shown);
    return lua_tostring(L, -1);
}

/* --- numbers, words and options -------------------------------------------------------------- */

int64_t bind_count(lua_State *L, int arg, const char *what)
{
    int whole;
    lua_Integer n = lua_tointegerx(L, arg, &whole);
    if (!whole || n < 0 || n > INT32_MAX)
        bind_error(L, "%s must be an integer 0 to %d, got %s", what, INT32_MAX,
                   lua_isnoneornil(L, arg) ? "nil" : bind_show(L, arg));
    return n;
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

int bind_no_position(lua_State *L, int arg, const char *kind)
{
    return bind_error(L,
                      "[%s] of %s: a position, an Index (ladies.index{1, 2}) or a mask (a Tensor) "
                      "expected",
                      lua_istable(L, arg) ? "{...}" : bind_show(L, arg), kind);
}

int64_t bind_range(lua_State *L, int arg, int64_t *first)
{
    lua_Integer from = bind_check_integer(L, arg), to = bind_check_integer(L, arg + 1);
    bind_arg_check(L, from >= 1 && from <= INT32_MAX, arg, "positions start at 1");
    bind_arg_check(L, to >= from - 1 && to <= INT32_MAX, arg + 1, "must not lie before the first");
    *first = from - 1;
    return to - from + 1;
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

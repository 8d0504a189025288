/* Functions as Lua gets them: with documentation, a check for surplus arguments, and bind_settle
 * before each call. The first line of the documentation is the signature, and the declaration: how
 * many arguments there may be is read off it. */
#include <ctype.h>
#include <limits.h>
#include <string.h>

#include "state/bind.h"

/* Where the registry has the table C function -> function. */
static const char FUNCTIONS[] = "functions of ladies";

/* The first upvalue of a function; the second is its documentation. */
typedef struct {
    lua_CFunction function;
    int most;              /* arguments, the object of a method among them */
    const bool *unsettled; /* see bind_settle */
} declaration;

/* --- signatures --------------------------------------------------------------------------------- */

/* The end of the parameters that begin with the bracket at `p`; in *count their number, INT_MAX for
 * "...". A table of options is one. NULL when no bracket closes them. */
static const char *parameters_end(const char *p, int *count)
{
    bool any = false, all = false;
    int depth = 0, commas = 0;
    do {
        if (*p == '"' && !(p = strchr(p + 1, '"')))
            return NULL;
        depth += *p == '(' || *p == '{';
        depth -= *p == ')' || *p == '}';
        commas += depth == 1 && *p == ',' && !all;
        all = all || (depth == 1 && strncmp(p, "...", 3) == 0);
        any = any || (depth == 1 && *p != '(' && !isspace((unsigned char)*p));
    } while (*p++ && depth > 0);
    *count = all ? INT_MAX : any ? commas + 1 : 0;
    return depth == 0 ? p : NULL;
}

/* Where the signature ends, up to its closing bracket; and the number of arguments in *most, in
 * *self of those how many are the object of a method. NULL when the text does not begin with one. */
static const char *signature_end(const char *doc, int *most, int *self)
{
    const char *p = doc + strcspn(doc, "({\n");
    const char *end = *p == '(' || *p == '{' ? parameters_end(p, most) : NULL;
    *self = memchr(doc, ':', (size_t)(p - doc)) != NULL;
    if (end && *p == '{')
        *most = 1;
    if (end && *most < INT_MAX)
        *most += *self;
    return end;
}

/* Pushes a signature on one line. */
static void push_line(lua_State *L, const char *from, const char *to)
{
    luaL_Buffer line;
    luaL_buffinit(L, &line);
    for (; from < to; from++) {
        bool blank = isspace((unsigned char)*from);
        if (!blank || !isspace((unsigned char)from[1]))
            luaL_addchar(&line, blank ? ' ' : *from);
    }
    luaL_pushresult(&line);
}

static int refuse_surplus(lua_State *L, int given)
{
    int most, self;
    const char *doc = lua_tostring(L, lua_upvalueindex(2));
    push_line(L, doc, signature_end(doc, &most, &self));
    most -= self;
    if (most == 0)
        return bind_error(L, "%s takes no arguments, got %d", lua_tostring(L, -1), given - self);
    return bind_error(L, "%s takes at most %d argument%s, got %d", lua_tostring(L, -1), most,
                      most == 1 ? "" : "s", given - self);
}

/* --- functions ---------------------------------------------------------------------------------- */

/* What Lua calls. A nil too many says nothing, as a nil that is missing does not. */
static int call(lua_State *L)
{
    const declaration *d = lua_touserdata(L, lua_upvalueindex(1));
    int given = lua_gettop(L);
    while (given > d->most && lua_isnil(L, given))
        lua_settop(L, --given);
    if (given > d->most)
        return refuse_surplus(L, given);
    if (*d->unsettled)
        bind_settle(L);
    return d->function(L);
}

void bind_push_function(lua_State *L, lua_CFunction function, const char *doc)
{
    int most = INT_MAX, self;
    if (doc && !signature_end(doc, &most, &self))
        bind_error(L, "documentation without a signature: %s", doc);
    declaration *d = lua_newuserdatauv(L, sizeof *d, 0);
    *d = (declaration){function, most, bind_unsettled(L)};
    lua_pushstring(L, doc);
    lua_pushcclosure(L, call, 2);
}

void bind_functions(lua_State *L, const bind_function *list)
{
    int table = lua_gettop(L);
    bind_push_docs(L);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, FUNCTIONS);
    for (; list->name; list++) {
        bind_push_function(L, list->function, list->doc);
        lua_pushvalue(L, -1);
        lua_pushstring(L, list->doc);
        lua_rawset(L, table + 1);
        lua_pushcfunction(L, list->function);
        lua_pushvalue(L, -2);
        lua_rawset(L, table + 2);
        lua_setfield(L, table, list->name);
    }
    lua_settop(L, table);
}

lua_CFunction bind_to_core(lua_State *L, int at)
{
    lua_getupvalue(L, at, 1);
    const declaration *d = lua_touserdata(L, -1);
    lua_pop(L, 1);
    return d->function;
}

void bind_push_core(lua_State *L, lua_CFunction function)
{
    luaL_getsubtable(L, LUA_REGISTRYINDEX, FUNCTIONS);
    lua_pushcfunction(L, function);
    lua_rawget(L, -2);
    lua_remove(L, -2);
}

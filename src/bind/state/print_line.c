/* The function `print` of the library. A line goes out in one write, since threads share standard
 * output. A single value is shown with its contents if its class can do that, by __show(value) in
 * its metatable, or if it is a table that ladies.show knows (lua/ladies/show). */
#include <stdio.h>

#include "state/bind.h"

/* Pushes the text that ladies.show has for the value at `index` and returns true; pushes nothing
 * where the library is not loaded. */
static bool call_show(lua_State *L, int index)
{
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    bool is_loaded = lua_getfield(L, -1, "ladies") == LUA_TTABLE;
    if (is_loaded) {
        lua_getfield(L, -1, "show");
        lua_pushvalue(L, index);
        lua_call(L, 1, 1);
        lua_insert(L, -3);
    }
    lua_pop(L, 2);
    return is_loaded;
}

/* Pushes the text that shows the value at `index` and returns true; pushes nothing where there is
 * none. */
static bool push_shown(lua_State *L, int index)
{
    bool is_called = luaL_callmeta(L, index, "__show");
    if (!is_called && lua_istable(L, index))
        is_called = call_show(L, index);
    if (is_called && lua_type(L, -1) == LUA_TSTRING)
        return true;
    if (is_called)
        lua_pop(L, 1);
    return false;
}

int bind_print_line(lua_State *L)
{
    int n = lua_gettop(L);
    luaL_Buffer line;
    luaL_buffinit(L, &line);
    for (int i = 1; i <= n; i++) {
        if (i > 1)
            luaL_addchar(&line, '\t');
        if (n > 1 || !push_shown(L, i))
            luaL_tolstring(L, i, NULL);
        luaL_addvalue(&line);
    }
    luaL_addchar(&line, '\n');
    luaL_pushresult(&line);
    size_t length;
    const char *text = lua_tolstring(L, -1, &length);
    fwrite(text, 1, length, stdout);
    fflush(stdout);
    return 0;
}

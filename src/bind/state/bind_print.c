/* print for states whose threads share standard output, which of a single value shows what is in
 * it, where its class can: __show(value) in its metatable (see lua/ladies/show). */
#include <stdio.h>

#include "state/bind.h"

int bind_print_line(lua_State *L)
{
    int n = lua_gettop(L);
    luaL_Buffer line;
    luaL_buffinit(L, &line);
    for (int i = 1; i <= n; i++) {
        if (i > 1)
            luaL_addchar(&line, '\t');
        bool is_shown = n == 1 && luaL_callmeta(L, i, "__show");
        if (is_shown && lua_type(L, -1) != LUA_TSTRING) {
            lua_pop(L, 1);
            is_shown = false;
        }
        if (!is_shown)
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

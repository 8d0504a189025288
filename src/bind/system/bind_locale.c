/* Locales: numbers are read and written with a decimal point, whatever a script chooses. */
#include <lualib.h>

#include "base/status.h"
#include "state/bind.h"
#include "text/decimal_point.h"

/* Calls Lua's own os.setlocale, its upvalue, and brings the decimal point back afterwards. */
static int set_locale(lua_State *L)
{
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
    ld_decimal_point_keep();
    return lua_gettop(L);
}

void bind_open_locale(lua_State *L)
{
    if (ld_in_worker()) {
        ld_decimal_point_only();
        return;
    }
    int top = lua_gettop(L);
    ld_decimal_point_keep();
    if (lua_getglobal(L, LUA_OSLIBNAME) == LUA_TTABLE &&
        lua_getfield(L, -1, "setlocale") == LUA_TFUNCTION) {
        lua_pushcclosure(L, set_locale, 1);
        lua_setfield(L, -2, "setlocale");
    }
    lua_settop(L, top);
}

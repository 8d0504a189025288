/* The module ladies_core: everything of the binding, opened in a Lua state. */
#ifndef LD_BIND_MODULE_H
#define LD_BIND_MODULE_H

#include <lua.h>

int luaopen_ladies_core(lua_State *L);

#endif

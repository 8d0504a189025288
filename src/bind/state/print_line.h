/* Printing to standard output that several threads share. */
#ifndef LD_BIND_PRINT_LINE_H
#define LD_BIND_PRINT_LINE_H

#include <lua.h>

/* The Lua function print. It writes each line as a whole, since other threads print, too. */
int bind_print_line(lua_State *L);

#endif

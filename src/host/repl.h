/* The prompt. */
#ifndef LD_HOST_REPL_H
#define LD_HOST_REPL_H

#include <lua.h>

/* Reads, runs and prints until the end of input. */
void ld_repl_run(lua_State *L);

#endif

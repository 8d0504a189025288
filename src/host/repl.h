/* The interactive prompt of the program `ladies`. */
#ifndef LD_HOST_REPL_H
#define LD_HOST_REPL_H

#include <lua.h>
#include <stdbool.h>

/* Reads statements, runs them and prints their values until the end of input. */
void ld_repl_run(lua_State *L);

/* Runs the script at `path` as if it had been typed at the prompt that follows, so that its locals
 * can be used there. push_arguments pushes the script's arguments and returns how many. Returns
 * true if the script succeeded; an error is printed. */
bool ld_repl_script(lua_State *L, const char *path, int (*push_arguments)(lua_State *L));

#endif

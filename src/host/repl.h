/* The prompt. */
#ifndef LD_HOST_REPL_H
#define LD_HOST_REPL_H

#include <lua.h>
#include <stdbool.h>

/* Reads, runs and prints until the end of input. */
void ld_repl_run(lua_State *L);

/* Runs the script at `path` as a chunk of the prompt that is to follow: its locals live on. The
 * arguments are those that push_arguments pushes and counts. Returns whether it went well; what went
 * wrong is told. */
bool ld_repl_script(lua_State *L, const char *path, int (*push_arguments)(lua_State *L));

#endif

/* Harnesses that are scripts: a Lua state with a function that is called with every input. */
#ifndef FUZZ_LUA_H
#define FUZZ_LUA_H

#include <lua.h>
#include <stdint.h>

/* A state, for all inputs of a run, with the function that the script of this name in tests/fuzz
 * returns. */
lua_State *fuzz_lua_start(const char *script);

/* Calls the function with a path and a text. An error of it is a finding, and so it is when Lua
 * takes more memory than it should for `content` bytes of files, when core takes more than `bound`,
 * or when objects of core are left afterwards. */
void fuzz_lua_call(lua_State *L, const char *path, const char *text, int64_t content,
                   int64_t bound);

#endif

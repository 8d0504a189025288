/* The library's modules as they were compiled when the program was built: loading them takes a tenth of
 * the time of their text. The text is what counts: compiled code is used where the file of the module is,
 * byte for byte, what it was made of, and is the same to debuggers and in messages. */
#ifndef LD_HOST_COMPILED_H
#define LD_HOST_COMPILED_H

#include <lua.h>

/* Puts a searcher before that of Lua files: it takes the compiled code of modules below the prefix from
 * the file share/ladies/modules.luac there, and leaves all else to those behind it. */
void ld_compiled_open(lua_State *L, const char *prefix);

#endif

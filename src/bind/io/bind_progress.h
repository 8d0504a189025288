/* Calls a Lua function while core reads a text file, to tell how far the reading has come. */
#ifndef LD_BIND_PROGRESS_H
#define LD_BIND_PROGRESS_H

#include "io/text/lines.h"
#include "state/bind.h"

/* The context of bind_progress_call: where the Lua function is, and whether it has failed. */
typedef struct {
    lua_State *L;
    int function; /* its place on the stack; 0 when there is none */
    bool failed;  /* it raised an error, which is on top of the stack */
} bind_progress;

/* Returns the context for the value at a place of the stack, a function or nil. Raises an error
 * that begins with `where` for anything else. */
bind_progress bind_progress_at(lua_State *L, int at, const char *where);

/* Returns the C function that core is to call with `p` as its context, or NULL when no Lua function
 * was given. */
ld_progress *bind_progress_call(const bind_progress *p);

/* Raises an error as bind_check does, but the Lua function's own one if that is why core gave
 * up. */
void bind_progress_check(lua_State *L, const bind_progress *p, ld_status status);

#endif

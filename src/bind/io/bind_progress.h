/* A Lua function that is told of the progress of a reader of text. */
#ifndef LD_BIND_PROGRESS_H
#define LD_BIND_PROGRESS_H

#include "io/text/lines.h"
#include "state/bind.h"

/* The function of the option `progress`, if there is one, as core calls it: it pushes the function,
 * which must stay on the stack while core reads. */
typedef struct {
    lua_State *L;
    int function; /* its place on the stack; 0 when there is none */
    bool failed;  /* it raised an error, which is on top of the stack */
} bind_progress;

bind_progress bind_option_progress(lua_State *L, int arg, const char *where);

/* An ld_progress for core; NULL when there is no function. */
ld_progress *bind_progress_call(const bind_progress *p);

/* bind_check, but with the function's own error if that is why core gave up. */
void bind_progress_check(lua_State *L, const bind_progress *p, ld_status status);

#endif

/* The recording of operations in a Lua state: its tape, and the scopes within which it records or
 * pauses. */
#ifndef LD_BIND_RECORDING_H
#define LD_BIND_RECORDING_H

#include <lua.h>

#include "grad/tape.h"

#define BIND_STEP "ladies.Step"

/* A scope that ends a step, or a pause of recording, when it closes. */
typedef struct bind_scope {
    bool open, pause;
    lua_State *thread;               /* that made the pause; the uservalue keeps it alive */
    struct bind_scope *above, *next; /* neighbours in the list of open pauses */
} bind_scope;

typedef struct {
    ld_tape *tape;
    bind_scope *pauses; /* the open ones, the latest first */
    bool forgotten;     /* a finalizer let go of the open step */
    lua_State *caller;  /* the coroutine that called backward last */
} bind_recording;

bind_recording *bind_recording_of(lua_State *L);
void bind_open_recording(lua_State *L);

/* Push a scope that is not open yet, and close the one at 1. */
bind_scope *bind_push_scope(lua_State *L, bool pause);
int bind_close_scope(lua_State *L);

/* Returns the tape of the open step of this Lua state; NULL outside of steps and within no_grad. */
ld_tape *bind_tape(lua_State *L);

/* Returns true where an operation that carries a gradient needs a step: none is open, and nothing
 * says that it should not record, as no_grad and a step without recording do. */
bool bind_expects_step(lua_State *L);

/* Go backward on the tape of this Lua state, and tell where the coroutine that does so is noted.
 * Operations written in Lua run their backward functions in it. */
ld_status bind_backward(lua_State *L, ld_tensor *loss);
lua_State *const *bind_backward_caller(lua_State *L);

/* Pushes a pause, within which bind_tape gives NULL; it is to be closed with lua_toclose. It holds
 * in this coroutine while it is not suspended, and in those that it resumes. */
void bind_push_pause(lua_State *L);

#endif

/* Decides when objects of core are freed; lifetime.c says why that is not when Lua finalizes
 * them. */
#ifndef LD_BIND_LIFETIME_H
#define LD_BIND_LIFETIME_H

#include <lua.h>
#include <stdbool.h>

/* Notes that memory held by core has grown enough since the last full collection for the next one,
 * with which the next call then begins. Called by bind_new_object. */
void bind_collect(lua_State *L);

/* Lets go of the object at `place` of a userdata: *place becomes NULL. In a finalizer, which may
 * run in the middle of a function that uses the object, it is freed later, by bind_settle. */
void bind_drop(lua_State *L, void *place, void (*drop)(void *object));

/* Lets go of the Tensor at arg, as bind_drop does. */
void bind_drop_tensor(lua_State *L, int arg);

/* Begins every call of a bound function, before its arguments are looked at: frees the objects that
 * finalizers let go of, after a collection if one is due. It does nothing in a finalizer, or while
 * held off by a function that calls back into Lua with pointers in hand. */
void bind_settle(lua_State *L);
void bind_hold_off(lua_State *L, bool on);

/* Points to a flag that is true while bind_settle has something to do. It stays valid as long as
 * the Lua state, so callers keep the pointer and need no look-up. */
const bool *bind_unsettled(lua_State *L);

/* Returns true while a finalizer runs. */
bool bind_in_finalizer(lua_State *L);

void bind_open_lifetime(lua_State *L);

#endif

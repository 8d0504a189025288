/* Converts pickles of Python to Lua values. */
#ifndef LD_BIND_PICKLE_H
#define LD_BIND_PICKLE_H

#include "io/pickle/pickle.h"
#include "state/bind.h"

/* Pushes a userdata and returns the place of its pickle, for core to fill. */
ld_pickle **bind_new_pickle(lua_State *L);

/* Pushes the value of a pickle: None as pickle.none, tuples, lists and dicts as tables, arrays as
 * PickledArray, sparse matrices as Matrix. Values that are shared in the file are shared tables.
 * The pickle must be owned by a userdata on the stack, and can be walked only once. */
void bind_push_pickle(lua_State *L, ld_pickle *p);

#endif

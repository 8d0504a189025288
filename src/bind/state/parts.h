/* Reads a Lua array of the parts of a data set, {{first = 1, rows = ...}, {ids = Index, rows =
 * ...}}, for core: shards of features or of a graph, and rows that other ranks have sent. */
#ifndef LD_BIND_PARTS_H
#define LD_BIND_PARTS_H

#include <lua.h>

#include "tensor/index.h"

/* A part: its rows are those of the whole from `first` on, or those whose ascending ids `ids`
 * holds. The object with the rows themselves is at the place `rows` of the stack. */
typedef struct {
    int64_t first;
    ld_index *ids; /* NULL where `first` counts */
    int rows;
} bind_part;

/* Pushes the parts of the array at arg as a userdata, and the object `rows` of each. Messages begin
 * with `where`. */
bind_part *bind_push_parts(lua_State *L, int arg, int *n, const char *where);

#endif

/* Names: texts and their numbers. */
#ifndef LD_BIND_NAMES_H
#define LD_BIND_NAMES_H

#include "io/text/names.h"
#include "state/bind.h"

#define BIND_NAMES "ladies.Names"

ld_names *bind_names(lua_State *L, int arg);

/* The object, or NULL when the value is something else. */
ld_names *bind_to_names(lua_State *L, int arg);

/* Pushes an empty one. */
ld_names *bind_new_names(lua_State *L);

/* Adds the function `names` to the table on top of the stack, and registers the class. */
void bind_open_names(lua_State *L);

#endif

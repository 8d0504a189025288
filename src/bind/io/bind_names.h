/* Access to Names, lists of names with numbers, for other parts of the binding. */
#ifndef LD_BIND_NAMES_H
#define LD_BIND_NAMES_H

#include "io/text/names.h"
#include "state/bind.h"

#define BIND_NAMES "ladies.Names"

/* Returns the Names at arg, or NULL when the value is of any other type. */
ld_names *bind_to_names(lua_State *L, int arg);

/* Pushes new Names without a name and returns them. */
ld_names *bind_new_names(lua_State *L);

#endif

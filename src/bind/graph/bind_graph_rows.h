/* GraphRows, for the rooms of the binding that take them. */
#ifndef LD_BIND_GRAPH_ROWS_H
#define LD_BIND_GRAPH_ROWS_H

#include "graph/graph_rows.h"
#include "state/bind.h"

/* Those at arg, or an error. */
ld_graph_rows *bind_graph_rows(lua_State *L, int arg);

#endif

/* Access to GraphRows for other parts of the binding, such as the exchange between ranks. */
#ifndef LD_BIND_GRAPH_ROWS_H
#define LD_BIND_GRAPH_ROWS_H

#include "graph/graph_rows.h"
#include "state/bind.h"

/* Returns the GraphRows at arg, or raises an argument error. */
ld_graph_rows *bind_graph_rows(lua_State *L, int arg);

#endif

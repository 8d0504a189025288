/* Edges on their way into rows, as an object of Lua. */
#ifndef LD_BIND_EDGE_RUNS_H
#define LD_BIND_EDGE_RUNS_H

#include "graph/edge_runs.h"
#include "state/bind.h"

/* The object at arg; an error if it is none, or closed. */
ld_edge_runs *bind_edge_runs(lua_State *L, int arg);

#endif

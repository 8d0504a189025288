/* Access to EdgeRuns, edges on their way into rows, for other plugins. */
#ifndef LD_LARGE_BIND_EDGE_RUNS_H
#define LD_LARGE_BIND_EDGE_RUNS_H

#include "large/edge_runs.h"
#include "state/bind.h"

/* Returns the EdgeRuns at arg; an error if it is none, or closed. */
ld_edge_runs *bind_edge_runs(lua_State *L, int arg);

#endif

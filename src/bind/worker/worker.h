/* A worker's Lua state: it computes job(number) and packs the result. */
#ifndef LD_BIND_WORKER_H
#define LD_BIND_WORKER_H

#include "worker/parcel.h"

/* What every state needs to make its job = make(argument): what opens the module in it, and two
 * parcels, which many may read. */
typedef struct {
    lua_CFunction module;
    bind_parcel *paths; /* package.path and package.cpath */
    bind_parcel *job;   /* make and its argument */
} bind_job;

/* Says what opens the module in the states of jobs that are packed in L. */
void bind_job_open_with(lua_State *L, lua_CFunction module);

/* Packs the values of the stack at `make` and make + 1, and the paths of L's modules. What is packed
 * before an error stays in *job. */
void bind_job_pack(lua_State *L, bind_job *job, int make);
void bind_job_free(bind_job *job);

/* An empty state, whose Lua code stops when this thread's cancel flag is raised; NULL when there is
 * no memory. The libraries are opened and the job is made by the first call of bind_job_run. */
lua_State *bind_job_state(void);

/* job(number) as a parcel, or the error that came instead when *failed; NULL when there is no memory
 * even for that. */
bind_parcel *bind_job_run(lua_State *L, const bind_job *job, lua_Integer number, bool *failed);

#endif

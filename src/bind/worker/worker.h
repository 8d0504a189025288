/* The Lua state of a worker, which computes job(number) and packs the result. */
#ifndef LD_BIND_WORKER_H
#define LD_BIND_WORKER_H

#include "worker/parcel.h"

/* A job, from which every state makes its own job = make(argument): the function that opens
 * ladies_core in it, and two parcels, which many threads may read. */
typedef struct {
    lua_CFunction module;
    bind_parcel *paths; /* package.path and package.cpath */
    bind_parcel *job;   /* make and its argument */
} bind_job;

/* Sets the function that opens ladies_core in the states of jobs that are packed in L. */
void bind_job_open_with(lua_State *L, lua_CFunction module);

/* Packs make and its argument, at places `make` and make + 1 of the stack, and the paths of L's
 * modules. Parcels that were packed before an error stay in *job. */
void bind_job_pack(lua_State *L, bind_job *job, int make);
void bind_job_free(bind_job *job);

/* Makes a state with its libraries, whose Lua code stops when this thread's cancel flag is raised;
 * NULL when there is no memory. The job is made by the first call of bind_job_run. */
lua_State *bind_job_state(const bind_job *job);

/* Returns the value of job(number) as a parcel, or the error of the call if *failed is true; NULL
 * when there is no memory even for that. */
bind_parcel *bind_job_run(lua_State *L, const bind_job *job, lua_Integer number, bool *failed);

#endif

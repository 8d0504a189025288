/* Who sends how much to whom in an exchange of all ranks, MPI_Ialltoallv. */
#ifndef LD_RANKS_PLAN_H
#define LD_RANKS_PLAN_H

#include <mpi.h>
#include <stdint.h>

#include "base/status.h"

/* How many things go to each rank, or come from it, and where these begin. */
typedef struct {
    int *counts, *offsets;
    int total;
} ld_plan;

/* LD_VALUE unless something in parts ("the graph is") has one for each rank. */
ld_status ld_plan_check_owners(int n_owners, const char *what);

/* One of no things; freed with ld_plan_free, also after a failure. */
ld_status ld_plan_new(ld_plan *p);
void ld_plan_free(ld_plan *p);

/* Fills in what follows from the counts, of which one that is too large for MPI is INT32_MAX. LD_VALUE
 * where all are too many for it; `what` says of what. */
ld_status ld_plan_settle(ld_plan *p, const char *what);

/* Begins to send what `goes` says to all, and to get what `comes` says from them. */
ld_status ld_plan_exchange(MPI_Request *request, MPI_Comm comm, MPI_Datatype type, const void *sent,
                           const ld_plan *goes, void *received, const ld_plan *comes);

/* Adds what sending things of this size by the plan costs. */
void ld_plan_count(int64_t *messages, int64_t *bytes, const ld_plan *goes, size_t size);

#endif

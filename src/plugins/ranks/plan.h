/* Plans of exchanges in which each rank sends a different amount to each other one
 * (MPI_Ialltoallv). */
#ifndef LD_RANKS_PLAN_H
#define LD_RANKS_PLAN_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* One direction of an exchange, to all ranks or from all: how many things for each rank, and the
 * place of the first in the buffer. */
typedef struct {
    int *counts, *offsets;
    int total;
} ld_plan;

/* Fails with LD_VALUE unless a data set that is divided among ranks has one part for each of them.
 * `what` begins the message, as in "the graph is". */
ld_status ld_plan_check_owners(int n_owners, const char *what);

/* Makes a plan in which nothing is sent. It is freed with ld_plan_free, also after a failure. */
ld_status ld_plan_new(ld_plan *p);
void ld_plan_free(ld_plan *p);

/* Computes the offsets and the total from the counts. A count that is too large for MPI must be
 * INT32_MAX. Fails with LD_VALUE where the total is too large; `what` names the things in the
 * message. */
ld_status ld_plan_settle(ld_plan *p, const char *what);

/* Begins an exchange, which the request finishes: each rank gets the part of `sent` that `goes` has
 * for it, and `received` gets the parts that `comes` has of the others. */
ld_status ld_plan_exchange(MPI_Request *request, MPI_Comm comm, MPI_Datatype type, const void *sent,
                           const ld_plan *goes, void *received, const ld_plan *comes);

/* Adds the messages and the bytes of an exchange of things of `size` bytes to two running sums. */
void ld_plan_count(int64_t *messages, int64_t *bytes, const ld_plan *goes, size_t size);

#endif

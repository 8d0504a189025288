#include "plan.h"

#include "memory/memory.h"
#include "ranks.h"
#include "waiting.h"

ld_status ld_plan_check_owners(int n_owners, const char *what)
{
    int size = ld_ranks_count();
    if (n_owners == size)
        return LD_OK;
    return ld_fail(LD_VALUE, "ranks: %s in %d parts, and there are %d ranks", what, n_owners, size);
}

ld_status ld_plan_new(ld_plan *p)
{
    int size = ld_ranks_count();
    p->counts = ld_calloc_array(size, sizeof(int), LD_MEM_SCRATCH);
    p->offsets = ld_calloc_array(size, sizeof(int), LD_MEM_SCRATCH);
    return p->counts && p->offsets ? LD_OK : LD_NOMEM;
}

void ld_plan_free(ld_plan *p)
{
    ld_free(p->counts);
    ld_free(p->offsets);
}

ld_status ld_plan_settle(ld_plan *p, const char *what)
{
    int64_t total = 0;
    int size = ld_ranks_count();
    for (int r = 0; r < size; r++) {
        p->offsets[r] = (int)total;
        total += p->counts[r];
        if (total >= INT32_MAX)
            return ld_fail(LD_VALUE,
                           "ranks: 2^31 - 1 %s or more are wanted at a time; fewer mini-batches of "
                           "a step, or smaller ones, help",
                           what);
    }
    p->total = (int)total;
    return LD_OK;
}

ld_status ld_plan_exchange(MPI_Request *request, MPI_Comm comm, MPI_Datatype type, const void *sent,
                           const ld_plan *goes, void *received, const ld_plan *comes)
{
    return ld_ranks_check(MPI_Ialltoallv(sent, goes->counts, goes->offsets, type, received,
                                         comes->counts, comes->offsets, type, comm, request),
                          "MPI_Ialltoallv");
}

void ld_plan_count(int64_t *messages, int64_t *bytes, const ld_plan *goes, size_t size)
{
    for (int r = 0; r < ld_ranks_count(); r++) {
        *messages += goes->counts[r] > 0;
        *bytes += goes->counts[r] * (int64_t)size;
    }
}

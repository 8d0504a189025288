#include "fetch_graph.h"

#include <mpi.h>

#include "base/memory.h"
#include "waiting.h"

/* How many numbers go to and come from each rank, and where these begin. */
typedef struct {
    int *counts, *offsets, total;
} plan;

typedef struct {
    MPI_Comm comm;
    int size;
    const ld_graph_rows *have;
    const ld_index *ids; /* that this rank wants */
    ld_index *others;    /* that others want of it */
    plan wanted, given;  /* rows */
    plan came, goes;     /* their columns */
    ld_csr *gift;        /* the rows for others */
    int32_t *lengths[2]; /* of the rows that go and come */
    ld_structure *s;     /* what came */
    ld_tensor *values;   /* and its weights, or NULL */
    int64_t messages, bytes;
} fetch;

static ld_status plan_new(plan *p, int size)
{
    p->counts = ld_calloc_array(size, sizeof(int), LD_MEM_SCRATCH);
    p->offsets = ld_calloc_array(size, sizeof(int), LD_MEM_SCRATCH);
    return p->counts && p->offsets ? LD_OK : LD_NOMEM;
}

static void plan_free(plan *p)
{
    ld_free(p->counts);
    ld_free(p->offsets);
}

/* Fills in what follows from the counts, of which one that is too large for MPI is INT32_MAX. */
static ld_status settle(plan *p, int size)
{
    int64_t total = 0;
    for (int r = 0; r < size; r++) {
        p->offsets[r] = (int)total;
        total += p->counts[r];
        if (total >= INT32_MAX)
            return ld_fail(LD_VALUE, "ranks: 2^31 - 1 entries of the graph or more are wanted at "
                                     "a time; fewer mini-batches of a step, or smaller ones, help");
    }
    p->total = (int)total;
    return LD_OK;
}

/* Sends numbers of 32 bits to all, and gets theirs. */
static ld_status all_to_all(fetch *f, const void *sent, const plan *goes, void *received,
                            const plan *comes)
{
    MPI_Request request;
    for (int r = 0; r < f->size; r++) {
        f->messages += goes->counts[r] > 0;
        f->bytes += goes->counts[r] * (int64_t)sizeof(int32_t);
    }
    ld_status st = ld_ranks_check(MPI_Ialltoallv(sent, goes->counts, goes->offsets, MPI_INT32_T,
                                                 received, comes->counts, comes->offsets,
                                                 MPI_INT32_T, f->comm, &request),
                                  "MPI_Ialltoallv");
    return st == LD_OK ? ld_ranks_wait(1, &request, "rows of the graph") : st;
}

/* Tells all how many rows this rank wants of each, and whether it wants any of anybody: all of them
 * then know whether one does. */
static ld_status tell_counts(bool *any, fetch *f)
{
    MPI_Request request;
    int(*own)[2] = ld_calloc_array(2 * f->size, sizeof *own, LD_MEM_SCRATCH), (*all)[2];
    ld_status st;
    if (!own)
        return LD_NOMEM;
    all = own + f->size;
    for (int64_t i = 0; i < f->ids->size; i++)
        f->wanted.counts[ld_graph_rows_owner(f->have, f->ids->data[i])]++;
    for (int r = 0; r < f->size; r++) {
        own[r][0] = f->wanted.counts[r];
        own[r][1] = f->ids->size > 0;
    }
    if ((st = ld_ranks_check(MPI_Ialltoall(own, 2, MPI_INT, all, 2, MPI_INT, f->comm, &request),
                             "MPI_Ialltoall")) != LD_OK ||
        (st = ld_ranks_wait(1, &request, "rows of the graph")) != LD_OK)
        return st;
    *any = false;
    for (int r = 0; r < f->size; r++) {
        f->given.counts[r] = all[r][0];
        *any |= all[r][1];
    }
    f->messages += f->size - 1;
    f->bytes += (f->size - 1) * (int64_t)sizeof *own;
    ld_free(own);
    return LD_OK;
}

/* The lengths of the rows that go, and the counts of their columns. */
static ld_status measure_gift(fetch *f)
{
    const ld_structure *s = f->gift->s;
    if (!(f->lengths[0] = ld_alloc_array(f->given.total, sizeof(int32_t), LD_MEM_SCRATCH)) ||
        !(f->lengths[1] = ld_alloc_array(f->wanted.total, sizeof(int32_t), LD_MEM_SCRATCH)))
        return LD_NOMEM;
    for (int64_t i = 0; i < s->n_rows; i++)
        f->lengths[0][i] = (int32_t)(s->offsets[i + 1] - s->offsets[i]);
    for (int r = 0; r < f->size; r++) {
        int64_t first = f->given.offsets[r], end = first + f->given.counts[r];
        int64_t n = s->offsets[end] - s->offsets[first];
        f->goes.counts[r] = n < INT32_MAX ? (int)n : INT32_MAX;
    }
    return settle(&f->goes, f->size);
}

/* The structure of the rows that come, without their columns, and the counts of these. */
static ld_status measure_rows(fetch *f)
{
    ld_status st;
    int64_t nnz = 0;
    for (int r = 0; r < f->size; r++) {
        int64_t n = 0;
        for (int i = 0; i < f->wanted.counts[r]; i++)
            n += f->lengths[1][f->wanted.offsets[r] + i];
        f->came.counts[r] = n < INT32_MAX ? (int)n : INT32_MAX;
        nnz += n;
    }
    LD_TRY(settle(&f->came, f->size));
    LD_TRY(ld_structure_new(&f->s, f->wanted.total, f->have->n_nodes, nnz, false));
    for (int i = 0; i < f->wanted.total; i++)
        f->s->offsets[i + 1] = f->s->offsets[i] + f->lengths[1][i];
done:
    return st;
}

static void clear(fetch *f)
{
    plan_free(&f->wanted);
    plan_free(&f->given);
    plan_free(&f->came);
    plan_free(&f->goes);
    ld_index_unref(f->others);
    ld_csr_unref(f->gift);
    ld_free(f->lengths[0]);
    ld_free(f->lengths[1]);
    ld_structure_unref(f->s);
    ld_tensor_unref(f->values);
}

/* The rows, when all know how many are wanted. */
static ld_status bring(fetch *f)
{
    ld_status st;
    LD_TRY(settle(&f->wanted, f->size));
    LD_TRY(settle(&f->given, f->size));
    LD_TRY(ld_index_new(&f->others, f->given.total));
    LD_TRY(all_to_all(f, f->ids->data, &f->wanted, f->others->data, &f->given));
    LD_TRY(ld_graph_rows_collect(&f->gift, f->have, f->others, (ld_collect_options){0}));
    LD_TRY(measure_gift(f));
    LD_TRY(all_to_all(f, f->lengths[0], &f->given, f->lengths[1], &f->wanted));
    LD_TRY(measure_rows(f));
    LD_TRY(all_to_all(f, f->gift->s->columns, &f->goes, f->s->columns, &f->came));
    if (f->have->weighted) {
        LD_TRY(ld_tensor_new(&f->values, 1, f->s->nnz, 1));
        LD_TRY(all_to_all(f, f->gift->values->data, &f->goes, f->values->data, &f->came));
    }
    f->s->canonical = true;
done:
    return st;
}

ld_status ld_ranks_fetch_graph(ld_graph_fetched *out, const ld_graph_rows *have,
                               const ld_index *ids)
{
    fetch f = {.have = have, .ids = ids};
    ld_status st;
    f.comm = ld_ranks_foreground(&f.size);
    *out = (ld_graph_fetched){0};
    LD_TRY(ld_ranks_check_open());
    if (have->n_owners != f.size) {
        st = ld_fail(LD_VALUE, "ranks: the graph is in %d parts, and there are %d ranks",
                     have->n_owners, f.size);
        goto done;
    }
    LD_TRY(plan_new(&f.wanted, f.size));
    LD_TRY(plan_new(&f.given, f.size));
    LD_TRY(plan_new(&f.came, f.size));
    LD_TRY(plan_new(&f.goes, f.size));
    LD_TRY(tell_counts(&out->any, &f));
    if (out->any)
        LD_TRY(bring(&f));
    if (out->any)
        LD_TRY(ld_csr_new(&out->rows, f.s, f.values, NULL, NULL));
    out->messages = f.messages;
    out->bytes = f.bytes;
    clear(&f);
done:
    return st;
}

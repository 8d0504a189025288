/* Fetches rows of a sharded graph from the ranks that hold them. The ranks exchange in turn how
 * many rows they want, which ones, how long each is, and then the columns and the weights. */
#include "fetch_graph.h"

#include <mpi.h>

#include "memory/memory.h"
#include "plan.h"
#include "ranks.h"
#include "waiting.h"

typedef struct {
    MPI_Comm comm;
    int size;
    const ld_graph_rows *have;
    const ld_index *ids;             /* the rows that this rank wants */
    ld_index *others;                /* the rows that other ranks want of it */
    ld_plan wanted, given;           /* how many rows come from each rank, and go to it */
    ld_plan came, goes;              /* how many entries of them do */
    ld_csr *gift;                    /* the rows for others */
    int32_t *gift_lengths, *lengths; /* entries in each row that goes, and that comes */
    ld_structure *s;                 /* the pattern of the rows that came */
    ld_tensor *values;               /* and its weights, or NULL */
    int64_t messages, bytes;
} fetch;

static const char ROWS_OF[] = "rows of the graph", ENTRIES[] = "entries of the graph";

/* Exchanges 32-bit numbers with all ranks by two plans: what goes to each, and what comes from
 * it. */
static ld_status all_to_all(fetch *f, const void *sent, const ld_plan *goes, void *received,
                            const ld_plan *comes)
{
    MPI_Request request;
    LD_CHECK(ld_plan_exchange(&request, f->comm, MPI_INT32_T, sent, goes, received, comes));
    ld_plan_count(&f->messages, &f->bytes, goes, sizeof(int32_t));
    return ld_ranks_wait(1, &request, ROWS_OF);
}

/* Tells every rank how many rows this one wants of it, and whether this one wants any of anybody.
 * So all ranks agree on whether there is anything to fetch. */
static ld_status tell_counts(bool *any, fetch *f)
{
    MPI_Request request;
    int(*own)[2] = ld_calloc_array(2 * f->size, sizeof *own, LD_MEM_SCRATCH), (*all)[2];
    if (!own)
        return LD_NOMEM;
    all = own + f->size;
    for (int64_t i = 0; i < f->ids->size; i++)
        f->wanted.counts[ld_graph_rows_owner(f->have, f->ids->data[i])]++;
    for (int r = 0; r < f->size; r++) {
        own[r][0] = f->wanted.counts[r];
        own[r][1] = f->ids->size > 0;
    }
    LD_CHECK(ld_ranks_check(MPI_Ialltoall(own, 2, MPI_INT, all, 2, MPI_INT, f->comm, &request),
                            "MPI_Ialltoall"));
    LD_CHECK(ld_ranks_wait(1, &request, ROWS_OF)); /* MPI may still use the memory */
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

/* Fills in the number of entries in each row that goes to another rank, and plans how many entries
 * go to each. */
static ld_status measure_gift(fetch *f)
{
    const ld_structure *s = f->gift->s;
    if (!(f->gift_lengths = ld_alloc_array(f->given.total, sizeof(int32_t), LD_MEM_SCRATCH)) ||
        !(f->lengths = ld_alloc_array(f->wanted.total, sizeof(int32_t), LD_MEM_SCRATCH)))
        return LD_NOMEM;
    for (int64_t i = 0; i < s->n_rows; i++)
        f->gift_lengths[i] = (int32_t)(s->offsets[i + 1] - s->offsets[i]);
    for (int r = 0; r < f->size; r++) {
        int64_t first = f->given.offsets[r], end = first + f->given.counts[r];
        int64_t n = s->offsets[end] - s->offsets[first];
        f->goes.counts[r] = n < INT32_MAX ? (int)n : INT32_MAX;
    }
    return ld_plan_settle(&f->goes, ENTRIES);
}

/* Makes the pattern of the rows that come, its columns still to be filled, and plans how many
 * entries come from each rank. */
static ld_status measure_rows(fetch *f)
{
    int64_t nnz = 0;
    for (int r = 0; r < f->size; r++) {
        int64_t n = 0;
        for (int i = 0; i < f->wanted.counts[r]; i++)
            n += f->lengths[f->wanted.offsets[r] + i];
        f->came.counts[r] = n < INT32_MAX ? (int)n : INT32_MAX;
        nnz += n;
    }
    LD_CHECK(ld_plan_settle(&f->came, ENTRIES));
    LD_CHECK(ld_structure_new(&f->s, f->wanted.total, f->have->n_nodes, nnz, false));
    for (int i = 0; i < f->wanted.total; i++)
        f->s->offsets[i + 1] = f->s->offsets[i] + f->lengths[i];
    return LD_OK;
}

static void clear(fetch *f)
{
    ld_plan_free(&f->wanted);
    ld_plan_free(&f->given);
    ld_plan_free(&f->came);
    ld_plan_free(&f->goes);
    ld_index_unref(f->others);
    ld_csr_unref(f->gift);
    ld_free(f->gift_lengths);
    ld_free(f->lengths);
    ld_structure_unref(f->s);
    ld_tensor_unref(f->values);
}

/* Fails unless the rows that came fit this graph: ranks may have been given different data sets. */
static ld_status check_rows(fetch *f)
{
    ld_status st = ld_structure_verify(f->s);
    return st == LD_RANGE
               ? ld_fail(LD_VALUE, "ranks: rows came that are of another graph than this "
                                   "one's; all must have the same data set")
               : st;
}

/* Fetches the rows once every rank knows how many are wanted of it. */
static ld_status bring(fetch *f)
{
    LD_CHECK(ld_plan_settle(&f->wanted, ROWS_OF));
    LD_CHECK(ld_plan_settle(&f->given, ROWS_OF));
    LD_CHECK(ld_index_new(&f->others, f->given.total));
    LD_CHECK(all_to_all(f, f->ids->data, &f->wanted, f->others->data, &f->given));
    LD_CHECK(ld_graph_rows_collect(&f->gift, f->have, f->others, (ld_collect_options){0}));
    LD_CHECK(measure_gift(f));
    LD_CHECK(all_to_all(f, f->gift_lengths, &f->given, f->lengths, &f->wanted));
    LD_CHECK(measure_rows(f));
    LD_CHECK(all_to_all(f, f->gift->s->columns, &f->goes, f->s->columns, &f->came));
    if (f->have->weighted) {
        LD_CHECK(ld_tensor_new(&f->values, 1, f->s->nnz, 1));
        LD_CHECK(all_to_all(f, f->gift->values->data, &f->goes, f->values->data, &f->came));
    }
    return check_rows(f);
}

ld_status ld_ranks_fetch_graph(ld_graph_fetched *out, const ld_graph_rows *have,
                               const ld_index *ids)
{
    fetch f = {.comm = ld_ranks_foreground(), .size = ld_ranks_count(), .have = have, .ids = ids};
    ld_status st;
    *out = (ld_graph_fetched){0};
    LD_TRY(ld_ranks_check_open());
    LD_TRY(ld_plan_check_owners(have->n_owners, "the graph is"));
    LD_TRY(ld_plan_new(&f.wanted));
    LD_TRY(ld_plan_new(&f.given));
    LD_TRY(ld_plan_new(&f.came));
    LD_TRY(ld_plan_new(&f.goes));
    LD_TRY(tell_counts(&out->any, &f));
    if (out->any) {
        LD_TRY(bring(&f));
        LD_TRY(ld_csr_new(&out->rows, f.s, f.values, NULL, NULL));
    }
    out->messages = f.messages;
    out->bytes = f.bytes;
    clear(&f);
done:
    if (st != LD_OK)
        ld_ranks_lose(); /* others go on without this one */
    return st;
}

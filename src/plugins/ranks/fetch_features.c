#include "fetch_features.h"

#include <mpi.h>

#include "memory/memory.h"
#include "order.h"
#include "plan.h"
#include "ranks.h"
#include "waiting.h"

struct ld_fetch {
    enum { COUNTS, IDS, ROWS, OVER } step; /* the call that is under way */
    bool forgotten;                        /* nobody waits for it any more */
    ld_rows *have;
    ld_plan wanted, given;  /* what this rank wants of the others, and they of it */
    ld_index *ids, *others; /* the numbers of these rows */
    void *came, *goes;      /* the rows */
    MPI_Datatype row;
    MPI_Request request;
};

static ld_fetch *under_way; /* it may be forgotten already */

static const char ROWS_OF[] = "rows of features";

/* Finds the rows that are wanted and not here, and plans how many come from each rank. */
static ld_status plan_wanted(ld_fetch *f, const ld_index *ids)
{
    LD_CHECK(ld_rows_missing(&f->ids, f->have, ids));
    for (int64_t i = 0; i < f->ids->size; i++)
        f->wanted.counts[ld_rows_owner(f->have, f->ids->data[i])]++;
    return ld_plan_settle(&f->wanted, ROWS_OF);
}

static ld_status begin_counts(ld_fetch *f, MPI_Comm comm)
{
    return ld_ranks_check(
        MPI_Ialltoall(f->wanted.counts, 1, MPI_INT, f->given.counts, 1, MPI_INT, comm, &f->request),
        "MPI_Ialltoall");
}

static ld_status begin_ids(ld_fetch *f, MPI_Comm comm)
{
    LD_CHECK(ld_plan_settle(&f->given, ROWS_OF));
    LD_CHECK(ld_index_new(&f->others, f->given.total));
    return ld_plan_exchange(&f->request, comm, MPI_INT32_T, f->ids->data, &f->wanted,
                            f->others->data, &f->given);
}

static size_t row_size(const ld_fetch *f)
{
    return (size_t)(f->have->n_cols * ld_number_size(f->have->number));
}

static ld_status begin_rows(ld_fetch *f, MPI_Comm comm)
{
    LD_CHECK(ld_index_check(f->others, 0, f->have->n_rows, "ranks: another one wants the row"));
    f->goes = ld_alloc_array(f->given.total, row_size(f), LD_MEM_SCRATCH);
    f->came = ld_alloc_array(f->wanted.total, row_size(f), LD_MEM_TENSOR);
    if (!f->goes || !f->came)
        return LD_NOMEM;
    LD_CHECK(ld_rows_copy(f->goes, f->have, f->others->data, f->given.total));
    return ld_plan_exchange(&f->request, comm, f->row, f->goes, &f->given, f->came, &f->wanted);
}

static void free_row(ld_fetch *f)
{
    if (f->row != MPI_DATATYPE_NULL)
        MPI_Type_free(&f->row);
}

/* Begins the step that follows the call that is over. Where it cannot, others go on without this
 * rank. Memory of MPI is freed at the end of the last step, since the fetch may exist longer than
 * MPI. */
static ld_status next_step(ld_fetch *f)
{
    ld_status st = LD_OK;
    MPI_Comm comm = ld_ranks_background();
    f->step++;
    if (f->step == IDS)
        st = begin_ids(f, comm);
    else if (f->step == ROWS)
        st = begin_rows(f, comm);
    else
        free_row(f);
    if (st != LD_OK)
        ld_ranks_lose();
    return st;
}

/* Does as much of the fetch under way, if there is one, as needs no waiting; nothing more after a
 * failure, of which the next call for other ranks tells. */
static ld_status go_on(void)
{
    int done = 1;
    ld_fetch *f = ld_ranks_lost() ? NULL : under_way;
    while (f && f->step != OVER && done) {
        ld_status st = ld_ranks_check(MPI_Test(&f->request, &done, MPI_STATUS_IGNORE), "MPI_Test");
        if (st == LD_OK && done)
            st = next_step(f);
        if (st != LD_OK) {
            ld_ranks_lose();
            return st;
        }
    }
    return LD_OK;
}

/* Waits until a fetch is over. Meanwhile none counts as under way, so that nothing else goes on
 * with it. */
static ld_status wait_for(ld_fetch *f)
{
    if (f == under_way)
        under_way = NULL;
    LD_CHECK(ld_ranks_check_open());
    while (f->step != OVER) {
        LD_CHECK(ld_ranks_wait_for_fetch(&f->request));
        LD_CHECK(next_step(f));
    }
    return LD_OK;
}

/* Waits for the end of the fetch under way, if there is one, even if nobody wants its rows any
 * more. */
static ld_status end_under_way(void)
{
    ld_fetch *f = under_way;
    ld_status st = f ? wait_for(f) : LD_OK;
    if (f && f->forgotten)
        ld_fetch_free(f);
    return st;
}

/* Begins a fetch when none is under way. */
static ld_status begin(ld_fetch **out, ld_rows *have, const ld_index *ids)
{
    static const ld_background work = {.go_on = go_on, .end = end_under_way};
    LD_OWN(ld_fetch) *f = NULL;
    if (!(f = ld_calloc_array(1, sizeof *f, LD_MEM_SCRATCH)))
        return LD_NOMEM;
    f->step = OVER; /* as long as nothing is under way */
    f->row = MPI_DATATYPE_NULL;
    f->have = ld_rows_ref(have);
    LD_CHECK(ld_plan_check_owners(have->n_owners, "the features are"));
    LD_CHECK(ld_plan_new(&f->wanted));
    LD_CHECK(ld_plan_new(&f->given));
    LD_CHECK(plan_wanted(f, ids));
    LD_CHECK(ld_ranks_check(MPI_Type_contiguous((int)row_size(f), MPI_BYTE, &f->row), "MPI_Type"));
    LD_CHECK(ld_ranks_check(MPI_Type_commit(&f->row), "MPI_Type_commit"));
    ld_order_fetch();
    LD_CHECK(begin_counts(f, ld_ranks_background()));
    f->step = COUNTS;
    under_way = f;
    ld_ranks_set_background(&work);
    *out = ld_take(&f);
    return LD_OK;
}

ld_status ld_fetch_begin(ld_fetch **out, ld_rows *have, const ld_index *ids)
{
    LD_CHECK(ld_ranks_check_open());
    LD_CHECK(end_under_way());
    ld_status st = begin(out, have, ids);
    if (st != LD_OK)
        ld_ranks_lose(); /* others go on without this one */
    return st;
}

/* Joins a block of the rows `ids`, which it takes, with rows that are here. */
static ld_status join(ld_rows **out, ld_rows *have, ld_index *ids, void *block)
{
    LD_OWN(ld_rows) *rows = NULL;
    LD_CHECK(ld_rows_of_block(&rows, have->number, ids->size, have->n_cols, block));
    const ld_rows_part parts[] = {{0, NULL, have}, {0, ids, rows}};
    return ld_rows_join(out, have->number, have->n_rows, have->n_cols, parts, 2, have->bounds,
                        have->n_owners);
}

ld_status ld_fetch_keep(ld_rows **out, ld_rows *own, const ld_rows *have, ld_index *ids)
{
    size_t size = (size_t)(have->n_cols * ld_number_size(have->number));
    LD_FREED void *block = ld_alloc_array(ids->size, size, LD_MEM_TENSOR);
    if (!block)
        return LD_NOMEM;
    LD_CHECK(ld_rows_copy(block, have, ids->data, ids->size));
    return join(out, own, ids, ld_take(&block));
}

ld_status ld_fetch_end(ld_rows **out, ld_fetch *f)
{
    LD_CHECK(wait_for(f));
    return join(out, f->have, f->ids, ld_take(&f->came));
}

void ld_fetch_sent(int64_t *messages, int64_t *bytes, const ld_fetch *f)
{
    int others = ld_ranks_count() - 1;
    *messages = others;
    *bytes = others * (int64_t)sizeof(int);
    ld_plan_count(messages, bytes, &f->wanted, sizeof(int32_t));
    ld_plan_count(messages, bytes, &f->given, row_size(f));
}

void ld_fetch_free(ld_fetch *f)
{
    if (!f)
        return;
    f->forgotten = true;
    if (f->step != OVER)
        return; /* MPI may still use it */
    if (f == under_way)
        under_way = NULL;
    free_row(f);
    ld_plan_free(&f->wanted);
    ld_plan_free(&f->given);
    ld_index_unref(f->ids);
    ld_index_unref(f->others);
    ld_rows_unref(f->have);
    ld_free(f->came);
    ld_free(f->goes);
    ld_free(f);
}

/* Draws the entries of all rows in parallel, each to its place, which is known beforehand; then
 * numbers the columns, one time after the other, so that one marker of nodes is enough. */
#include "sample/temporal.h"

#include <inttypes.h>
#include <stdatomic.h>

#include "base/search.h"
#include "graph/edge_list.h"
#include "graph/marker.h"
#include "kernel/row_draw.h"
#include "memory/memory.h"
#include "system/threads.h"

enum { GRAIN = 256 };

typedef struct {
    ld_csr *a;
    const ld_index *rows, *before, *times, *order;
    int64_t k;
    bool recent, valued;
    uint64_t key;      /* of the random numbers of this call */
    int64_t *certain;  /* for each row, how many of its entries are always taken */
    int64_t *degrees;  /* and among how many others it draws */
    ld_structure *s;   /* the result: a's columns at first, then numbers of nodes at times */
    ld_tensor *values; /* NULL where all are one */
    ld_tensor *w;
    ld_index *by_time; /* the rows in order of their times */
    ld_marker *marks;  /* the columns of the time in hand */
    ld_index *src, *src_before;
    atomic_int stopped; /* the status of the first failure */
} job;

static void job_clear(job *q)
{
    ld_free(q->certain);
    ld_free(q->degrees);
    ld_structure_unref(q->s);
    ld_tensor_unref(q->values);
    ld_tensor_unref(q->w);
    ld_index_unref(q->by_time);
    ld_marker_put(q->marks);
    ld_index_unref(q->src);
    ld_index_unref(q->src_before);
}

/* --- planning --------------------------------------------------------------------------------- */

static ld_status check(const job *q)
{
    const ld_structure *s = q->a->s;
    if (q->k < 0 || q->k > INT32_MAX)
        return ld_fail(LD_VALUE, "sample_before: k must be 0 to %d, got %" PRId64, INT32_MAX, q->k);
    if (q->before->size != q->rows->size)
        return ld_fail(LD_SHAPE, "sample_before: before has %" PRId64 " times for %" PRId64 " rows",
                       q->before->size, q->rows->size);
    if (q->times->size != s->nnz || q->order->size != s->nnz)
        return ld_fail(
            LD_SHAPE,
            "sample_before: times and order must have an element for each of the %" PRId64
            " entries, they have %" PRId64 " and %" PRId64,
            s->nnz, q->times->size, q->order->size);
    LD_CHECK(ld_structure_check_square(s, "sample_before"));
    return ld_index_check(q->rows, 0, s->n_rows, "sample_before: node");
}

/* Counts the entries of each row that it will have, and makes the result with room for them. */
static ld_status plan(job *q)
{
    const int64_t *offsets = q->a->s->offsets;
    const int32_t *times = q->times->data;
    int64_t n = q->rows->size, nnz = 0;
    if (!(q->certain = ld_alloc_array(n, sizeof *q->certain, LD_MEM_SCRATCH)) ||
        !(q->degrees = ld_alloc_array(n, sizeof *q->degrees, LD_MEM_SCRATCH)))
        return LD_NOMEM;
    for (int64_t i = 0; i < n; i++) {
        int64_t r = q->rows->data[i], from = offsets[r], end = offsets[r + 1];
        int64_t first = ld_search_int32(times, from, end, 0);
        int64_t last = ld_search_int32(times, first, end, q->before->data[i]);
        q->certain[i] = first - from;
        q->degrees[i] = last - first;
        nnz += q->certain[i] + (q->degrees[i] < q->k ? q->degrees[i] : q->k);
    }
    LD_CHECK(ld_structure_check(n, n, nnz));
    LD_CHECK(ld_structure_new(&q->s, n, q->a->s->n_cols, nnz, true));
    ld_structure_sliced(q->s, q->a);
    LD_CHECK(ld_tensor_new(&q->w, 1, nnz, 1));
    if (q->valued)
        LD_CHECK(ld_tensor_new(&q->values, 1, nnz, 1));
    q->s->offsets[0] = 0;
    for (int64_t i = 0; i < n; i++)
        q->s->offsets[i + 1] =
            q->s->offsets[i] + q->certain[i] + (q->degrees[i] < q->k ? q->degrees[i] : q->k);
    return LD_OK;
}

/* --- drawing ---------------------------------------------------------------------------------- */

/* Puts the entry at place `at` of the order of row r, with its weight, to place `to` of the
 * result. Returns false if that entry is not of row r. */
static bool put(job *q, int64_t r, int64_t at, int64_t to, float weight)
{
    const ld_structure *p = q->a->s;
    int64_t e = q->order->data[at];
    if (e < p->offsets[r] || e >= p->offsets[r + 1])
        return false;
    q->s->columns[to] = p->columns[e];
    q->s->from.places[to] = ld_structure_place(p, r, e);
    q->w->data[to] = weight;
    if (q->values)
        q->values->data[to] = ld_csr_value(q->a, r, e);
    return true;
}

/* Returns the random numbers of a row at a time. */
static ld_row_rng numbers(const job *q, int64_t r, int32_t time)
{
    ld_rng of_call = {.key = q->key};
    ld_rng of_time = ld_rng_fork(&of_call, (uint32_t)time);
    return (ld_row_rng){ld_rng_next(&of_time), (uint64_t)r << 32};
}

static ld_status draw_row(job *q, int64_t i)
{
    int64_t r = q->rows->data[i], from = q->a->s->offsets[r], to = q->s->offsets[i];
    int64_t d = q->degrees[i], first = from + q->certain[i], count = d < q->k ? d : q->k;
    LD_FREED uint64_t *words = NULL;
    LD_FREED ld_row_draw *draws = NULL;
    bool right = true;
    q->s->from.rows[i] = ld_structure_origin(q->a->s, r);
    for (int64_t j = from; j < first; j++)
        right &= put(q, r, j, to++, 1.0f);
    if (q->recent || count == d) {
        for (int64_t j = d - count; j < d; j++)
            right &= put(q, r, first + j, to++, 1.0f);
    } else if (count > 0) {
        words = ld_alloc_array(d / 64 + 1, sizeof *words, LD_MEM_SCRATCH);
        draws = ld_alloc_array(count, sizeof *draws, LD_MEM_SCRATCH);
        if (!words || !draws)
            return LD_NOMEM;
        ld_row_uniform(draws, d, count, numbers(q, r, q->before->data[i]), false, words);
        for (int64_t j = 0; j < count; j++)
            right &=
                put(q, r, first + ld_row_draw_at(draws[j]), to++, ld_row_draw_weight(draws[j]));
    }
    return right ? LD_OK : LD_RANGE;
}

static void draw_rows(void *ctx, int64_t begin, int64_t end)
{
    job *q = ctx;
    for (int64_t i = begin; i < end; i++) {
        ld_status st = draw_row(q, i);
        if (st != LD_OK)
            atomic_store(&q->stopped, st);
    }
}

/* --- columns ---------------------------------------------------------------------------------- */

/* Marks the rows begin .. end-1 of the order by time, which have the same time, as columns. */
static ld_status mark_rows(job *q, int64_t begin, int64_t end)
{
    ld_marker_clear(q->marks);
    for (int64_t j = begin; j < end; j++) {
        int32_t i = q->by_time->data[j], v = q->rows->data[i];
        if (ld_marker_get(q->marks, v) >= 0)
            return ld_fail(LD_VALUE, "sample_before: node %" PRId32 " is twice there at one time",
                           v + 1);
        ld_marker_set(q->marks, v, i);
    }
    return LD_OK;
}

/* Numbers the columns of row i, those that are new from *n on. */
static void number_row(job *q, int32_t i, int64_t *n)
{
    for (int64_t e = q->s->offsets[i]; e < q->s->offsets[i + 1]; e++) {
        int32_t u = q->s->columns[e], place = ld_marker_get(q->marks, u);
        if (place < 0) {
            place = (int32_t)*n;
            ld_marker_set(q->marks, u, place);
            q->src->data[*n] = u;
            q->src_before->data[(*n)++] = q->before->data[i];
        }
        q->s->columns[e] = place;
    }
}

/* Gives the columns their numbers, and lists what they are. */
static ld_status number_columns(job *q)
{
    int64_t rows = q->rows->size, n = rows;
    ld_index *keys[] = {(ld_index *)q->before};
    LD_CHECK(ld_edge_order(&q->by_time, keys, 1));
    LD_CHECK(ld_marker_take(&q->marks, q->a->s->n_cols));
    LD_CHECK(ld_index_new(&q->src, rows + q->s->nnz));
    LD_CHECK(ld_index_new(&q->src_before, rows + q->s->nnz));
    for (int64_t i = 0; i < rows; i++) {
        q->src->data[i] = q->rows->data[i];
        q->src_before->data[i] = q->before->data[i];
    }
    for (int64_t begin = 0, end; begin < rows; begin = end) {
        int32_t time = q->before->data[q->by_time->data[begin]];
        for (end = begin + 1; end < rows && q->before->data[q->by_time->data[end]] == time;)
            end++;
        LD_CHECK(mark_rows(q, begin, end));
        for (int64_t j = begin; j < end; j++)
            number_row(q, q->by_time->data[j], &n);
    }
    LD_CHECK(ld_structure_check(rows, n, q->s->nnz));
    q->s->n_cols = n;
    return LD_OK;
}

/* --- the call --------------------------------------------------------------------------------- */

ld_status ld_sample_before(ld_csr **out, ld_index **src, ld_index **src_before, ld_tensor **w,
                           ld_csr *a, const ld_index *rows, const ld_index *before, int64_t k,
                           const ld_index *times, const ld_index *order, bool recent, ld_rng *rng)
{
    LD_CLEANED(job_clear)
    job q = {.a = a,
             .rows = rows,
             .before = before,
             .times = times,
             .order = order,
             .k = k,
             .recent = recent,
             .valued = ld_csr_is_valued(a)};
    LD_OWN(ld_index) *nodes = NULL;
    LD_CHECK(check(&q));
    LD_CHECK(plan(&q));
    ld_stream stream = ld_rng_next(rng);
    q.key = ld_random_bits(stream, 0);
    LD_CHECK(ld_parallel_for(rows->size, GRAIN, draw_rows, &q));
    ld_status st = (ld_status)atomic_load(&q.stopped);
    if (st != LD_OK)
        return ld_fail(st, "sample_before: %s",
                       st == LD_NOMEM ? "out of memory"
                                      : "order must list the positions of entries row by row");
    LD_CHECK(number_columns(&q));
    LD_CHECK(ld_index_slice(&nodes, q.src, 0, q.s->n_cols));
    LD_CHECK(ld_index_slice(src_before, q.src_before, 0, q.s->n_cols));
    LD_CHECK(ld_csr_new(out, q.s, q.values, NULL, NULL));
    *src = ld_take(&nodes);
    *w = ld_take(&q.w);
    return LD_OK;
}

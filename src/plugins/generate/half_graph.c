/* Half a graph, built from draws of edges, and the whole graph made of it.
 *
 * Rows are filled by counting sort: one pass over the draws counts the edges of each row, a second
 * one makes the same draws again and writes them. Threads write a row's edges in any order; sorting
 * the row afterwards makes that order, and with it the number of threads, forgotten. */
#include "generate/half_graph.h"

#include <stdatomic.h>
#include <string.h>

#include "base/sort.h"
#include "memory/memory.h"
#include "system/threads.h"

enum {
    DRAWS_GRAIN = 1 << 16,
    ROWS_GRAIN = 1 << 10,
    AHEAD = 16, /* edges */
};

ld_status ld_half_init(ld_half *h, int64_t n)
{
    *h = (ld_half){.n = n};
    h->offsets = ld_calloc_array(n + 1, sizeof *h->offsets, LD_MEM_SCRATCH);
    return h->offsets ? LD_OK : LD_NOMEM;
}

void ld_half_clear(ld_half *h)
{
    ld_free(h->offsets);
    ld_free(h->columns);
    *h = (ld_half){0};
}

static void sort_rows(void *ctx, int64_t begin, int64_t end)
{
    ld_half *h = ctx;
    for (int64_t r = begin; r < end; r++)
        ld_sort_int32(h->columns + h->offsets[r], h->offsets[r + 1] - h->offsets[r]);
}

ld_status ld_half_sort(ld_half *h)
{
    return ld_parallel_for(h->n, ROWS_GRAIN, sort_rows, h);
}

/* --- adding edges ----------------------------------------------------------------------------- */

typedef struct {
    const ld_urn *urn;
    uint64_t first;
    const ld_half *old;
    int64_t *starts;      /* n + 1: where each row begins in `columns` */
    _Atomic int64_t *end; /* n: behind the row's edges */
    int32_t *columns;     /* NULL while counting */
} addition;

static void addition_clear(addition *a)
{
    ld_free(a->starts);
    ld_free((void *)a->end);
}

/* Counts the edges of draws begin .. end-1 into a->end, or writes them there. Draws wait for memory
 * together. */
static void place_draws(void *ctx, int64_t begin, int64_t end)
{
    addition *a = ctx;
    int32_t us[LD_DRAWS], vs[LD_DRAWS];
    int64_t at[LD_DRAWS];
    for (int64_t i = begin; i < end; i += LD_DRAWS) {
        int n = end - i < LD_DRAWS ? (int)(end - i) : LD_DRAWS;
        n = ld_urn_draw(a->urn, a->first + (uint64_t)i, n, us, vs);
        for (int k = 0; k < n; k++) {
            int32_t u = us[k], v = vs[k];
            us[k] = u < v ? u : v;
            vs[k] = u < v ? v : u;
            __builtin_prefetch((void *)&a->end[us[k]], 1);
        }
        for (int k = 0; k < n; k++) {
            at[k] = atomic_fetch_add_explicit(&a->end[us[k]], 1, memory_order_relaxed);
            if (a->columns)
                __builtin_prefetch(&a->columns[at[k]], 1);
        }
        for (int k = 0; k < n && a->columns; k++)
            a->columns[at[k]] = vs[k];
    }
}

/* Merges the new edges of rows into the old ones. Row r lies behind room for its old edges: it is
 * sorted, and both are merged to the front of the room, where writing never overtakes reading. */
static void merge_rows(void *ctx, int64_t begin, int64_t end)
{
    addition *a = ctx;
    for (int64_t r = begin; r < end; r++) {
        const int32_t *old = a->old->columns ? a->old->columns + a->old->offsets[r] : NULL;
        int64_t n_old = a->old->offsets[r + 1] - a->old->offsets[r];
        int32_t *row = a->columns + a->starts[r], *drawn = row + n_old;
        int64_t n_drawn = a->end[r] - a->starts[r] - n_old, n = 0;
        ld_sort_int32(drawn, n_drawn);
        for (int64_t i = 0, j = 0; i < n_old || j < n_drawn;) {
            bool from_old = j == n_drawn || (i < n_old && old[i] <= drawn[j]);
            int32_t next = from_old ? old[i++] : drawn[j++];
            if (n == 0 || row[n - 1] != next)
                row[n++] = next;
        }
        a->end[r] = a->starts[r] + n;
    }
}

/* Turns counts into starts of rows, with room for the old edges; a->end becomes the places where
 * draws are written. */
static void lay_out(addition *a, int64_t n)
{
    int64_t at = 0;
    for (int64_t r = 0; r < n; r++) {
        int64_t drawn = a->end[r], n_old = a->old->offsets[r + 1] - a->old->offsets[r];
        a->starts[r] = at;
        a->end[r] = at + n_old;
        at += n_old + drawn;
    }
    a->starts[n] = at;
}

/* Closes the gaps that merging has left. */
static void compact(ld_half *h, const addition *a)
{
    int64_t at = 0;
    for (int64_t r = 0; r < h->n; r++) {
        int64_t length = a->end[r] - a->starts[r];
        memmove(h->columns + at, h->columns + a->starts[r], (size_t)length * sizeof *h->columns);
        h->offsets[r] = at;
        at += length;
    }
    h->offsets[h->n] = at;
}

ld_status ld_half_add(ld_half *h, const ld_urn *urn, uint64_t first, int64_t count)
{
    LD_CLEANED(addition_clear) addition a = {.urn = urn, .first = first, .old = h};
    LD_FREED int32_t *columns = NULL;
    if (!(a.starts = ld_alloc_array(h->n + 1, sizeof *a.starts, LD_MEM_SCRATCH)) ||
        !(a.end = ld_calloc_array(h->n, sizeof *a.end, LD_MEM_SCRATCH)))
        return LD_NOMEM;
    LD_CHECK(ld_parallel_for(count, DRAWS_GRAIN, place_draws, &a));
    lay_out(&a, h->n);
    if (!(columns = ld_alloc_array(a.starts[h->n], sizeof *columns, LD_MEM_SCRATCH)))
        return LD_NOMEM;
    a.columns = columns;
    LD_CHECK(ld_parallel_for(count, DRAWS_GRAIN, place_draws, &a));
    LD_CHECK(ld_parallel_for(h->n, ROWS_GRAIN, merge_rows, &a));
    ld_free(h->columns);
    h->columns = ld_take(&columns);
    compact(h, &a);
    return LD_OK;
}

/* --- dropping edges --------------------------------------------------------------------------- */

ld_status ld_half_dropped(uint64_t **out, int64_t n, int64_t kept, ld_stream stream)
{
    uint64_t *dropped = NULL, position = 0;
    if (n > kept && !(dropped = ld_calloc_array(n / 64 + 1, sizeof *dropped, LD_MEM_SCRATCH)))
        return LD_NOMEM;
    for (int64_t left = n - kept; left > 0;) {
        uint64_t e = ld_random_below(stream, position++, (uint64_t)n);
        uint64_t bit = (uint64_t)1 << e % 64;
        left -= !(dropped[e / 64] & bit);
        dropped[e / 64] |= bit;
    }
    *out = dropped;
    return LD_OK;
}

ld_status ld_half_thin(ld_half *h, int64_t kept, ld_stream stream)
{
    int64_t from = 0, at = 0;
    LD_FREED uint64_t *dropped = NULL;
    LD_CHECK(ld_half_dropped(&dropped, h->offsets[h->n], kept, stream));
    if (!dropped)
        return LD_OK;
    for (int64_t r = 0; r < h->n; r++) {
        int64_t end = h->offsets[r + 1];
        for (; from < end; from++)
            if (!(dropped[from / 64] >> from % 64 & 1))
                h->columns[at++] = h->columns[from];
        h->offsets[r + 1] = at;
    }
    return LD_OK;
}

/* --- the whole graph -------------------------------------------------------------------------- */

/* Asks memory for the place where a later edge is written, and for the place of a still later one
 * in `next`. */
static void ask_ahead(const int32_t *columns, const int64_t *next, const int32_t *ends, int64_t e,
                      int64_t n_edges)
{
    if (e + 2 * AHEAD >= n_edges)
        return;
    __builtin_prefetch(&next[ends[e + 2 * AHEAD]], 1);
    __builtin_prefetch(&columns[next[ends[e + AHEAD]]], 1);
}

ld_status ld_half_mirror(ld_csr **out, const ld_half *h)
{
    int64_t n = h->n, n_edges = h->offsets[n];
    LD_OWN(ld_structure) *s = NULL;
    LD_FREED int64_t *next = NULL; /* where the row's next column is written */
    LD_CHECK(ld_structure_new(&s, n, n, 2 * n_edges, false));
    if (!(next = ld_alloc_array(n, sizeof *next, LD_MEM_SCRATCH)))
        return LD_NOMEM;
    for (int64_t r = 0; r < n; r++)
        s->offsets[r + 1] = h->offsets[r + 1] - h->offsets[r];
    for (int64_t e = 0; e < n_edges; e++) {
        __builtin_prefetch(&s->offsets[h->columns[e + AHEAD < n_edges ? e + AHEAD : e] + 1], 1);
        s->offsets[h->columns[e] + 1]++;
    }
    for (int64_t r = 0; r < n; r++) {
        next[r] = s->offsets[r];
        s->offsets[r + 1] += s->offsets[r];
    }
    /* All smaller ends have been written to row r before its turn, in ascending order. */
    for (int64_t r = 0; r < n; r++) {
        int64_t begin = h->offsets[r], end = h->offsets[r + 1];
        if (r % ROWS_GRAIN == 0)
            LD_CHECK(ld_poll());
        if (end > begin)
            memcpy(s->columns + next[r], h->columns + begin,
                   (size_t)(end - begin) * sizeof(int32_t));
        for (int64_t e = begin; e < end; e++) {
            ask_ahead(s->columns, next, h->columns, e, n_edges);
            s->columns[next[h->columns[e]]++] = (int32_t)r;
        }
    }
    s->symmetric = true;
    return ld_csr_new(out, s, NULL, NULL, NULL);
}

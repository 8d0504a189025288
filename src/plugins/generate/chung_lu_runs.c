/* Makes the power-law graph in bounded memory. Its edges are drawn into runs, both ways, and
 * counted by range, each where its smaller end is the row. The edges that the last round found too
 * many are drawn by number and put into runs of their own, without which the ranges are then
 * brought together. */
#include "generate/chung_lu_runs.h"

#include "generate/half_graph.h"
#include "generate/urn.h"
#include "memory/memory.h"
#include "system/threads.h"

enum { LEAST_DRAWS = 1 << 12, MOST_DRAWS = 1 << 22 }; /* in a run */

typedef struct {
    const ld_urn *urn;
    ld_edge_runs *runs, *dropped;
    uint64_t first;
    int64_t *halves;       /* n_ranges + 1: the edges of each range, and then those before it */
    const uint64_t *which; /* a bit for each edge: those to be dropped */
    ld_loop_failure failure;
} spread;

/* --- draws ------------------------------------------------------------------------------------ */

static ld_status draw_run(const spread *s, int64_t begin, int64_t end)
{
    int64_t count = 0;
    LD_FREED int32_t *us = ld_alloc_array(end - begin, sizeof *us, LD_MEM_SCRATCH);
    LD_FREED int32_t *vs = ld_alloc_array(end - begin, sizeof *vs, LD_MEM_SCRATCH);
    if (!us || !vs)
        return LD_NOMEM;
    for (int64_t i = begin; i < end; i += LD_DRAWS) {
        int n = end - i < LD_DRAWS ? (int)(end - i) : LD_DRAWS;
        count += ld_urn_draw(s->urn, s->first + (uint64_t)i, n, us + count, vs + count);
    }
    return ld_edge_runs_put(s->runs, us, vs, count, true);
}

static void draw_runs(void *ctx, int64_t begin, int64_t end)
{
    spread *s = ctx;
    if (atomic_load(&s->failure.status) == LD_OK)
        ld_loop_note(&s->failure, draw_run(s, begin, end));
}

/* Returns how many draws a run has: a draw takes 8 bytes, and 16 in a run. */
static int64_t draws_of_run(int64_t memory)
{
    int64_t draws = memory / (24 * ld_threads());
    draws = draws < LEAST_DRAWS ? LEAST_DRAWS : draws;
    return draws < MOST_DRAWS ? draws : MOST_DRAWS;
}

/* --- edges by number -------------------------------------------------------------------------- */

static void count_ranges(void *ctx, int64_t begin, int64_t end)
{
    spread *s = ctx;
    for (int64_t k = begin; k < end && atomic_load(&s->failure.status) == LD_OK; k++) {
        ld_edge_range range;
        ld_status st = ld_edge_runs_upper(&range, s->runs, k);
        ld_loop_note(&s->failure, st);
        s->halves[k + 1] = st == LD_OK ? range.offsets[range.n_rows] : 0;
        ld_edge_range_clear(&range);
    }
}

/* Counts the edges; halves[k] becomes the number of those before range k. */
static ld_status count_edges(int64_t *found, spread *s)
{
    int64_t n = s->runs->n_ranges;
    LD_CHECK(ld_loop_result(&s->failure, ld_parallel_for(n, 1, count_ranges, s)));
    for (int64_t k = 0; k < n; k++)
        s->halves[k + 1] += s->halves[k];
    *found = s->halves[n];
    return LD_OK;
}

/* Puts the edges of a range that must go into s->dropped. */
static ld_status drop_range(const spread *s, int64_t k)
{
    LD_CLEANED(ld_edge_range_clear) ld_edge_range range = {0};
    int64_t number = s->halves[k], n = 0;
    LD_FREED int32_t *rows = NULL;
    LD_CHECK(ld_edge_runs_upper(&range, s->runs, k));
    if (!(rows = ld_alloc_array(s->halves[k + 1] - number, sizeof *rows, LD_MEM_SCRATCH)))
        return LD_NOMEM;
    for (int64_t r = 0; r < range.n_rows; r++) {
        int32_t row = (int32_t)(range.first + r);
        for (int64_t e = range.offsets[r]; e < range.offsets[r + 1]; e++, number++)
            if (s->which[number / 64] >> number % 64 & 1) {
                range.columns[n] = range.columns[e]; /* the columns before were read already */
                rows[n++] = row;
            }
    }
    return ld_edge_runs_put(s->dropped, rows, range.columns, n, true);
}

static void drop_ranges(void *ctx, int64_t begin, int64_t end)
{
    spread *s = ctx;
    for (int64_t k = begin; k < end && atomic_load(&s->failure.status) == LD_OK; k++)
        ld_loop_note(&s->failure, drop_range(s, k));
}

ld_status ld_generate_chung_lu_runs(ld_edge_runs *runs, ld_edge_runs *dropped,
                                    const ld_tensor *weights, const ld_index *labels,
                                    int64_t entries, double inside, int64_t memory, ld_rng *rng)
{
    ld_rounds rounds = {.wanted = entries / 2};
    LD_FREED uint64_t *which = NULL;
    LD_FREED int64_t *halves = NULL;
    LD_CHECK(ld_generate_check_chung_lu(weights, labels, entries, inside));
    LD_CLEANED(ld_urn_clear) ld_urn u = {.inside = inside, .stream = ld_rng_next(rng)};
    spread s = {.urn = &u, .runs = runs, .dropped = dropped};
    LD_CHECK(ld_urn_init(&u, weights, labels));
    if (!(halves = ld_calloc_array(runs->n_ranges + 1, sizeof *halves, LD_MEM_SCRATCH)))
        return LD_NOMEM;
    s.halves = halves;
    LD_CHECK(ld_rounds_next(&rounds, 0));
    while (rounds.draws > 0) {
        int64_t found;
        s.first = (uint64_t)rounds.drawn;
        LD_CHECK(ld_loop_result(
            &s.failure, ld_parallel_for(rounds.draws, draws_of_run(memory), draw_runs, &s)));
        LD_CHECK(count_edges(&found, &s));
        rounds.drawn += rounds.draws;
        LD_CHECK(ld_rounds_next(&rounds, found));
    }
    ld_stream thinning = {.key = ld_random_bits(u.stream, UINT64_MAX)};
    ld_urn_clear(&u);
    LD_CHECK(ld_half_dropped(&which, rounds.found, rounds.wanted, thinning));
    s.which = which;
    if (!which)
        return LD_OK;
    return ld_loop_result(&s.failure, ld_parallel_for(runs->n_ranges, 1, drop_ranges, &s));
}

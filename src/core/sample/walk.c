/* Random walks and the frontier sampler. Walks are independent and run in parallel. Without values
 * a step of node2vec draws a candidate uniformly and takes it with probability alpha / max(alpha);
 * after TRIES refusals, and with values always, it goes over the row. That is exact, since when to
 * stop trying depends on past draws. */
#include "sample/walk.h"

#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>

#include "base/search.h"
#include "memory/memory.h"
#include "system/threads.h"

enum { GRAIN = 64, TRIES = 64, STEP_BITS = 8 }; /* a step has 2^STEP_BITS random positions */

typedef struct {
    const ld_csr *a;
    const ld_index *roots;
    int64_t length;
    double restart, back, out; /* 1/p and 1/q */
    ld_stream stream;
    int32_t *nodes;
    _Atomic int64_t bad; /* the least row with a negative or infinite entry, or n_rows */
} walks;

/* Returns true when row v has an entry in column u. Only slices have unsorted rows. */
static bool has_entry(const ld_structure *s, int32_t v, int32_t u)
{
    int64_t low = s->offsets[v], high = s->offsets[v + 1];
    if (s->from.root) {
        while (low < high && s->columns[low] != u)
            low++;
        return low < high;
    }
    low = ld_search_int32(s->columns, low, high, u);
    return low < high && s->columns[low] == u;
}

/* Returns node2vec's alpha for a step to u, where `before` is the node before this one (-1:
 * none). */
static double alpha(const walks *w, int32_t before, int32_t u)
{
    if (before < 0)
        return 1.0;
    if (u == before)
        return w->back;
    return has_entry(w->a->s, before, u) ? 1.0 : w->out;
}

/* Returns the weight of entry e of row v for the next step, which is infinite when it is bad. */
static double weight(const walks *w, int32_t v, int64_t e, int32_t before)
{
    double x = ld_csr_value(w->a, v, e);
    return x >= 0.0 ? x * alpha(w, before, w->a->s->columns[e]) : (double)INFINITY;
}

/* Draws the next node by a look at all entries of the row; it is v where no entry is positive. */
static int32_t go_over(walks *w, int32_t v, int32_t before, uint64_t position)
{
    const ld_structure *s = w->a->s;
    double total = 0.0, sum = 0.0;
    int32_t next = v;
    for (int64_t e = s->offsets[v]; e < s->offsets[v + 1]; e++)
        total += weight(w, v, e, before);
    if (!isfinite(total)) {
        ld_note_least(&w->bad, v);
        return v;
    }
    double x = ld_random_uniform(w->stream, position) * total;
    for (int64_t e = s->offsets[v]; e < s->offsets[v + 1] && sum <= x; e++) {
        double own = weight(w, v, e, before);
        sum += own;
        if (own > 0.0)
            next = s->columns[e];
    }
    return next;
}

/* Draws the next node where all entries are equal; `before` is node2vec's node before, or -1. */
static int32_t try_uniform(walks *w, int32_t v, int32_t before, uint64_t position)
{
    const ld_structure *s = w->a->s;
    int64_t from = s->offsets[v], degree = s->offsets[v + 1] - from;
    double top = fmax(1.0, fmax(w->back, w->out));
    for (int i = 0; i < TRIES; i++) {
        uint32_t bits[4];
        ld_philox(bits, w->stream, position + 1 + (uint64_t)i);
        uint64_t first = (uint64_t)bits[1] << 32 | bits[0];
        uint64_t second = (uint64_t)bits[3] << 32 | bits[2];
        int64_t at = (int64_t)((ld_uint128)first * (uint64_t)degree >> 64);
        int32_t u = s->columns[from + at];
        if (before < 0 || (double)(second >> 11) * 0x1p-53 * top < alpha(w, before, u))
            return u;
    }
    return go_over(w, v, before, position + 1 + TRIES);
}

static void walk(walks *w, int64_t i, int32_t *nodes)
{
    const ld_structure *s = w->a->s;
    bool equal = !ld_csr_is_valued(w->a);
    bool second_order = w->back != 1.0 || w->out != 1.0;
    int32_t before = -1;
    nodes[0] = w->roots->data[i];
    for (int64_t t = 0; t < w->length; t++) {
        uint64_t position = (uint64_t)(i * w->length + t) << STEP_BITS;
        int32_t v = nodes[t], next = v;
        if (w->restart > 0.0 && ld_random_uniform(w->stream, position) < w->restart) {
            nodes[t + 1] = nodes[0];
            before = -1;
            continue;
        }
        if (s->offsets[v + 1] > s->offsets[v])
            next = equal ? try_uniform(w, v, before, position)
                         : go_over(w, v, before, position + 1 + TRIES);
        before = second_order ? v : -1;
        nodes[t + 1] = next;
    }
}

static void walk_some(void *ctx, int64_t begin, int64_t end)
{
    walks *w = ctx;
    for (int64_t i = begin; i < end; i++)
        walk(w, i, w->nodes + i * (w->length + 1));
}

static ld_status check(const char *where, const ld_csr *a, const ld_index *roots, const char *what)
{
    LD_CHECK(ld_structure_check_square(a->s, where));
    return ld_index_check(roots, 0, a->s->n_rows, what);
}

ld_status ld_random_walk(ld_index **out, const ld_csr *a, const ld_index *roots, int64_t length,
                         ld_walk_options o, ld_rng *rng)
{
    walks w = {.a = a, .roots = roots, .length = length, .restart = o.restart};
    LD_OWN(ld_index) *nodes = NULL;
    LD_CHECK(check("random_walk", a, roots, "random_walk: root"));
    if (length < 0 || (roots->size > 0 && length >= INT32_MAX / roots->size))
        return ld_fail(
            LD_VALUE,
            "random_walk: the length must be at least 0, and fewer than %d nodes in all, "
            "got %" PRId64 " walks of %" PRId64 " steps",
            INT32_MAX, roots->size, length);
    if (!(o.restart >= 0.0 && o.restart <= 1.0))
        return ld_fail(LD_VALUE, "random_walk: restart must be 0 to 1, got %g", o.restart);
    w.back = 1.0 / o.p;
    w.out = 1.0 / o.q;
    if (!(o.p > 0.0 && o.q > 0.0 && isfinite(o.p) && isfinite(o.q) && isfinite(w.back) &&
          isfinite(w.out)))
        return ld_fail(LD_VALUE,
                       "random_walk: p and q must be positive and finite, and so must 1/p and 1/q, "
                       "got %g and %g",
                       o.p, o.q);
    atomic_init(&w.bad, a->s->n_rows);
    LD_CHECK(ld_index_new(&nodes, roots->size * (length + 1)));
    w.nodes = nodes->data;
    w.stream = ld_rng_next(rng);
    LD_CHECK(ld_parallel_for(roots->size, GRAIN, walk_some, &w));
    if (w.bad < a->s->n_rows)
        return ld_fail(LD_VALUE,
                       "random_walk: row %" PRId64 " has an entry that is negative or not finite",
                       w.bad + 1);
    *out = ld_take(&nodes);
    return LD_OK;
}

/* --- the frontier ----------------------------------------------------------------------------- */

/* Adds to weight i of a Fenwick tree of n weights: sums[i] is the sum of the last (i & -i) ones up
 * to i - 1. */
static void add(int64_t *sums, int64_t n, int64_t i, int64_t change)
{
    for (i++; i <= n; i += i & -i)
        sums[i] += change;
}

/* Finds the i with (sum of the weights before i) <= x < (that sum with its own). */
static int64_t find(const int64_t *sums, int64_t n, int64_t x)
{
    int64_t i = 0, half = 1;
    while (half * 2 <= n)
        half *= 2;
    for (; half > 0; half /= 2)
        if (i + half <= n && sums[i + half] <= x) {
            i += half;
            x -= sums[i];
        }
    return i;
}

ld_status ld_frontier_walk(ld_index **out, const ld_csr *a, const ld_index *roots, int64_t steps,
                           ld_rng *rng)
{
    const int64_t *offsets = a->s->offsets;
    int64_t n = roots->size, total = 0, done_steps = 0;
    LD_FREED int64_t *sums = NULL;
    LD_OWN(ld_index) *at = NULL, *left = NULL;
    LD_CHECK(check("frontier_walk", a, roots, "frontier_walk: root"));
    if (steps < 0 || steps > INT32_MAX)
        return ld_fail(LD_VALUE, "frontier_walk: the steps must be 0 to %d, got %" PRId64,
                       INT32_MAX, steps);
    LD_CHECK(ld_index_slice(&at, roots, 0, n));
    LD_CHECK(ld_index_new(&left, steps));
    if (!(sums = ld_calloc_array(n + 1, sizeof *sums, LD_MEM_SCRATCH)))
        return LD_NOMEM;
    for (int64_t i = 0; i < n; i++) {
        int64_t degree = offsets[at->data[i] + 1] - offsets[at->data[i]];
        add(sums, n, i, degree);
        total += degree;
    }
    ld_stream stream = ld_rng_next(rng);
    for (; done_steps < steps && total > 0; done_steps++) {
        uint64_t position = 2 * (uint64_t)done_steps;
        LD_CHECK(ld_poll_at(done_steps));
        int64_t i = find(sums, n, (int64_t)ld_random_below(stream, position, (uint64_t)total));
        int32_t v = at->data[i];
        int64_t degree = offsets[v + 1] - offsets[v];
        int64_t e = (int64_t)ld_random_below(stream, position + 1, (uint64_t)degree);
        int32_t u = a->s->columns[offsets[v] + e];
        int64_t change = offsets[u + 1] - offsets[u] - degree;
        left->data[done_steps] = v;
        at->data[i] = u;
        add(sums, n, i, change);
        total += change;
    }
    return ld_index_slice(out, left, 0, done_steps);
}

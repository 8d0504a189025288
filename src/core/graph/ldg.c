/* Partitions a graph as a stream of rows, for graphs that METIS has no room for.
 *
 * Linear deterministic greedy (Stanton and Kliot, "Streaming graph partitioning for large
 * distributed graphs", KDD 2012): the nodes come in the order of their ids, and each goes to the
 * part i with the largest
 *     links(i) * (1 - size(i) / C),
 * the entries of its row that lead there times the share of the part's capacity C that is free. In
 * further passes (Nishimura and Ugander, "Restreaming graph partitioning", KDD 2013) the parts are
 * empty again, while nodes that have not come yet count where the pass before has put them.
 *
 * A pass reads the rows once, in order, and takes O(entries + nodes * parts). */
#include <inttypes.h>
#include <math.h>

#include "graph/partition.h"
#include "memory/memory.h"

enum { POLLED_WORK = 1 << 16 }; /* rows times parts between two looks at the cancel flag */

/* How much larger than the mean a part may become, as METIS allows. */
#define SLACK 1.03

static double capacity_of(int64_t nodes, int64_t k)
{
    double mean = (double)nodes / (double)k;
    return fmax(ceil(mean), floor(SLACK * mean));
}

/* The counts of a part: of all of its nodes, and of those in the set that is to be balanced. */
enum { ALL, SET, COUNTS };

typedef struct {
    int64_t k;
    double capacity[COUNTS];
    int64_t *sizes[COUNTS]; /* k each */
    int64_t *links;         /* k: entries of the present row into each part */
    unsigned char *in_set;  /* of every node, or NULL without a set */
} stream_state;

static void stream_state_clear(stream_state *st)
{
    for (int c = 0; c < COUNTS; c++)
        ld_free(st->sizes[c]);
    ld_free(st->links);
    ld_free(st->in_set);
}

static ld_status stream_state_init(stream_state *st, int64_t n, const ld_index *balanced)
{
    for (int c = 0; c < COUNTS; c++)
        if (!(st->sizes[c] = ld_calloc_array(st->k, sizeof **st->sizes, LD_MEM_SCRATCH)))
            return LD_NOMEM;
    if (!(st->links = ld_calloc_array(st->k, sizeof *st->links, LD_MEM_SCRATCH)))
        return LD_NOMEM;
    st->capacity[ALL] = capacity_of(n, st->k);
    if (!balanced || balanced->size == 0)
        return LD_OK;
    if (!(st->in_set = ld_calloc_array(n, 1, LD_MEM_SCRATCH)))
        return LD_NOMEM;
    for (int64_t i = 0; i < balanced->size; i++)
        st->in_set[balanced->data[i]] = 1;
    st->capacity[SET] = capacity_of(balanced->size, st->k);
    return LD_OK;
}

/* Returns the free share of a part's capacity, the lesser one for a node of the set. */
static double free_share(const stream_state *st, int64_t part, bool in_set)
{
    double free = 1 - (double)st->sizes[ALL][part] / st->capacity[ALL];
    return in_set ? fmin(free, 1 - (double)st->sizes[SET][part] / st->capacity[SET]) : free;
}

/* Returns the part for a node, whose links are counted: the one with the largest score and, of
 * equal ones, most free room. Those that are still equal are tried from `first` on, in a circle. */
static int64_t best_part(const stream_state *st, bool in_set, int64_t first)
{
    int64_t best = first;
    double best_score = -INFINITY, best_free = 0;
    for (int64_t j = 0; j < st->k; j++) {
        int64_t part = first + j < st->k ? first + j : first + j - st->k;
        double free = free_share(st, part, in_set), score = (double)st->links[part] * free;
        if (score > best_score || (score == best_score && free > best_free)) {
            best = part;
            best_score = score;
            best_free = free;
        }
    }
    return best;
}

/* Sends all nodes to parts once. part_of has the parts of the pass before, -1 in the first one. */
static ld_status stream(stream_state *st, int32_t *part_of, const ld_structure *s, ld_stream draws)
{
    for (int c = 0; c < COUNTS; c++)
        for (int64_t i = 0; i < st->k; i++)
            st->sizes[c][i] = 0;
    for (int64_t v = 0; v < s->n_rows; v++) {
        if (v % (POLLED_WORK / st->k + 1) == 0)
            LD_CHECK(ld_poll());
        for (int64_t i = 0; i < st->k; i++)
            st->links[i] = 0;
        for (int64_t e = s->offsets[v]; e < s->offsets[v + 1]; e++) {
            int32_t u = s->columns[e];
            if (u != v && part_of[u] >= 0)
                st->links[part_of[u]]++;
        }
        bool in_set = st->in_set && st->in_set[v];
        int64_t first = (int64_t)ld_random_below(draws, (uint64_t)v, (uint64_t)st->k);
        int64_t part = best_part(st, in_set, first);
        part_of[v] = (int32_t)part;
        st->sizes[ALL][part]++;
        st->sizes[SET][part] += in_set;
    }
    return LD_OK;
}

ld_status ld_csr_ldg(ld_index **out, const ld_csr *a, int64_t k, int64_t passes,
                     const ld_index *balanced, ld_rng *rng)
{
    int64_t n = a->s->n_rows;
    LD_OWN(ld_index) *part_of = NULL;
    LD_CLEANED(stream_state_clear) stream_state st = {.k = k};
    LD_CHECK(ld_structure_check_square(a->s, "ldg"));
    if (k < 1 || k > INT32_MAX || passes < 1)
        return ld_fail(LD_VALUE,
                       "ldg: the parts must be 1 to %d and the passes at least 1, got %" PRId64
                       " and %" PRId64,
                       INT32_MAX, k, passes);
    if (balanced)
        LD_CHECK(ld_index_check(balanced, 0, n, "ldg: balanced"));
    LD_CHECK(ld_index_new(&part_of, n));
    for (int64_t v = 0; v < n; v++)
        part_of->data[v] = k >= n ? (int32_t)v : -1;
    if (k < n)
        LD_CHECK(stream_state_init(&st, n, balanced));
    for (int64_t pass = 0; k < n && pass < passes; pass++)
        LD_CHECK(stream(&st, part_of->data, a->s, ld_rng_next(rng)));
    *out = ld_take(&part_of);
    return LD_OK;
}

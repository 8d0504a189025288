/* Partitions graphs by METIS, into whose form a graph is copied: symmetric and without loops. */
#include "graph/partition.h"

#include <inttypes.h>
#include <math.h>

#include "memory/memory.h"

ld_status ld_csr_cut(int64_t *cut, const ld_csr *a, const ld_index *part_of)
{
    const ld_structure *s = a->s;
    if (s->n_rows != s->n_cols || part_of->size != s->n_rows)
        return ld_fail(LD_SHAPE,
                       "cut: the parts of %" PRId64 " nodes for a %" PRId64 " x %" PRId64 " matrix",
                       part_of->size, s->n_rows, s->n_cols);
    *cut = 0;
    for (int64_t r = 0; r < s->n_rows; r++)
        for (int64_t e = s->offsets[r]; e < s->offsets[r + 1]; e++)
            *cut += part_of->data[r] != part_of->data[s->columns[e]];
    return LD_OK;
}

#ifdef LADIES_HAVE_METIS

#include <metis.h>
#include <pthread.h>

/* A lock around METIS, which draws from rand(), that all threads share. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The largest weight of an edge: METIS takes integers. It is less where their sum could pass
 * 2^31. */
enum { STEPS = 1000 };

/* How much larger than the mean a part may become where a set of nodes is to be balanced, in
 * thousandths; METIS itself allows 30. */
enum { EVEN = 5 };

typedef struct {
    idx_t n, *offsets, *columns, *weights; /* weights: NULL when all are equal */
    idx_t *counts; /* two for each node: 1, and whether it is of the set; NULL without a set */
} metis_graph;

static void metis_graph_clear(metis_graph *g)
{
    ld_free(g->offsets);
    ld_free(g->columns);
    ld_free(g->weights);
    ld_free(g->counts);
}

bool ld_have_metis(void)
{
    return true;
}

/* Cuts the nodes in the order of their ids into k runs that differ by at most one in length. */
static ld_status cut_evenly(ld_index **part_of, int64_t n, int64_t k)
{
    ld_status st = ld_index_new(part_of, n);
    for (int64_t v = 0; st == LD_OK && v < n; v++)
        (*part_of)->data[v] = (int32_t)(k >= n ? v : v * k / n);
    return st;
}

/* Checks the width of METIS's integers. The library may have been built with another one than its
 * header says, and would then read past our arrays. Setting the options shows it: they become -1,
 * all bits set. */
static ld_status check_width(void)
{
    int64_t options[METIS_NOPTIONS] = {0};
    METIS_SetDefaultOptions((idx_t *)options);
    const unsigned char *bytes = (const unsigned char *)options;
    size_t set = 0;
    while (set < sizeof options && bytes[set] == 0xff)
        set++;
    if (set != METIS_NOPTIONS * sizeof(idx_t))
        return ld_fail(LD_STATE, "partition: METIS has integers of %zu bits, its header says %zu",
                       8 * set / METIS_NOPTIONS, 8 * sizeof(idx_t));
    return LD_OK;
}

/* Sets *scale to the number by which an entry's absolute value is multiplied to be its weight. */
static ld_status weight_scale(double *scale, const ld_csr *a)
{
    double largest = 0;
    for (int64_t r = 0; r < a->s->n_rows; r++)
        for (int64_t e = a->s->offsets[r]; e < a->s->offsets[r + 1]; e++) {
            double w = fabs((double)ld_csr_value(a, r, e));
            if (!isfinite(w))
                return ld_fail(LD_VALUE,
                               "partition: entry (%" PRId64 ", %" PRId32 ") is not finite", r + 1,
                               a->s->columns[e] + 1);
            largest = w > largest ? w : largest;
        }
    double steps = fmin(STEPS, floor(INT32_MAX / fmax(1, (double)a->s->nnz)));
    *scale = largest > 0 ? steps / largest : 0;
    return LD_OK;
}

/* Copies the entries of a, which is symmetric, but those on the diagonal. Weights are copied, too,
 * unless g->weights is NULL. */
static ld_status fill(metis_graph *g, const ld_csr *a)
{
    double scale = 0;
    ld_status st = g->weights ? weight_scale(&scale, a) : LD_OK;
    idx_t n = 0;
    g->offsets[0] = 0;
    for (int64_t r = 0; st == LD_OK && r < a->s->n_rows; r++) {
        for (int64_t e = a->s->offsets[r]; e < a->s->offsets[r + 1]; e++) {
            if (a->s->columns[e] == r)
                continue;
            if (g->weights)
                g->weights[n] = (idx_t)fmax(1, round(fabs((double)ld_csr_value(a, r, e)) * scale));
            g->columns[n++] = a->s->columns[e];
        }
        g->offsets[r + 1] = n;
    }
    return st;
}

static ld_status call_metis(ld_index *part_of, const metis_graph *g, idx_t k, idx_t *part,
                            idx_t seed)
{
    idx_t options[METIS_NOPTIONS], n = g->n, constraints = g->counts ? 2 : 1, cut;
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = seed;
    if (g->counts)
        options[METIS_OPTION_UFACTOR] = EVEN;
    pthread_mutex_lock(&lock);
    int result = METIS_PartGraphKway(&n, &constraints, g->offsets, g->columns, g->counts, NULL,
                                     g->weights, &k, NULL, NULL, options, &cut, part);
    pthread_mutex_unlock(&lock);
    if (result == METIS_ERROR_MEMORY)
        return ld_fail(LD_NOMEM,
                       "out of memory: METIS, for %" PRId64 " nodes and %" PRId64 " entries",
                       (int64_t)n, (int64_t)g->offsets[n]);
    if (result == METIS_ERROR) /* of its initial partition it does not say why */
        return ld_fail(LD_NOMEM,
                       "out of memory, most likely: METIS failed (%d) for %" PRId64
                       " nodes and %" PRId64 " entries",
                       result, (int64_t)n, (int64_t)g->offsets[n]);
    if (result != METIS_OK)
        return ld_fail(LD_STATE, "partition: METIS failed (%d)", result);
    for (int64_t v = 0; v < n; v++)
        part_of->data[v] = (int32_t)part[v];
    return LD_OK;
}

/* Sets g->counts for a set of nodes, unless the k parts have fewer than two of them on average:
 * METIS then makes parts without nodes, and prints complaints about them. */
static ld_status count_set(metis_graph *g, const ld_index *set, int64_t k)
{
    LD_CHECK(ld_index_check(set, 0, g->n, "partition: balanced"));
    if (set->size < 2 * k)
        return LD_OK;
    if (!(g->counts = ld_calloc_array(2 * (int64_t)g->n, sizeof *g->counts, LD_MEM_SCRATCH)))
        return LD_NOMEM;
    for (idx_t v = 0; v < g->n; v++)
        g->counts[2 * v] = 1;
    for (int64_t i = 0; i < set->size; i++)
        g->counts[2 * (int64_t)set->data[i] + 1] = 1;
    return LD_OK;
}

ld_status ld_csr_metis(ld_index **out, ld_csr *a, int64_t k, bool weighted,
                       const ld_index *balanced, ld_rng *rng)
{
    int64_t n = a->s->n_rows;
    LD_OWN(ld_csr) *both = NULL;
    LD_OWN(ld_index) *part_of = NULL;
    LD_CLEANED(metis_graph_clear) metis_graph g = {.n = (idx_t)n};
    LD_FREED idx_t *part = NULL;
    if (k < 1)
        return ld_fail(LD_VALUE, "partition: the number of parts must be positive, got %" PRId64,
                       k);
    idx_t seed = (idx_t)(ld_random_bits(ld_rng_next(rng), 0) >> 33);
    LD_CHECK(check_width());
    LD_CHECK(ld_csr_symmetrize(&both, a));
    LD_CHECK(ld_structure_check_positions(both->s, "partition"));
    if (k == 1 || k >= n || both->s->nnz == ld_csr_loops(both)) /* METIS divides by log k */
        return cut_evenly(out, n, k);
    if (!(g.offsets = ld_alloc_array(n + 1, sizeof *g.offsets, LD_MEM_SCRATCH)) ||
        !(g.columns = ld_alloc_array(both->s->nnz, sizeof *g.columns, LD_MEM_SCRATCH)) ||
        !(part = ld_calloc_array(n, sizeof *part, LD_MEM_SCRATCH)) ||
        (weighted &&
         !(g.weights = ld_alloc_array(both->s->nnz, sizeof *g.weights, LD_MEM_SCRATCH))))
        return LD_NOMEM;
    if (balanced)
        LD_CHECK(count_set(&g, balanced, k));
    LD_CHECK(fill(&g, both));
    ld_csr_unref(ld_take(&both)); /* METIS needs the room */
    LD_CHECK(ld_index_new(&part_of, n));
    LD_CHECK(ld_poll());
    LD_CHECK(call_metis(part_of, &g, (idx_t)k, part, seed));
    LD_CHECK(ld_poll());
    *out = ld_take(&part_of);
    return LD_OK;
}

#else

bool ld_have_metis(void)
{
    return false;
}

ld_status ld_csr_metis(ld_index **out, ld_csr *a, int64_t k, bool weighted,
                       const ld_index *balanced, ld_rng *rng)
{
    (void)out, (void)a, (void)k, (void)weighted, (void)balanced, (void)rng;
    return ld_fail(LD_STATE, "partition: this program was built without METIS (Debian's "
                             "libmetis-dev); by = \"ldg\" or \"random\" does without");
}

#endif

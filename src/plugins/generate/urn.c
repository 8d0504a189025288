/* Draws edges: their ends in proportion to weights, within a class or among all nodes.
 *
 * Large urns do not fit a cache, and a draw reads four places of one, each of which depends on the
 * one before. So a group of draws reads the first place of each, then the second, and memory is
 * asked for the next before the last is used. */
#include "generate/urn.h"

#include <inttypes.h>
#include <math.h>

#include "memory/memory.h"

enum { MOST_DRAWS = 40 }; /* for each edge wanted, before a graph is given up */

/* --- nodes by class --------------------------------------------------------------------------- */

void ld_classes_clear(ld_classes *c)
{
    ld_free(c->starts);
    ld_free(c->nodes);
    *c = (ld_classes){0};
}

ld_status ld_classes_init(ld_classes *c, const ld_index *labels)
{
    LD_CHECK(ld_index_check(labels, 0, INT32_MAX, "generate: label"));
    for (int64_t i = 0; i < labels->size; i++)
        if (labels->data[i] >= c->n_classes)
            c->n_classes = labels->data[i] + 1;
    if (!(c->starts = ld_calloc_array(c->n_classes + 2, sizeof *c->starts, LD_MEM_SCRATCH)) ||
        !(c->nodes = ld_alloc_array(labels->size, sizeof *c->nodes, LD_MEM_SCRATCH)))
        return LD_NOMEM;
    /* One place further on than usual: writing a class's nodes moves its start to where it
     * belongs. */
    for (int64_t i = 0; i < labels->size; i++)
        c->starts[labels->data[i] + 2]++;
    for (int64_t k = 0; k < c->n_classes; k++)
        c->starts[k + 2] += c->starts[k + 1];
    for (int64_t i = 0; i < labels->size; i++)
        c->nodes[c->starts[labels->data[i] + 1]++] = (int32_t)i;
    return LD_OK;
}

/* --- nodes by weight -------------------------------------------------------------------------- */

void ld_urn_clear(ld_urn *u)
{
    ld_classes_clear(&u->classes);
    ld_free(u->places);
    ld_free(u->guide);
    u->places = NULL;
    u->guide = NULL;
}

static void make_guide(ld_urn *u)
{
    int64_t n = u->n;
    u->parts = (double)n / u->places[n].mass;
    for (int64_t part = 0, i = 0; part <= n; part++) {
        while (i < n - 1 && u->places[i + 1].mass * u->parts <= (double)part)
            i++;
        u->guide[part] = (int32_t)i;
    }
}

ld_status ld_urn_init(ld_urn *u, const ld_tensor *weights, const ld_index *labels)
{
    int64_t n = u->n = labels->size;
    LD_CHECK(ld_classes_init(&u->classes, labels));
    if (!(u->places = ld_alloc_array(n + 1, sizeof *u->places, LD_MEM_SCRATCH)) ||
        !(u->guide = ld_alloc_array(n + 1, sizeof *u->guide, LD_MEM_SCRATCH)))
        return LD_NOMEM;
    double mass = 0;
    for (int64_t i = 0; i < n; i++) {
        int32_t node = u->classes.nodes[i];
        double w = weights->data[node];
        if (!(w > 0) || isinf(w))
            return ld_fail(LD_VALUE,
                           "chung_lu: weights must be positive and finite, the one of node %" PRId64
                           " is %g",
                           (int64_t)node + 1, w);
        u->places[i] = (ld_place){mass, node, labels->data[node]};
        mass += w;
    }
    u->places[n] = (ld_place){.mass = mass};
    make_guide(u);
    return LD_OK;
}

/* --- draws ------------------------------------------------------------------------------------ */

/* Asks memory for the places of n masses: the first two steps of finding them. */
static void look_up(const ld_urn *u, int64_t *at, const double *mass, int n)
{
    for (int i = 0; i < n; i++) {
        at[i] = (int64_t)(mass[i] * u->parts);
        __builtin_prefetch(&u->guide[at[i]]);
    }
    for (int i = 0; i < n; i++) {
        at[i] = u->guide[at[i]];
        __builtin_prefetch(&u->places[at[i]]);
    }
}

/* Returns the place of the node that `mass` falls on, a number below the total weight: the last
 * place whose mass, the weight of all before it, is not above. i is where the search begins. */
static const ld_place *find(const ld_urn *u, int64_t i, double mass)
{
    while (i > 0 && u->places[i].mass > mass) /* only where rounding put the part before its node */
        i--;
    while (i < u->n - 1 && u->places[i + 1].mass <= mass)
        i++;
    return &u->places[i];
}

/* Makes draws, each of 128 random bits: 48 for each end and 32 for the choice of class. */
int ld_urn_draw(const ld_urn *u, uint64_t first, int n, int32_t *ends, int32_t *others)
{
    double mass[LD_DRAWS] = {0}, second[LD_DRAWS], choice[LD_DRAWS], total = u->places[u->n].mass;
    int64_t at[LD_DRAWS];
    int found = 0;
    for (int i = 0; i < n; i++) {
        uint32_t r[4];
        ld_philox(r, u->stream, first + (uint64_t)i);
        mass[i] = (double)((uint64_t)r[0] << 16 | r[2] >> 16) * 0x1p-48 * total;
        second[i] = (double)((uint64_t)r[1] << 16 | (r[2] & 0xffff)) * 0x1p-48;
        choice[i] = (double)r[3] * 0x1p-32;
    }
    look_up(u, at, mass, n);
    for (int i = 0; i < n; i++) {
        const ld_place *place = find(u, at[i], mass[i]);
        double low = 0, high = total;
        if (choice[i] < u->inside) {
            const int64_t *start = &u->classes.starts[place->label];
            low = u->places[start[0]].mass;
            high = u->places[start[1]].mass;
        }
        ends[i] = place->node;
        mass[i] = low + second[i] * (high - low);
    }
    look_up(u, at, mass, n);
    for (int i = 0; i < n; i++) {
        int32_t other = find(u, at[i], mass[i])->node, end = ends[i];
        ends[found] = end;
        others[found] = other;
        found += end != other;
    }
    return found;
}

/* --- rounds ----------------------------------------------------------------------------------- */

/* Returns how many draws should bring the graph from `found` to `wanted` edges, when the last
 * `draws` found `fresh` new ones. The next find fewer, hence the excess; but never more than the
 * edges wanted, for the memory that the header promises. */
static int64_t draws_for(int64_t wanted, int64_t found, int64_t draws, int64_t fresh)
{
    double yield = draws > 0 ? fmax((double)fresh / (double)draws, 0.01) : 1.0;
    double next = (double)(wanted - found) / yield * 1.25 + 64;
    return next < (double)wanted + 64 ? (int64_t)next : wanted + 64;
}

ld_status ld_rounds_next(ld_rounds *r, int64_t found)
{
    int64_t fresh = found - r->found;
    r->found = found;
    if (found >= r->wanted) {
        r->draws = 0;
        return LD_OK;
    }
    if (r->drawn > MOST_DRAWS * (r->wanted + 64))
        return ld_fail(LD_VALUE,
                       "chung_lu: only %" PRId64 " of %" PRId64 " edges found in %" PRId64
                       " draws; the graph needs more nodes, fewer entries or a smaller inside",
                       found, r->wanted, r->drawn);
    r->draws = draws_for(r->wanted, found, r->draws, fresh);
    return LD_OK;
}

/* The edges of generated graphs. */
#include "generate/generate.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "generate/half.h"

enum {
    ROWS_GRAIN = 1 << 10,
    MOST_DRAWS = 40, /* draws for each edge wanted, before a graph is given up */
};

/* --- nodes by class --------------------------------------------------------------------------- */

/* The nodes class by class, ascending in each. */
typedef struct {
    int64_t n_classes;
    int64_t *starts; /* n_classes + 1 */
    int32_t *nodes;
} classes;

static void classes_clear(classes *c)
{
    ld_free(c->starts);
    ld_free(c->nodes);
}

static ld_status classes_init(classes *c, const ld_index *labels)
{
    ld_status st = ld_index_check(labels, 0, INT32_MAX, "generate: label");
    if (st != LD_OK)
        return st;
    for (int64_t i = 0; i < labels->size; i++)
        if (labels->data[i] >= c->n_classes)
            c->n_classes = labels->data[i] + 1;
    if (!(c->starts = ld_calloc_array(c->n_classes + 2, sizeof *c->starts, LD_MEM_SCRATCH)) ||
        !(c->nodes = ld_alloc_array(labels->size, sizeof *c->nodes, LD_MEM_SCRATCH)))
        return LD_NOMEM;
    /* One place further on than usual: writing a class's nodes moves its start to where it belongs. */
    for (int64_t i = 0; i < labels->size; i++)
        c->starts[labels->data[i] + 2]++;
    for (int64_t k = 0; k < c->n_classes; k++)
        c->starts[k + 2] += c->starts[k + 1];
    for (int64_t i = 0; i < labels->size; i++)
        c->nodes[c->starts[labels->data[i] + 1]++] = (int32_t)i;
    return LD_OK;
}

/* --- power law -------------------------------------------------------------------------------- */

/* Draws nodes in proportion to their weights from a class, which is a run of `nodes`, or from all
 * nodes. `guide` cuts the total weight into as many equal parts as there are nodes and tells for
 * each the node where it begins; so finding the node of a given mass takes O(1) on average (Chen
 * and Asau 1974). */
typedef struct {
    int64_t n;
    classes classes;
    const int32_t *labels;
    double *mass;   /* n + 1: the weight of the nodes before each place */
    int32_t *guide; /* n + 1: the place of each part */
    double parts;   /* n / total weight */
    double inside;
    ld_stream stream;
} urn;

static void urn_clear(urn *u)
{
    classes_clear(&u->classes);
    ld_free(u->mass);
    ld_free(u->guide);
}

static ld_status urn_init(urn *u, const ld_tensor *weights, const ld_index *labels)
{
    int64_t n = u->n;
    ld_status st = classes_init(&u->classes, labels);
    if (st != LD_OK)
        return st;
    if (!(u->mass = ld_alloc_array(n + 1, sizeof *u->mass, LD_MEM_SCRATCH)) ||
        !(u->guide = ld_alloc_array(n + 1, sizeof *u->guide, LD_MEM_SCRATCH)))
        return LD_NOMEM;
    u->mass[0] = 0;
    for (int64_t i = 0; i < n; i++) {
        double w = weights->data[u->classes.nodes[i]];
        if (!(w > 0) || isinf(w))
            return ld_fail(LD_VALUE,
                           "chung_lu: weights must be positive and finite, the one of node %" PRId64
                           " is %g",
                           (int64_t)u->classes.nodes[i] + 1, w);
        u->mass[i + 1] = u->mass[i] + w;
    }
    u->parts = (double)n / u->mass[n];
    for (int64_t part = 0, i = 0; part <= n; part++) {
        while (i < n - 1 && u->mass[i + 1] * u->parts <= (double)part)
            i++;
        u->guide[part] = (int32_t)i;
    }
    return LD_OK;
}

/* The node whose run of the total weight holds `mass`. */
static int32_t urn_find(const urn *u, double mass)
{
    int64_t i = u->guide[(int64_t)(mass * u->parts)];
    while (i > 0 && u->mass[i] > mass) /* only where rounding put the part before its node */
        i--;
    while (i < u->n - 1 && u->mass[i + 1] <= mass)
        i++;
    return u->classes.nodes[i];
}

/* An ld_draw_fn. 128 random bits: 48 for each end and 32 for the choice of class. */
static bool draw_edge(const void *ctx, uint64_t number, int32_t *first, int32_t *second)
{
    const urn *u = ctx;
    uint32_t r[4];
    ld_philox(r, u->stream, number);
    double x = (double)((uint64_t)r[0] << 16 | r[2] >> 16) * 0x1p-48;
    double y = (double)((uint64_t)r[1] << 16 | (r[2] & 0xffff)) * 0x1p-48;
    *first = urn_find(u, x * u->mass[u->n]);
    double low = 0, high = u->mass[u->n];
    if ((double)r[3] * 0x1p-32 < u->inside) {
        const int64_t *start = &u->classes.starts[u->labels[*first]];
        low = u->mass[start[0]];
        high = u->mass[start[1]];
    }
    *second = urn_find(u, low + y * (high - low));
    return *first != *second;
}

/* How many draws should bring the graph from `found` to `wanted` edges, when the last `draws` found
 * `fresh` new ones. The next find fewer, hence the excess; never more than the edges wanted, for the
 * memory that the header promises. */
static int64_t draws_for(int64_t wanted, int64_t found, int64_t draws, int64_t fresh)
{
    double yield = draws > 0 ? fmax((double)fresh / (double)draws, 0.01) : 1.0;
    double next = (double)(wanted - found) / yield * 1.25 + 64;
    return next < (double)wanted + 64 ? (int64_t)next : wanted + 64;
}

static ld_status check_chung_lu(const ld_tensor *weights, const ld_index *labels, int64_t entries,
                                double inside)
{
    int64_t n = labels->size;
    if (weights->ndim != 1 || weights->n_rows != n)
        return ld_fail(LD_SHAPE, "chung_lu: weights of %s for %" PRId64 " labels",
                       ld_tensor_shape(weights), n);
    if (!(inside >= 0 && inside <= 1))
        return ld_fail(LD_VALUE, "chung_lu: inside must be in [0, 1], got %g", inside);
    if (entries < 0 || entries % 2 != 0)
        return ld_fail(LD_VALUE, "chung_lu: entries must be even, two for each edge, got %" PRId64,
                       entries);
    if (entries > n * (n - 1))
        return ld_fail(LD_VALUE,
                       "chung_lu: a graph of %" PRId64 " nodes has at most %" PRId64
                       " entries, got %" PRId64,
                       n, n * (n - 1), entries);
    return LD_OK;
}

ld_status ld_generate_chung_lu(ld_csr **out, const ld_tensor *weights, const ld_index *labels,
                               int64_t entries, double inside, ld_rng *rng)
{
    int64_t n = labels->size, wanted = entries / 2;
    ld_half half = {0};
    ld_status st = check_chung_lu(weights, labels, entries, inside);
    if (st != LD_OK)
        return st;
    urn u = {.n = n, .labels = labels->data, .inside = inside, .stream = ld_rng_next(rng)};
    LD_TRY(ld_half_init(&half, n));
    LD_TRY(urn_init(&u, weights, labels));
    int64_t drawn = 0, draws = 0, fresh = 0;
    while (half.offsets[n] < wanted) {
        int64_t found = half.offsets[n];
        if (drawn > MOST_DRAWS * (wanted + 64)) {
            st = ld_fail(LD_VALUE,
                         "chung_lu: only %" PRId64 " of %" PRId64 " edges found in %" PRId64
                         " draws; the graph needs more nodes, fewer entries or a smaller inside",
                         found, wanted, drawn);
            goto done;
        }
        draws = draws_for(wanted, found, draws, fresh);
        LD_TRY(ld_half_add(&half, draw_edge, &u, (uint64_t)drawn, draws));
        drawn += draws;
        fresh = half.offsets[n] - found;
    }
    ld_stream thinning = {.key = ld_random_bits(u.stream, UINT64_MAX)};
    LD_TRY(ld_half_thin(&half, wanted, thinning));
    urn_clear(&u);
    u = (urn){0};
    LD_TRY(ld_half_mirror(out, &half));
done:
    urn_clear(&u);
    ld_half_clear(&half);
    return st;
}

/* --- block model ------------------------------------------------------------------------------ */

typedef struct {
    classes classes;
    const int32_t *labels;
    const ld_tensor *p;
    ld_stream stream;
    ld_half *half; /* without columns: the rows are only counted */
} blocks;

/* The first place in begin .. end-1 of the ascending `nodes` whose node is greater than u. */
static int64_t first_above(const int32_t *nodes, int64_t begin, int64_t end, int32_t u)
{
    while (begin < end) {
        int64_t middle = begin + (end - begin) / 2;
        if (nodes[middle] > u)
            end = middle;
        else
            begin = middle + 1;
    }
    return begin;
}

/* The edges from u to greater nodes: their number, and to `columns` (when not NULL) the nodes. The
 * gap from one edge to the next of a class is geometric, so pairs without an edge cost nothing
 * (Batagelj and Brandes 2005). */
static int64_t draw_row(const blocks *b, int32_t u, int32_t *columns)
{
    ld_stream stream = {.key = ld_random_bits(b->stream, (uint64_t)u)};
    uint64_t position = 0;
    int64_t n = 0;
    for (int64_t k = 0; k < b->classes.n_classes; k++) {
        int64_t end = b->classes.starts[k + 1];
        int64_t i = first_above(b->classes.nodes, b->classes.starts[k], end, u);
        double p = b->p->data[b->labels[u] * b->p->n_cols + k];
        if (p == 0)
            continue;
        for (;; i++) {
            double gap = p < 1 ? log(ld_random_uniform(stream, position++)) / log1p(-p) : 0;
            if (gap >= (double)(end - i))
                break;
            i += (int64_t)gap;
            if (columns)
                columns[n] = b->classes.nodes[i];
            n++;
        }
    }
    return n;
}

static void draw_rows(void *ctx, int64_t begin, int64_t end)
{
    blocks *b = ctx;
    for (int64_t r = begin; r < end; r++) {
        if (b->half->columns)
            draw_row(b, (int32_t)r, b->half->columns + b->half->offsets[r]);
        else
            b->half->offsets[r + 1] = draw_row(b, (int32_t)r, NULL);
    }
}

static ld_status check_blocks(const ld_tensor *p, int64_t n_classes)
{
    if (p->ndim != 2 || p->n_rows != p->n_cols || p->n_rows < n_classes)
        return ld_fail(LD_SHAPE,
                       "blocks: a square matrix of probabilities for %" PRId64
                       " classes expected, got %s",
                       n_classes, ld_tensor_shape(p));
    for (int64_t i = 0; i < p->n_rows; i++) {
        for (int64_t j = 0; j < p->n_cols; j++) {
            double x = p->data[i * p->n_cols + j], y = p->data[j * p->n_cols + i];
            if (!(x >= 0 && x <= 1) || x != y)
                return ld_fail(LD_VALUE,
                               "blocks: probabilities must be in [0, 1] and the same both ways;"
                               " [%" PRId64 ", %" PRId64 "] is %g, [%" PRId64 ", %" PRId64 "] %g",
                               i + 1, j + 1, x, j + 1, i + 1, y);
        }
    }
    return LD_OK;
}

ld_status ld_generate_blocks(ld_csr **out, const ld_index *labels, const ld_tensor *p, ld_rng *rng)
{
    int64_t n = labels->size;
    ld_half half = {0};
    blocks b = {.labels = labels->data, .p = p, .stream = ld_rng_next(rng), .half = &half};
    ld_status st;
    LD_TRY(classes_init(&b.classes, labels));
    LD_TRY(check_blocks(p, b.classes.n_classes));
    LD_TRY(ld_half_init(&half, n));
    LD_TRY(ld_parallel_for(n, ROWS_GRAIN, draw_rows, &b));
    for (int64_t r = 0; r < n; r++)
        half.offsets[r + 1] += half.offsets[r];
    st = LD_NOMEM;
    if (!(half.columns = ld_alloc_array(half.offsets[n], sizeof *half.columns, LD_MEM_SCRATCH)))
        goto done;
    LD_TRY(ld_parallel_for(n, ROWS_GRAIN, draw_rows, &b));
    LD_TRY(ld_half_sort(&half));
    LD_TRY(ld_half_mirror(out, &half));
done:
    classes_clear(&b.classes);
    ld_half_clear(&half);
    return st;
}

/* Makes graphs of two kinds: with degrees of a power law, and of blocks of nodes. */
#include "generate/generate.h"

#include <inttypes.h>
#include <math.h>

#include "base/search.h"
#include "generate/half_graph.h"
#include "generate/urn.h"
#include "memory/memory.h"
#include "system/threads.h"

enum { ROWS_GRAIN = 1 << 10 };

/* --- power law -------------------------------------------------------------------------------- */

ld_status ld_generate_check_chung_lu(const ld_tensor *weights, const ld_index *labels,
                                     int64_t entries, double inside)
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
    int64_t n = labels->size;
    LD_CLEANED(ld_half_clear) ld_half half = {0};
    ld_rounds rounds = {.wanted = entries / 2};
    LD_CHECK(ld_generate_check_chung_lu(weights, labels, entries, inside));
    LD_CLEANED(ld_urn_clear) ld_urn u = {.inside = inside, .stream = ld_rng_next(rng)};
    LD_CHECK(ld_half_init(&half, n));
    LD_CHECK(ld_urn_init(&u, weights, labels));
    LD_CHECK(ld_rounds_next(&rounds, 0));
    while (rounds.draws > 0) {
        LD_CHECK(ld_half_add(&half, &u, (uint64_t)rounds.drawn, rounds.draws));
        rounds.drawn += rounds.draws;
        LD_CHECK(ld_rounds_next(&rounds, half.offsets[n]));
    }
    ld_stream thinning = {.key = ld_random_bits(u.stream, UINT64_MAX)};
    LD_CHECK(ld_half_thin(&half, rounds.wanted, thinning));
    ld_urn_clear(&u);
    return ld_half_mirror(out, &half);
}

/* --- block model ------------------------------------------------------------------------------ */

typedef struct {
    ld_classes classes;
    const int32_t *labels;
    const ld_tensor *p;
    ld_stream stream;
    ld_half *half; /* without columns: the rows are only counted */
} blocks;

static void blocks_clear(blocks *b)
{
    ld_classes_clear(&b->classes);
}

/* Draws the edges from u to greater nodes: returns their number, and writes these nodes to
 * `columns` unless it is NULL. The gap from one edge to the next of a class is geometric, so pairs
 * without an edge cost nothing (Batagelj and Brandes 2005). */
static int64_t draw_row(const blocks *b, int32_t u, int32_t *columns)
{
    ld_stream stream = {.key = ld_random_bits(b->stream, (uint64_t)u)};
    uint64_t position = 0;
    int64_t n = 0;
    for (int64_t k = 0; k < b->classes.n_classes; k++) {
        int64_t end = b->classes.starts[k + 1];
        int64_t i = ld_search_int32(b->classes.nodes, b->classes.starts[k], end, (int64_t)u + 1);
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
    LD_CLEANED(ld_half_clear) ld_half half = {0};
    LD_CLEANED(blocks_clear)
    blocks b = {.labels = labels->data, .p = p, .stream = ld_rng_next(rng), .half = &half};
    LD_CHECK(ld_classes_init(&b.classes, labels));
    LD_CHECK(check_blocks(p, b.classes.n_classes));
    LD_CHECK(ld_half_init(&half, n));
    LD_CHECK(ld_parallel_for(n, ROWS_GRAIN, draw_rows, &b));
    for (int64_t r = 0; r < n; r++)
        half.offsets[r + 1] += half.offsets[r];
    if (!(half.columns = ld_alloc_array(half.offsets[n], sizeof *half.columns, LD_MEM_SCRATCH)))
        return LD_NOMEM;
    LD_CHECK(ld_parallel_for(n, ROWS_GRAIN, draw_rows, &b));
    LD_CHECK(ld_half_sort(&half));
    return ld_half_mirror(out, &half);
}

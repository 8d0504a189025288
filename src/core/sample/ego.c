/* Makes ego graphs one after the other, and notes their nodes and entries as they are found. The
 * place of a node in the union is known at once, since the seeds come first; the place of its row
 * only when all rows are known. */
#include "sample/ego.h"

#include <inttypes.h>

#include "graph/marker.h"
#include "kernel/row_draw.h"
#include "memory/memory.h"

/* A list that grows. */
typedef struct {
    int32_t *data;
    int64_t size, room;
} list;

typedef struct {
    ld_csr *a;
    const ld_index *seeds;
    int64_t k;
    ld_marker *marks;           /* the nodes of the ego graph in hand, with their places */
    list nodes, places, counts; /* of all graphs: ids, places in the union, lengths of rows */
    list at, to;                /* for each entry: position in a's row, column in the union */
    ld_row_draw *draws;         /* k */
    uint64_t *words;            /* a bit for each entry of a row */
    int64_t n_words;
} egos;

static void egos_clear(egos *q)
{
    ld_marker_put(q->marks);
    ld_free(q->nodes.data);
    ld_free(q->places.data);
    ld_free(q->counts.data);
    ld_free(q->at.data);
    ld_free(q->to.data);
    ld_free(q->draws);
    ld_free(q->words);
}

static ld_status push(list *l, int64_t x)
{
    LD_CHECK(ld_reserve(&l->data, &l->room, l->size, 1, sizeof *l->data, LD_MEM_SCRATCH));
    l->data[l->size++] = (int32_t)x;
    return LD_OK;
}

/* --- nodes ------------------------------------------------------------------------------------ */

static ld_status add_node(egos *q, int32_t u, int64_t place)
{
    ld_marker_set(q->marks, u, (int32_t)place);
    LD_CHECK(push(&q->places, place));
    return push(&q->nodes, u);
}

/* Adds u to ego graph i, unless it is there. Its place in the union is behind all seeds and behind
 * all nodes found so far that are no seeds. */
static ld_status find(egos *q, int64_t i, int32_t u)
{
    if (ld_marker_get(q->marks, u) >= 0)
        return LD_OK;
    return add_node(q, u, q->seeds->size + q->nodes.size - (i + 1));
}

/* Makes room for k < d draws from a row of d entries. */
static ld_status make_room(egos *q, int64_t d)
{
    int64_t n = (d + 63) / 64;
    if (!q->draws && !(q->draws = ld_alloc_array(q->k, sizeof *q->draws, LD_MEM_SCRATCH)))
        return LD_NOMEM;
    if (n <= q->n_words)
        return LD_OK;
    ld_free(q->words);
    q->n_words = 2 * n;
    q->words = ld_alloc_array(q->n_words, sizeof *q->words, LD_MEM_SCRATCH);
    return q->words ? LD_OK : LD_NOMEM;
}

/* Draws from the row of v, and adds the nodes that are new to ego graph i. */
static ld_status follow(egos *q, int64_t i, int32_t v, ld_stream stream)
{
    const ld_structure *s = q->a->s;
    const int32_t *row = s->columns + s->offsets[v];
    int64_t d = s->offsets[v + 1] - s->offsets[v];
    ld_row_rng rng = {stream, (uint64_t)v << 32};
    if (q->k >= d) {
        for (int64_t j = 0; j < d; j++)
            LD_CHECK(find(q, i, row[j]));
    } else if (q->k > 0) {
        LD_CHECK(make_room(q, d));
        int64_t count = ld_row_uniform(q->draws, d, q->k, rng, false, q->words);
        for (int64_t j = 0; j < count; j++)
            LD_CHECK(find(q, i, row[ld_row_draw_at(q->draws[j])]));
    }
    return LD_OK;
}

/* Finds the nodes of ego graph i. */
static ld_status find_nodes(egos *q, int64_t i, int64_t depth, ld_rng *rng)
{
    int64_t from = q->nodes.size;
    ld_marker_clear(q->marks);
    LD_CHECK(add_node(q, q->seeds->data[i], i));
    for (int64_t step = 0; step < depth && from < q->nodes.size; step++) {
        int64_t end = q->nodes.size;
        ld_stream stream = ld_rng_next(rng);
        for (int64_t j = from; j < end; j++)
            LD_CHECK(follow(q, i, q->nodes.data[j], stream));
        from = end;
    }
    return ld_structure_check(q->nodes.size, q->nodes.size, q->to.size);
}

/* --- entries ---------------------------------------------------------------------------------- */

/* Finds the entries between the nodes from number `begin` on, which are marked. */
static ld_status find_entries(egos *q, int64_t begin)
{
    const ld_structure *s = q->a->s;
    for (int64_t j = begin; j < q->nodes.size; j++) {
        int64_t from = s->offsets[q->nodes.data[j]], end = s->offsets[q->nodes.data[j] + 1];
        int64_t before = q->to.size;
        for (int64_t e = from; e < end; e++) {
            int32_t place = ld_marker_get(q->marks, s->columns[e]);
            if (place < 0)
                continue;
            LD_CHECK(push(&q->at, e - from));
            LD_CHECK(push(&q->to, place));
        }
        LD_CHECK(push(&q->counts, q->to.size - before));
    }
    return LD_OK;
}

/* Copies the row of node number j to its place; its entries were noted from `first` on. */
static void put_row(const egos *q, int64_t j, int64_t first, ld_structure *s, ld_tensor *values)
{
    const ld_structure *p = q->a->s;
    int64_t v = q->nodes.data[j], row = q->places.data[j], to = s->offsets[row];
    s->from.rows[row] = ld_structure_origin(p, v);
    for (int64_t t = 0; t < q->counts.data[j]; t++) {
        int64_t at = q->at.data[first + t], e = p->offsets[v] + at;
        s->columns[to + t] = q->to.data[first + t];
        s->from.places[to + t] = ld_structure_place(p, v, e);
        if (values)
            values->data[to + t] = ld_csr_value(q->a, v, e);
    }
}

/* Makes the union of all nodes and entries that were noted. */
static ld_status collect(ld_csr **out, ld_index **nodes, const egos *q)
{
    int64_t n = q->nodes.size, first = 0;
    bool valued = ld_csr_is_valued(q->a);
    LD_OWN(ld_structure) *s = NULL;
    LD_OWN(ld_tensor) *values = NULL;
    LD_OWN(ld_index) *ids = NULL;
    LD_CHECK(ld_structure_check(n, n, q->to.size));
    LD_CHECK(ld_structure_new(&s, n, n, q->to.size, true));
    ld_structure_sliced(s, q->a);
    if (valued)
        LD_CHECK(ld_tensor_new(&values, 1, q->to.size, 1));
    LD_CHECK(ld_index_new(&ids, n));
    for (int64_t j = 0; j < n; j++) {
        ids->data[q->places.data[j]] = q->nodes.data[j];
        s->offsets[q->places.data[j] + 1] = q->counts.data[j];
    }
    s->offsets[0] = 0;
    for (int64_t row = 0; row < n; row++)
        s->offsets[row + 1] += s->offsets[row];
    for (int64_t j = 0; j < n; first += q->counts.data[j++])
        put_row(q, j, first, s, values);
    LD_CHECK(ld_csr_new(out, s, values, NULL, NULL));
    *nodes = ld_take(&ids);
    return LD_OK;
}

/* --- the call --------------------------------------------------------------------------------- */

static ld_status check(const ld_csr *a, const ld_index *seeds, int64_t k, int64_t depth)
{
    LD_CHECK(ld_structure_check_square(a->s, "ego_graphs"));
    if (k < 0 || depth < 0)
        return ld_fail(LD_VALUE,
                       "ego_graphs: k and depth must be at least 0, got %" PRId64 " and %" PRId64,
                       k, depth);
    return ld_index_check(seeds, 0, a->s->n_rows, "ego_graphs: seed");
}

ld_status ld_ego_graphs(ld_csr **out, ld_index **nodes, ld_csr *a, const ld_index *seeds, int64_t k,
                        int64_t depth, ld_rng *rng)
{
    LD_CLEANED(egos_clear) egos q = {.a = a, .seeds = seeds, .k = k};
    LD_CHECK(check(a, seeds, k, depth));
    LD_CHECK(ld_marker_take(&q.marks, a->s->n_rows));
    for (int64_t i = 0; i < seeds->size; i++) {
        int64_t begin = q.nodes.size;
        LD_CHECK(ld_poll_at(i));
        LD_CHECK(find_nodes(&q, i, depth, rng));
        LD_CHECK(find_entries(&q, begin));
    }
    return collect(out, nodes, &q);
}

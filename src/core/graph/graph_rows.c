/* Joins the parts of a graph that this process holds. They are few, so a row is looked for in one
 * after the other (tensor/row_parts.h). */
#include "graph/graph_rows.h"

#include <inttypes.h>
#include <string.h>

#include "base/search.h"
#include "memory/memory.h"
#include "tensor/row_parts.h"

/* The entries of a row; values may be NULL. */
typedef struct {
    const int32_t *columns;
    const float *values;
    int64_t n;
} entries;

/* Finds the entries of a row and returns true, or returns false where it is not here. */
static bool find_row(entries *out, const ld_graph_rows *g, int64_t row)
{
    for (int i = 0; i < g->n_parts; i++) {
        const ld_graph_part *part = &g->parts[i];
        int64_t at = ld_part_place(part->first, part->ids, part->rows->s->n_rows, row);
        if (at < 0)
            continue;
        const ld_csr *a = part->rows;
        int64_t from = a->s->offsets[at];
        *out = (entries){.columns = a->s->columns + from,
                         .values = a->values ? a->values->data + from : NULL,
                         .n = a->s->offsets[at + 1] - from};
        return true;
    }
    return false;
}

static ld_status check_part(const ld_graph_part *part, int64_t n_nodes, bool weighted)
{
    const ld_csr *a = part->rows;
    if (a->row_scale || a->col_scale)
        return ld_fail(LD_VALUE, "graph_rows: a part has scales");
    if (weighted != (a->values != NULL))
        return ld_fail(LD_VALUE, "graph_rows: a part has %s weights",
                       weighted ? "no" : "unexpected");
    if (a->s->n_cols != n_nodes)
        return ld_fail(LD_SHAPE,
                       "graph_rows: a part has %" PRId64 " columns, the graph %" PRId64 " nodes",
                       a->s->n_cols, n_nodes);
    return ld_part_check(part->first, part->ids, a->s->n_rows, n_nodes, "graph_rows");
}

ld_status ld_graph_rows_new(ld_graph_rows **out, int64_t n_nodes, bool weighted,
                            const ld_graph_part *parts, int n_parts, const int64_t *bounds,
                            int n_owners)
{
    LD_OWN(ld_graph_rows) *g = ld_calloc_array(1, sizeof *g, LD_MEM_MATRIX);
    if (!g)
        return LD_NOMEM;
    g->n_nodes = n_nodes;
    g->weighted = weighted;
    for (int i = 0; i < n_parts; i++)
        LD_CHECK(check_part(&parts[i], n_nodes, weighted));
    if (bounds)
        LD_CHECK(
            ld_part_bounds(&g->bounds, bounds, n_owners, n_nodes, LD_MEM_MATRIX, "graph_rows"));
    if (!(g->parts = ld_alloc_array(n_parts, sizeof *parts, LD_MEM_MATRIX)))
        return LD_NOMEM;
    for (int i = 0; i < n_parts; i++) {
        ld_csr *rows;
        LD_CHECK(ld_csr_canonical(&rows, parts[i].rows));
        g->parts[g->n_parts++] = (ld_graph_part){
            .first = parts[i].first, .ids = ld_index_ref(parts[i].ids), .rows = rows};
    }
    g->n_owners = n_owners;
    *out = ld_take(&g);
    return LD_OK;
}

void ld_graph_rows_free(ld_graph_rows *g)
{
    if (!g)
        return;
    for (int i = 0; i < g->n_parts; i++) {
        ld_index_unref(g->parts[i].ids);
        ld_csr_unref(g->parts[i].rows);
    }
    ld_free(g->parts);
    ld_free(g->bounds);
    ld_free(g);
}

int ld_graph_rows_owner(const ld_graph_rows *g, int64_t row)
{
    return ld_part_owner(g->bounds, g->n_owners, row);
}

ld_status ld_graph_rows_missing(ld_index **out, const ld_graph_rows *g, const ld_index *ids)
{
    LD_OWN(ld_index) *sorted = NULL, *missing = NULL;
    entries row;
    LD_CHECK(ld_index_check(ids, 0, g->n_nodes, "rows of the graph: node"));
    LD_CHECK(ld_index_sort(&sorted, ids));
    LD_CHECK(ld_index_new(&missing, ids->size));
    missing->size = 0;
    for (int64_t i = 0; i < sorted->size; i++) {
        int32_t id = sorted->data[i];
        if ((i == 0 || id != sorted->data[i - 1]) && !find_row(&row, g, id))
            missing->data[missing->size++] = id;
    }
    *out = ld_take(&missing);
    return LD_OK;
}

/* --- collecting ------------------------------------------------------------------------------- */

/* Returns the place of a row's entry on the diagonal. *lacking is true if it has none, which would
 * belong there. */
static int64_t loop_of(bool *lacking, const entries *row, int32_t id)
{
    int64_t at = ld_search_int32(row->columns, 0, row->n, id);
    *lacking = at == row->n || row->columns[at] != id;
    return at;
}

/* Counts the entries of the rows `ids`, with the loops that must be made. Fails for a row that is
 * not here. */
static ld_status count(int64_t *nnz, const ld_graph_rows *g, const ld_index *ids, bool loops)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < ids->size; i++) {
        entries row;
        bool lacking = false;
        if (!find_row(&row, g, ids->data[i]))
            return ld_part_absent("the graph", g->bounds, g->n_owners, ids->data[i]);
        if (loops)
            loop_of(&lacking, &row, ids->data[i]);
        sum += row.n + lacking;
    }
    *nnz = sum;
    return LD_OK;
}

/* Copies a row, with values where there are some, and its entry on the diagonal if `loops`. Returns
 * its length. */
static int64_t copy_row(int32_t *columns, float *values, const entries *row, int32_t id, bool loops)
{
    bool lacking = false;
    int64_t before = loops ? loop_of(&lacking, row, id) : row->n;
    size_t behind = (size_t)(row->n - before);
    memcpy(columns, row->columns, (size_t)before * sizeof *columns);
    memcpy(columns + before + lacking, row->columns + before, behind * sizeof *columns);
    if (lacking)
        columns[before] = id;
    if (values) {
        memcpy(values, row->values, (size_t)before * sizeof *values);
        memcpy(values + before + lacking, row->values + before, behind * sizeof *values);
        if (loops)
            values[before] = 1.0f;
    }
    return row->n + lacking;
}

static ld_status check_scale(const ld_graph_rows *g, const ld_tensor *scale)
{
    if (scale && (scale->ndim != 1 || scale->n_rows != g->n_nodes))
        return ld_fail(LD_SHAPE, "collect: a scale must be a vector of %" PRId64 ", got %s",
                       g->n_nodes, ld_tensor_shape(scale));
    return LD_OK;
}

ld_status ld_graph_rows_collect(ld_csr **out, const ld_graph_rows *g, ld_index *ids,
                                ld_collect_options o)
{
    LD_OWN(ld_structure) *s = NULL;
    LD_OWN(ld_tensor) *values = NULL, *row_scale = NULL;
    int64_t nnz = 0;
    LD_CHECK(ld_index_check(ids, 0, g->n_nodes, "rows of the graph: node"));
    LD_CHECK(check_scale(g, o.row_scale));
    LD_CHECK(check_scale(g, o.col_scale));
    LD_CHECK(count(&nnz, g, ids, o.self_loops));
    LD_CHECK(ld_structure_new(&s, ids->size, g->n_nodes, nnz, false));
    if (g->weighted)
        LD_CHECK(ld_tensor_new(&values, 1, nnz, 1));
    for (int64_t i = 0; i < ids->size; i++) {
        entries row = {0};
        int64_t from = s->offsets[i];
        LD_CHECK(ld_poll_at(i));
        find_row(&row, g, ids->data[i]);
        s->offsets[i + 1] = from + copy_row(s->columns + from, values ? values->data + from : NULL,
                                            &row, ids->data[i], o.self_loops);
    }
    s->canonical = true;
    if (!o.joined)
        s->from.row_ids = ld_index_ref(ids);
    LD_CHECK(ld_tensor_pick(&row_scale, o.row_scale, ids));
    return ld_csr_new(out, s, values, row_scale, o.col_scale);
}

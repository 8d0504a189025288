#include "graph/edge_range.h"

#include <inttypes.h>

#include "base/memory.h"

ld_status ld_edge_range_new(ld_edge_range **out, int64_t first, int64_t n_rows, int64_t n_cols,
                            int64_t room)
{
    ld_status st;
    LD_TRY(ld_structure_check(n_rows, n_cols, room));
    if (first < 0 || first > n_cols - n_rows)
        return ld_fail(LD_RANGE, "edge_range: nodes %" PRId64 "..%" PRId64 " of %" PRId64,
                       first + 1, first + n_rows, n_cols);
    ld_edge_range *e = ld_alloc(sizeof *e, LD_MEM_MATRIX);
    if (!e)
        return LD_NOMEM;
    *e = (ld_edge_range){first, n_rows, n_cols, 0, room, NULL, NULL};
    e->rows = ld_alloc_array(room, sizeof *e->rows, LD_MEM_MATRIX);
    e->columns = e->rows ? ld_alloc_array(room, sizeof *e->columns, LD_MEM_MATRIX) : NULL;
    if (!e->columns) {
        ld_edge_range_free(e);
        return LD_NOMEM;
    }
    *out = e;
done:
    return st;
}

void ld_edge_range_free(ld_edge_range *e)
{
    if (!e)
        return;
    ld_free(e->rows);
    ld_free(e->columns);
    ld_free(e);
}

/* Whether there was room for the entry, if it is of the range. */
static inline bool add(ld_edge_range *e, int32_t row, int32_t column)
{
    if (row < e->first || row >= e->first + e->n_rows)
        return true;
    if (e->count == e->room)
        return false;
    e->rows[e->count] = (int32_t)(row - e->first);
    e->columns[e->count++] = column;
    return true;
}

ld_status ld_edge_range_add(ld_edge_range *e, const ld_index *rows, const ld_index *columns,
                            bool both)
{
    ld_status st;
    bool fits = e->columns != NULL;
    if (rows->size != columns->size)
        return ld_fail(LD_SHAPE, "edge_range: %" PRId64 " rows and %" PRId64 " columns", rows->size,
                       columns->size);
    LD_TRY(ld_index_check(rows, 0, e->n_cols, "edge_range: row"));
    LD_TRY(ld_index_check(columns, 0, e->n_cols, "edge_range: column"));
    for (int64_t i = 0; fits && i < rows->size; i++) {
        fits = add(e, rows->data[i], columns->data[i]);
        if (both && rows->data[i] != columns->data[i])
            fits = fits && add(e, columns->data[i], rows->data[i]);
    }
    if (!fits)
        return ld_fail(LD_RANGE, "edge_range: there is room for %" PRId64 " edges", e->room);
done:
    return st;
}

ld_status ld_edge_range_matrix(ld_csr **out, ld_edge_range *e)
{
    ld_structure *s = NULL;
    int32_t *columns = e->columns;
    ld_status st;
    if (!columns)
        return ld_fail(LD_STATE, "edge_range: its matrix was made already");
    e->columns = NULL;
    LD_TRY(ld_structure_of_block(&s, e->n_rows, e->n_cols, e->count, columns));
    LD_TRY(ld_csr_from_entries(out, s, e->rows, NULL));
done:
    ld_structure_unref(s);
    ld_free(e->rows);
    e->rows = NULL;
    e->room = e->count = 0;
    return st;
}

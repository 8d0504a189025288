/* Looks up pairs of nodes: whether there is an entry for them, its place, and how many neighbours
 * they share. */
#include "kernel/pairs.h"

#include <inttypes.h>
#include <stdio.h>

#include "graph/csr.h"
#include "memory/memory.h"

static ld_pairs_rows rows_of(ld_structure *s)
{
    return (ld_pairs_rows){s->offsets, s->columns, ld_structure_is_canonical(s)};
}

static ld_status check_pairs(const char *name, const ld_index *a, int64_t a_end, const char *a_what,
                             const ld_index *b, int64_t b_end, const char *b_what)
{
    if (a->size != b->size)
        return ld_fail(LD_SHAPE, "%s: %" PRId64 " and %" PRId64 " ids do not make pairs", name,
                       a->size, b->size);
    LD_CHECK(ld_index_check(a, 0, a_end, a_what));
    return ld_index_check(b, 0, b_end, b_what);
}

/* Finds the position of each pair's entry, as ld_pairs_find does. */
static ld_status find(int64_t **at, const char *name, ld_csr *a, const ld_index *rows,
                      const ld_index *cols)
{
    char row[32], column[32];
    snprintf(row, sizeof row, "%s: row", name);
    snprintf(column, sizeof column, "%s: column", name);
    LD_CHECK(check_pairs(name, rows, a->s->n_rows, row, cols, a->s->n_cols, column));
    if (!(*at = ld_alloc_array(rows->size, sizeof **at, LD_MEM_SCRATCH)))
        return LD_NOMEM;
    return ld_pairs_find(*at, rows_of(a->s), rows->data, cols->data, rows->size);
}

ld_status ld_csr_find(ld_index **out, ld_csr *a, const ld_index *rows, const ld_index *cols)
{
    LD_FREED int64_t *at = NULL;
    LD_CHECK(ld_structure_check_positions(a->s, "find"));
    LD_CHECK(find(&at, "find", a, rows, cols));
    LD_CHECK(ld_index_new(out, rows->size));
    for (int64_t i = 0; i < rows->size; i++)
        (*out)->data[i] = (int32_t)at[i];
    return LD_OK;
}

ld_status ld_csr_has(ld_tensor **out, ld_csr *a, const ld_index *rows, const ld_index *cols)
{
    LD_FREED int64_t *at = NULL;
    LD_CHECK(find(&at, "has", a, rows, cols));
    LD_CHECK(ld_tensor_new(out, 1, rows->size, 1));
    for (int64_t i = 0; i < rows->size; i++)
        (*out)->data[i] = at[i] >= 0;
    return LD_OK;
}

ld_status ld_csr_common(ld_tensor **out, ld_csr *a, const ld_index *first, const ld_index *second,
                        const ld_tensor *weights)
{
    LD_OWN(ld_csr) *sorted = NULL;
    LD_OWN(ld_tensor) *sums = NULL;
    if (weights && (weights->ndim != 1 || weights->n_rows != a->s->n_cols))
        return ld_fail(LD_SHAPE, "common_neighbours: weights of %s for %" PRId64 " columns",
                       ld_tensor_shape(weights), a->s->n_cols);
    LD_CHECK(check_pairs("common_neighbours", first, a->s->n_rows, "common_neighbours: row", second,
                         a->s->n_rows, "common_neighbours: row"));
    LD_CHECK(ld_csr_canonical(&sorted, a));
    LD_CHECK(ld_tensor_new(&sums, 1, first->size, 1));
    LD_CHECK(ld_pairs_common(sums->data, rows_of(sorted->s), first->data, second->data, first->size,
                             weights ? weights->data : NULL));
    *out = ld_take(&sums);
    return LD_OK;
}

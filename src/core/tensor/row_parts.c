/* Checks the parts in which rows come, and the bounds between the rows of processes. */
#include "tensor/row_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tensor/shared_product.h"

ld_status ld_part_check(int64_t first, const ld_index *ids, int64_t n, int64_t n_rows,
                        const char *where)
{
    if (ids && ids->size != n)
        return ld_fail(LD_SHAPE, "%s: a part has %" PRId64 " ids for %" PRId64 " rows", where,
                       ids->size, n);
    if (!ids && (first < 0 || first > n_rows - n))
        return ld_fail(LD_RANGE, "%s: a part has the rows %" PRId64 "..%" PRId64 " of %" PRId64,
                       where, first + 1, first + n, n_rows);
    for (int64_t i = 1; ids && i < n; i++)
        if (ids->data[i] <= ids->data[i - 1])
            return ld_fail(LD_VALUE, "%s: the ids of a part must ascend", where);
    if (!ids)
        return LD_OK;
    char what[64];
    snprintf(what, sizeof what, "%s: a part: row", where);
    return ld_index_check(ids, 0, n_rows, what);
}

ld_status ld_part_bounds(int64_t **out, const int64_t *bounds, int n_owners, int64_t n_rows,
                         ld_memory_tag tag, const char *where)
{
    LD_CHECK(ld_share_check_bounds(bounds, n_owners, n_rows, where));
    if (!(*out = ld_alloc_array(n_owners + 1, sizeof *bounds, tag)))
        return LD_NOMEM;
    memcpy(*out, bounds, ((size_t)n_owners + 1) * sizeof *bounds);
    return LD_OK;
}

ld_status ld_part_absent(const char *where, const int64_t *bounds, int n_owners, int64_t row)
{
    if (!bounds)
        return ld_fail(LD_STATE, "%s: row %" PRId64 " is in none of the parts", where, row + 1);
    return ld_fail(LD_STATE,
                   "%s: row %" PRId64 " is at rank %d, and this one has its own part alone", where,
                   row + 1, ld_part_owner(bounds, n_owners, row));
}

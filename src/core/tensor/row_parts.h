/* Rows that come in parts, some of which other processes have: features (stored_rows.h) and graphs
 * (graph/graph_rows.h). A part has n rows of the whole: those from `first` on or, unless `ids` is
 * NULL, those with these numbers, which ascend. Process r has rows bounds[r] .. bounds[r + 1] -
 * 1. */
#ifndef LD_TENSOR_ROW_PARTS_H
#define LD_TENSOR_ROW_PARTS_H

#include <stdint.h>

#include "base/search.h"
#include "base/status.h"
#include "memory/memory.h"
#include "tensor/index.h"

/* Fails with LD_SHAPE, LD_RANGE or LD_VALUE unless a part fits a whole of n_rows. `where` begins
 * the message. */
ld_status ld_part_check(int64_t first, const ld_index *ids, int64_t n, int64_t n_rows,
                        const char *where);

/* Returns the place of a row of the whole in the part, or -1. */
static inline int64_t ld_part_place(int64_t first, const ld_index *ids, int64_t n, int64_t row)
{
    int64_t at = ids ? ld_search_int32(ids->data, 0, n, row) : row - first;
    return at >= 0 && at < n && (!ids || ids->data[at] == row) ? at : -1;
}

/* Copies the bounds of n_owners processes to a block that the caller frees. Fails with LD_VALUE
 * unless they go from 0 to n_rows and never descend. */
ld_status ld_part_bounds(int64_t **out, const int64_t *bounds, int n_owners, int64_t n_rows,
                         ld_memory_tag tag, const char *where);

/* Fails with LD_STATE: row `row`, of what `where` says, is in none of the parts, or, with bounds, at
 * another process. */
ld_status ld_part_absent(const char *where, const int64_t *bounds, int n_owners, int64_t row);

/* Returns the process that has a row. */
static inline int ld_part_owner(const int64_t *bounds, int n_owners, int64_t row)
{
    return (int)ld_search_int64(bounds + 1, 0, n_owners - 1, row + 1);
}

#endif

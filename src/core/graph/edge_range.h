/* The edges of a range of nodes, gathered from all of them: a graph that does not fit in memory is made
 * range by range, going over its edges once for each. */
#ifndef LD_GRAPH_EDGE_RANGE_H
#define LD_GRAPH_EDGE_RANGE_H

#include <stdint.h>

#include "base/status.h"
#include "graph/csr.h"
#include "tensor/index.h"

typedef struct {
    int64_t first, n_rows, n_cols; /* rows first .. first + n_rows - 1 of n_cols nodes */
    int64_t count, room;
    int32_t *rows, *columns; /* room; rows count from `first` */
} ld_edge_range;

/* Room for so many edges, 8 bytes each. */
ld_status ld_edge_range_new(ld_edge_range **out, int64_t first, int64_t n_rows, int64_t n_cols,
                            int64_t room);

/* NULL is allowed. */
void ld_edge_range_free(ld_edge_range *e);

/* Adds those of the entries (rows[i], columns[i]), and with `both` (columns[i], rows[i]), that are of
 * the range. LD_SHAPE when the lengths differ, LD_RANGE for ids that are no nodes or when there is no
 * room. */
ld_status ld_edge_range_add(ld_edge_range *e, const ld_index *rows, const ld_index *columns,
                            bool both);

/* The rows as a matrix of ones, sorted, each entry once. The range is empty afterwards and cannot be
 * used again. */
ld_status ld_edge_range_matrix(ld_csr **out, ld_edge_range *e);

#endif

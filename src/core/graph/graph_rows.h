/* The rows of a graph that are here, of a whole whose others are elsewhere: those that shards have,
 * which this process opened, and those that others sent. Matrices are made of some of them, as far as
 * they are here. Immutable. */
#ifndef LD_GRAPH_GRAPH_ROWS_H
#define LD_GRAPH_GRAPH_ROWS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "graph/csr.h"
#include "tensor/index.h"
#include "tensor/tensor.h"

/* Some rows of the whole. */
typedef struct {
    int64_t first; /* they are those of the whole from this one on, */
    ld_index *ids; /* or, unless NULL, these, which are ascending */
    ld_csr *rows;  /* with all columns of the whole; sorted once they are in an ld_graph_rows */
} ld_graph_part;

typedef struct ld_graph_rows {
    atomic_int refs;
    int64_t n_nodes;
    bool weighted; /* the parts have values */
    ld_graph_part *parts;
    int n_parts, n_owners;
    int64_t *bounds; /* process r has rows bounds[r] .. bounds[r + 1] - 1; NULL: all are here */
} ld_graph_rows;

/* A graph of n_nodes of which the parts are here; it takes references to what they hold. `bounds`,
 * n_owners + 1 of them, says which processes have the rows, or is NULL where all are here. LD_SHAPE,
 * LD_RANGE, LD_VALUE for values where it is not weighted, or none where it is, and for ids that do
 * not ascend. */
ld_status ld_graph_rows_new(ld_graph_rows **out, int64_t n_nodes, bool weighted,
                            const ld_graph_part *parts, int n_parts, const int64_t *bounds,
                            int n_owners);

ld_graph_rows *ld_graph_rows_ref(ld_graph_rows *g);
void ld_graph_rows_unref(ld_graph_rows *g);

/* The process that has a row, by the bounds. */
int ld_graph_rows_owner(const ld_graph_rows *g, int64_t row);

/* Those of the ids whose rows are not here, ascending, each once. LD_RANGE. */
ld_status ld_graph_rows_missing(ld_index **out, const ld_graph_rows *g, const ld_index *ids);

typedef struct {
    bool self_loops; /* the entry on the diagonal of every row is 1, and made where there is none */
    bool joined;     /* a matrix of its own: see ld_csr's row_ids */
    ld_tensor *row_scale, *col_scale; /* of all nodes, or NULL */
} ld_collect_options;

/* The rows `ids`, which may repeat, with all columns; the matrix knows their numbers, unless it is
 * `joined`. LD_RANGE, LD_SHAPE; LD_STATE for a row that is not here. */
ld_status ld_graph_rows_collect(ld_csr **out, const ld_graph_rows *g, ld_index *ids,
                                ld_collect_options o);

#endif

/* The rows of a graph in shards that this process holds: those of the shards that it opened and
 * those that other processes sent. Matrices are made of some of them. Immutable. */
#ifndef LD_GRAPH_GRAPH_ROWS_H
#define LD_GRAPH_GRAPH_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/own.h"
#include "base/status.h"
#include "graph/csr.h"
#include "tensor/index.h"
#include "tensor/tensor.h"

/* A part: some rows of the graph. */
typedef struct {
    int64_t first; /* the number of its first row in the graph, */
    ld_index *ids; /* or, unless NULL, the numbers of all its rows, ascending */
    ld_csr *rows;  /* with all columns of the graph; in an ld_graph_rows they are sorted */
} ld_graph_part;

typedef struct ld_graph_rows {
    int64_t n_nodes;
    bool weighted; /* the parts have values */
    ld_graph_part *parts;
    int n_parts, n_owners;
    int64_t *bounds; /* process r has rows bounds[r] .. bounds[r + 1] - 1; NULL: all are here */
} ld_graph_rows;

/* Joins the parts that this process has of a graph of n_nodes, and takes references to them.
 * `bounds`, n_owners + 1 numbers, says which processes have the other rows; it is NULL where all
 * are here. Fails with LD_SHAPE, LD_RANGE, or LD_VALUE: for values where the graph is not weighted,
 * for none where it is, and for ids that do not ascend. */
ld_status ld_graph_rows_new(ld_graph_rows **out, int64_t n_nodes, bool weighted,
                            const ld_graph_part *parts, int n_parts, const int64_t *bounds,
                            int n_owners);

void ld_graph_rows_free(ld_graph_rows *g);
LD_OWNED_BY(ld_graph_rows, ld_graph_rows_free)

/* Returns the process that has a row by the bounds. */
int ld_graph_rows_owner(const ld_graph_rows *g, int64_t row);

/* Gives those of `ids` whose rows are not here, ascending, each once. Fails with LD_RANGE. */
ld_status ld_graph_rows_missing(ld_index **out, const ld_graph_rows *g, const ld_index *ids);

typedef struct {
    bool self_loops; /* every row gets an entry of 1 on the diagonal */
    bool joined;     /* the result does not keep the rows' numbers (ld_origin's row_ids) */
    ld_tensor *row_scale, *col_scale; /* of all nodes, or NULL */
} ld_collect_options;

/* Copies the rows `ids`, which may repeat, with all columns, to a matrix. Unless `joined`, it keeps
 * their numbers in the graph. Fails with LD_RANGE or LD_SHAPE, and with LD_STATE for a row that is
 * not here. */
ld_status ld_graph_rows_collect(ld_csr **out, const ld_graph_rows *g, ld_index *ids,
                                ld_collect_options o);

#endif

/* Rows of a graph in shards that other ranks have, brought while they are waited for (those of features
 * come in the background: fetch.h): how many, which, their lengths, their columns, and their weights
 * where it has some. */
#ifndef LD_RANKS_FETCH_GRAPH_H
#define LD_RANKS_FETCH_GRAPH_H

#include <stdbool.h>

#include "graph/graph_rows.h"

typedef struct {
    bool any;                /* whether a rank wanted something; without that nothing was brought */
    ld_csr *rows;            /* in the order of the ids; NULL without any */
    int64_t messages, bytes; /* that this rank has sent */
} ld_graph_fetched;

/* Brings the rows `ids`, ascending, none of which `have` holds, and gives others what they want of it.
 * All ranks call it, also those that want nothing. After a failure its memory is kept, since MPI may
 * still use it. */
ld_status ld_ranks_fetch_graph(ld_graph_fetched *out, const ld_graph_rows *have,
                               const ld_index *ids);

#endif

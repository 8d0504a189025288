/* Fetches rows of a sharded graph from the ranks that hold them, and waits for them. (Rows of
 * features are fetched in the background: fetch_features.h.) */
#ifndef LD_RANKS_FETCH_GRAPH_H
#define LD_RANKS_FETCH_GRAPH_H

#include <stdbool.h>

#include "graph/graph_rows.h"

typedef struct {
    bool any;                /* true if any rank wanted rows; otherwise nothing was exchanged */
    ld_csr *rows;            /* in the order of the ids; NULL if `any` is false */
    int64_t messages, bytes; /* that this rank has sent */
} ld_graph_fetched;

/* Fetches the rows `ids`, ascending, none of which `have` holds, and sends the other ranks the rows
 * of `have` that they want. All ranks must call it, also those that want nothing. After a failure
 * its memory is kept, since MPI may still use it. */
ld_status ld_ranks_fetch_graph(ld_graph_fetched *out, const ld_graph_rows *have,
                               const ld_index *ids);

#endif

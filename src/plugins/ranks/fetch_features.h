/* Fetches rows of features from the ranks that hold them, in the background. (Rows of a graph are
 * waited for: fetch_graph.h.)
 *
 * The ranks tell each other how many rows they want of each, then which, then send them, in three
 * collective calls on a communicator that nothing else uses. A call is begun when the one before is
 * over: with an operation on tensors, in every wait for other ranks, or at last in ld_fetch_end; and
 * large messages go on only where MPI is called. As each rank begins the same fetches in the same
 * order, none can wait for another for ever. Only one fetch is under way at a time: the next one,
 * and the end of the process, first wait for its end, even if nobody wants its rows any more. */
#ifndef LD_RANKS_FETCH_FEATURES_H
#define LD_RANKS_FETCH_FEATURES_H

#include "base/own.h"
#include "tensor/index.h"
#include "tensor/stored_rows.h"

typedef struct ld_fetch ld_fetch;

/* Begins to fetch those rows of `ids`, which ascend, that `have` lacks, and to send others the rows
 * of `have` that they want. All ranks must call it, one fetch after the other. */
ld_status ld_fetch_begin(ld_fetch **out, ld_rows *have, const ld_index *ids);

/* Waits for the end of a fetch: *out holds the rows of `have` and those fetched. After a failure
 * its memory is kept, since MPI may still use it. */
ld_status ld_fetch_end(ld_rows **out, ld_fetch *f);

/* Makes rows that hold those of `own`, and copies of the rows `ids`, which ascend, of `have`. */
ld_status ld_fetch_keep(ld_rows **out, ld_rows *own, const ld_rows *have, ld_index *ids);

/* Gives the messages and bytes that this rank sends for a fetch, as far as they are known: all of
 * them after its end. */
void ld_fetch_sent(int64_t *messages, int64_t *bytes, const ld_fetch *f);

/* Frees a fetch as soon as it is over. */
void ld_fetch_free(ld_fetch *f);
LD_OWNED_BY(ld_fetch, ld_fetch_free)

#endif

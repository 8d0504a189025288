/* Rows of features that other ranks have, brought in the background (those of a graph are waited for:
 * fetch_graph.h). The ranks tell each other how many they want of each, then which, then send them, in
 * three collective calls on a communicator that nothing else uses. A call is begun when the one before
 * is over: in ld_fetch_go_on, in every wait for other ranks, or at last in ld_fetch_end; as each rank
 * begins the same fetches in the same order, none can wait for another for ever. One is under way at a
 * time: the next one, and the end of the process, first wait for its end, though nobody wants its rows
 * any more. */
#ifndef LD_RANKS_FETCH_H
#define LD_RANKS_FETCH_H

#include <stdbool.h>

#include "tensor/index.h"
#include "tensor/stored_rows.h"

typedef struct ld_fetch ld_fetch;

/* Begins to bring the rows `ids`, which ascend, as far as `have` does not hold them, and to give
 * others what they want of it. All ranks call it, one fetch after the other. */
ld_status ld_fetch_begin(ld_fetch **out, ld_rows *have, const ld_index *ids);

/* Goes on with the one under way, if there is one, as far as it can be without waiting. */
ld_status ld_fetch_go_on(void);

/* Waits for the end of the one under way, if there is one, whether or not its rows are wanted. */
ld_status ld_fetch_end_under_way(void);

/* Waits for all of it: *out holds what `have` does, and these rows. The fetch is then over; after a
 * failure its memory is kept, since MPI may still use it. */
ld_status ld_fetch_end(ld_rows **out, ld_fetch *f);

/* What this rank sends for it, as far as that is known: all after its end. */
void ld_fetch_sent(int64_t *messages, int64_t *bytes, const ld_fetch *f);

/* Gives back its memory, as soon as it is over. */
void ld_fetch_free(ld_fetch *f);

#endif

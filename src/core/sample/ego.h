/* Ego graphs: draws the surroundings of nodes, to some depth, each as a graph of its own. */
#ifndef LD_SAMPLE_EGO_H
#define LD_SAMPLE_EGO_H

#include <stdint.h>

#include "base/status.h"
#include "graph/csr.h"
#include "random/rng.h"

/* Makes the disjoint union of an ego graph for each of `seeds` (ShaDow: Zeng et al., NeurIPS 2021).
 *
 * The ego graph of a seed begins with the seed alone. Then `depth` times, each node that came last
 * is followed by k of the columns of its row, drawn uniformly without replacement, or by all of
 * them where there are no more. At last it gets all of a's entries between its nodes. `nodes` gets
 * the ids: all seeds, then the other nodes of the first one's graph as they were found, of the
 * second's, ... A node is there once in a graph, and as often as there are graphs that have it;
 * seeds may repeat. The entries of a row keep their order.
 *
 * Every step of every ego graph draws from a sub-stream of its own, as ld_sample_rows with those
 * rows would. The time is that of the rows of the nodes that are found. Fails with LD_SHAPE when a
 * is not square or there are too many nodes, with LD_RANGE for seeds, and with LD_VALUE for a
 * negative k or depth. */
ld_status ld_ego_graphs(ld_csr **out, ld_index **nodes, ld_csr *a, const ld_index *seeds, int64_t k,
                        int64_t depth, ld_rng *rng);

#endif

/* Partitions: divides the nodes of a graph into parts with few edges between them. */
#ifndef LD_GRAPH_PARTITION_H
#define LD_GRAPH_PARTITION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "graph/csr.h"
#include "random/rng.h"
#include "tensor/index.h"

/* Divides the nodes of a square matrix into parts 0 .. k-1 by METIS (Karypis and Kumar, "A fast and
 * high quality multilevel scheme for partitioning irregular graphs", SIAM J. Sci. Comput. 1998):
 * parts of nearly equal size with few entries between them. Entries count both ways and self-loops
 * not at all. With `weighted` METIS minds the entries' absolute values, in steps of a thousandth of
 * the largest, rather than their number. Some parts may be empty; with k >= n every node has its
 * own. Given `balanced`, a set of nodes or NULL, the parts have nearly equally many of these, too,
 * and differ less, where that is two a part or more.
 *
 * METIS works in one thread with memory of its own, which is neither accounted nor bounded here
 * (several times its copy of the graph: 4 bytes an entry, 8 when weighted), cannot be interrupted
 * (the cancel flag is polled before and after), takes SIGABRT and SIGTERM over while it runs, and
 * reseeds rand(). The result depends on the matrix, k, the rng's sub-stream and the C library's
 * rand() alone. Fails with LD_STATE when the program was built without METIS, with LD_VALUE for a k
 * below 1 and for weights that are not finite, and with LD_NOMEM also when METIS runs out of
 * memory. */
ld_status ld_csr_metis(ld_index **part_of, ld_csr *a, int64_t k, bool weighted,
                       const ld_index *balanced, ld_rng *rng);

/* Returns true when the program was built with METIS. */
bool ld_have_metis(void);

/* Divides the nodes of a square matrix into parts 0 .. k-1 by linear deterministic greedy, in so many
 * passes over its rows (ldg.c), which are read as they are: an entry counts for its row alone. Parts
 * are at most 3 % larger than the mean, or by one node, but where nodes of `balanced`, a set or NULL,
 * find room nowhere: of these each has nearly as many. With k >= n every node has its own part.
 * Beside the matrix it takes 5 bytes a node. The result depends on the structure, k, passes,
 * `balanced` and the rng's sub-streams alone. Fails with LD_VALUE for a k or passes below 1. */
ld_status ld_csr_ldg(ld_index **part_of, const ld_csr *a, int64_t k, int64_t passes,
                     const ld_index *balanced, ld_rng *rng);

/* Counts a's entries whose row and column are in different parts. */
ld_status ld_csr_cut(int64_t *cut, const ld_csr *a, const ld_index *part_of);

#endif

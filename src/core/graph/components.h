/* Connected components of a graph. */
#ifndef LD_GRAPH_COMPONENTS_H
#define LD_GRAPH_COMPONENTS_H

#include <stdint.h>

#include "base/status.h"
#include "graph/csr.h"
#include "tensor/index.h"

/* Numbers the connected components of a square matrix, entries taken both ways: *out gets the
 * component of every node, *count how many there are. They count from 0 in the order of their
 * smallest nodes. Takes nearly O(entries). */
ld_status ld_csr_components(ld_index **out, int64_t *count, const ld_csr *a);

#endif

/* Connected components. */
#ifndef LD_GRAPH_COMPONENTS_H
#define LD_GRAPH_COMPONENTS_H

#include <stdint.h>

#include "base/status.h"
#include "graph/csr.h"
#include "tensor/index.h"

/* The component of every node of a square matrix, entries taken both ways, and the number of
 * components. They count from 0 in the order of their smallest nodes. Time: nearly O(entries). */
ld_status ld_csr_components(ld_index **out, int64_t *count, const ld_csr *a);

#endif

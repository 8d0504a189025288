/* Half a graph: every edge once, in the row of its smaller end. Generators build it first, because
 * an edge drawn from either side then lies in one place. */
#ifndef LD_GENERATE_HALF_GRAPH_H
#define LD_GENERATE_HALF_GRAPH_H

#include <stdint.h>

#include "base/status.h"
#include "generate/urn.h"
#include "graph/csr.h"

typedef struct {
    int64_t n;
    int64_t *offsets; /* n + 1 */
    int32_t *columns; /* in row r: the greater ends of its edges, ascending */
} ld_half;

/* Makes half a graph of n nodes without edges; ld_half_clear frees it. */
ld_status ld_half_init(ld_half *h, int64_t n);
void ld_half_clear(ld_half *h);

/* Adds the edges of `count` draws from number `first` on; those that are there already, or come
 * twice, count once. Memory at the peak: 4 bytes for every edge there, and again for every edge
 * there or drawn. */
ld_status ld_half_add(ld_half *h, const ld_urn *urn, uint64_t first, int64_t count);

/* Chooses at random which of n edges go, so that `kept` are left: bit e % 64 of element e / 64, in
 * a new block; NULL where none goes. */
ld_status ld_half_dropped(uint64_t **out, int64_t n, int64_t kept, ld_stream stream);

/* Drops the edges that ld_half_dropped chooses. */
ld_status ld_half_thin(ld_half *h, int64_t kept, ld_stream stream);

/* Sorts each row; for rows written directly. */
ld_status ld_half_sort(ld_half *h);

/* Makes the whole graph, with every edge both ways. */
ld_status ld_half_mirror(ld_csr **out, const ld_half *h);

#endif

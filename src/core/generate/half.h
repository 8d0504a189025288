/* Half a graph: every edge once, in the row of its smaller end. What the generators build first,
 * because an edge drawn from either side then lies in one place. */
#ifndef LD_GENERATE_HALF_H
#define LD_GENERATE_HALF_H

#include <stdint.h>

#include "base/status.h"
#include "graph/csr.h"

typedef struct {
    int64_t n;
    int64_t *offsets; /* n + 1 */
    int32_t *columns; /* of row r: the greater ends, ascending */
} ld_half;

/* Draws numbered 0, 1, ...: the two ends of draw i, or false when it gives no edge. A pure function,
 * called from several threads. */
typedef bool ld_draw_fn(const void *ctx, uint64_t i, int32_t *u, int32_t *v);

/* Half a graph of n nodes without edges; ld_half_clear gives its memory back. */
ld_status ld_half_init(ld_half *h, int64_t n);
void ld_half_clear(ld_half *h);

/* Adds the edges of `count` draws from number `first` on; those that are there already, or come
 * twice, count once. Memory at the peak: 4 bytes for every edge there, and again for every edge
 * there or drawn. */
ld_status ld_half_add(ld_half *h, ld_draw_fn *draw, const void *ctx, uint64_t first, int64_t count);

/* Drops edges chosen at random until `kept` are left. */
ld_status ld_half_thin(ld_half *h, int64_t kept, ld_stream stream);

/* Sorts each row; for rows written directly. */
ld_status ld_half_sort(ld_half *h);

/* The whole graph: every edge both ways. */
ld_status ld_half_mirror(ld_csr **out, const ld_half *h);

#endif

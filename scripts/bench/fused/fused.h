/* Samplers written as one loop of C each: what `ladies bench sampling` measures the samplers in Lua
 * against. They make the same mini-batches from the same random numbers, but know P, their method and
 * its options; scratch memory lives as long as the sampler, so that only the blocks are allocated. */
#ifndef FUSED_H
#define FUSED_H

#include "graph/csr.h"
#include "graph/marker.h"
#include "random/rng.h"
#include "sample/alias.h"

/* A layer as it leaves: src[j] is the node of adj's column j. */
typedef struct {
    ld_csr *adj;
    ld_index *src;
} fused_block;

/* Memory that grows and is kept. */
typedef struct {
    void *data;
    int64_t size; /* bytes */
} fused_buffer;

typedef struct {
    ld_csr *P;
    int64_t size;         /* nodes of a layer, or neighbours of a node */
    ld_index *loops;      /* GraphSAGE: places of loops in their rows, -1 for none */
    ld_alias *table;      /* FastGCN: of the squared column norms */
    ld_marker *renamed;   /* nodes to columns */
    uint64_t *bits;       /* FastGCN: the drawn nodes, always cleared again */
    fused_buffer work[4]; /* each method's own */
} fused_sampler;

/* The method's table, where it has one. */
ld_status fused_prepare_fastgcn(fused_sampler *f);
ld_status fused_prepare_graphsage(fused_sampler *f);

/* The block below the nodes dst, which are distinct. */
typedef ld_status fused_layer(fused_block *out, fused_sampler *f, const ld_index *dst, ld_rng *rng);
fused_layer fused_ladies, fused_fastgcn, fused_graphsage;

/* `size` bytes at least; NULL when there is no memory. What was in them is lost. */
void *fused_room(fused_buffer *b, int64_t size);

/* A block of copies of those arrays, where offsets has a number more than there are rows; src is
 * taken, also on failure. */
ld_status fused_block_new(fused_block *out, int64_t n_rows, const int64_t *offsets,
                          const int32_t *columns, const float *values, ld_index *src);

#endif

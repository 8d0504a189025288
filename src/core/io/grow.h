/* Arrays of int32 or float whose length is not known before the last element. They grow by pieces
 * that stay where they are, an eighth of what there is each, and are moved into one array at the
 * end, which takes each piece away as it goes: never much more than twice the final size. */
#ifndef LD_IO_GROW_H
#define LD_IO_GROW_H

#include <stdint.h>

#include "base/status.h"
#include "tensor/index.h"
#include "tensor/tensor.h"

typedef union {
    int32_t id;
    float number;
} ld_cell;

typedef struct ld_piece {
    struct ld_piece *next;
    ld_cell *at, *end; /* the free cells */
    ld_cell cells[];
} ld_piece;

/* All zeros is an empty one. */
typedef struct {
    ld_piece *first, *last;
    int64_t count; /* cells in pieces but the last, and all of the last */
} ld_grow;

/* A new last piece. */
ld_status ld_grow_more(ld_grow *g);

static inline ld_status ld_grow_push(ld_grow *g, ld_cell cell)
{
    if (!g->last || g->last->at == g->last->end) {
        ld_status st = ld_grow_more(g);
        if (st != LD_OK)
            return st;
    }
    *g->last->at++ = cell;
    return LD_OK;
}

/* How many cells there are. */
static inline int64_t ld_grow_count(const ld_grow *g)
{
    return g->last ? g->count - (g->last->end - g->last->at) : 0;
}

/* The cells as a vector, or as a matrix of n_cols columns (0: a vector); g is empty after that. */
ld_status ld_grow_index(ld_index **out, ld_grow *g);
ld_status ld_grow_tensor(ld_tensor **out, ld_grow *g, int64_t n_cols);

void ld_grow_clear(ld_grow *g);

#endif

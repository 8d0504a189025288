/* Arrays of int32 or float whose length is not known before the last element. How much of the file
 * has been read says how long they will become, so they are hardly ever copied, and the array that
 * was filled is the result: little more is held than that. */
#ifndef LD_IO_GROW_H
#define LD_IO_GROW_H

#include <stdint.h>

#include "base/memory.h"
#include "tensor/index.h"
#include "tensor/tensor.h"

typedef union {
    int32_t id;
    float number;
} ld_cell;

/* All zeros is an empty one. */
typedef struct {
    ld_cell *cells;
    int64_t count, room;
} ld_grow;

/* Makes room, where `share` of the file (0 .. 1) holds the cells that there are. */
ld_status ld_grow_more(ld_grow *g, double share, ld_memory_tag tag);

/* The cells as a vector, or as a matrix of n_cols columns (0: a vector); g is empty after that. */
ld_status ld_grow_index(ld_index **out, ld_grow *g);
ld_status ld_grow_tensor(ld_tensor **out, ld_grow *g, int64_t n_cols);

/* The cells, at least one, as a block that is given back with ld_free; g is empty after that. */
void *ld_grow_block(ld_grow *g);

void ld_grow_clear(ld_grow *g);

#endif

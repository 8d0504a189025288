/* Arrays of int32 or float that grow while a file is read. How much of the file has been read tells
 * how long they will become, so they are hardly ever copied, and the array that was filled is the
 * result: little more memory is held than that. */
#ifndef LD_IO_GROW_H
#define LD_IO_GROW_H

#include <stdint.h>

#include "memory/memory.h"
#include "tensor/index.h"
#include "tensor/tensor.h"

typedef union {
    int32_t id;
    float number;
} ld_cell;

/* A growing array; all zeros is an empty one. */
typedef struct {
    ld_cell *cells;
    int64_t count, room;
} ld_grow;

/* Makes room for so many more cells, where `share` of the file (0 .. 1) holds them and those that
 * there are. */
ld_status ld_grow_more(ld_grow *g, int64_t more, double share, ld_memory_tag tag);

/* Give the cells as a vector, or as a matrix of n_cols columns (0: a vector); g is empty after
 * that. */
ld_status ld_grow_index(ld_index **out, ld_grow *g);
ld_status ld_grow_tensor(ld_tensor **out, ld_grow *g, int64_t n_cols);

/* Returns the cells, at least one, as a block that is freed with ld_free; g is empty after that. */
void *ld_grow_block(ld_grow *g);

void ld_grow_clear(ld_grow *g);

#endif

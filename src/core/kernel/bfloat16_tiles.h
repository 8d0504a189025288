/* The two steps of a product in bfloat16, for each kind of vector units that has instructions for
 * it: bringing 16 rows of a factor into tiles, and multiplying tiles. */
#ifndef LD_KERNEL_BFLOAT16_TILES_H
#define LD_KERNEL_BFLOAT16_TILES_H

#include <stdbool.h>
#include <stdint.h>

/* The sizes of tiles. A tile has 16 lines of 32 numbers. In a tile of the left factor a line has 32
 * consecutive terms of a row. In one of the right factor a line has two terms of all columns: first
 * both of column 0, then of column 1. A panel is 16 rows (of the left) or columns (of the right),
 * tile behind tile along the sums. */
enum {
    LD_TILE_LINES = 16,
    LD_TILE_TERMS = 32,
    LD_TILE_SIZE = LD_TILE_LINES * LD_TILE_TERMS,
    LD_TILE_PAIR = 2 * LD_TILE_LINES /* rows or columns of two panels */
};

/* The numbers from which a tile is filled: `lines` runs of `length` numbers each, the runs `stride`
 * apart. With terms_together a run has the consecutive terms of one row (of the left factor) or
 * column (of the right one), otherwise one term of consecutive rows or columns. `right` says which
 * factor it is. What is missing in the tile becomes 0. */
typedef struct {
    const float *from;
    int64_t stride;
    int lines, length;
    bool terms_together, right;
} ld_tile_source;

typedef struct {
    const char *name;
    void (*fill)(uint16_t *tile, const ld_tile_source *source);
    /* Sets c, at most 32 x 32 and `stride` wide, to the product of two panels and two, `left` and
     * `right`, of so many tiles each; or adds it to c. */
    void (*multiply)(float *c, int64_t stride, int rows, int cols, bool accumulate,
                     const uint16_t *left, const uint16_t *right, int64_t tiles);
} ld_tile_units;

/* Returns the steps for this processor's units, which ld_bfloat16_units names; NULL without
 * units. */
const ld_tile_units *ld_tile_units_in_use(void);

#endif

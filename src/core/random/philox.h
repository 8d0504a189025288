/* Many blocks of Philox at once, for loops that draw for every element: the numbers of
 * ld_philox. */
#ifndef LD_RANDOM_PHILOX_H
#define LD_RANDOM_PHILOX_H

#include "random/rng.h"

/* The number of blocks that are made side by side. */
enum { LD_PHILOX_LANES = 64 };

/* Makes the blocks of the positions from `first` on, word by word: word w of block i is words[w *
 * LD_PHILOX_LANES + i]. */
void ld_philox_lanes(uint32_t words[4 * LD_PHILOX_LANES], ld_stream s, uint64_t first);

#endif

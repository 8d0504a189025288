/* Many blocks of Philox at once, for loops that draw for every element: the numbers of ld_philox. */
#ifndef LD_BASE_PHILOX_H
#define LD_BASE_PHILOX_H

#include "base/rng.h"

/* The blocks that are made side by side. */
enum { LD_PHILOX_LANES = 64 };

/* The blocks of the positions from `first` on, word by word: word w of block i is
 * words[w * LD_PHILOX_LANES + i]. */
void ld_philox_lanes(uint32_t words[4 * LD_PHILOX_LANES], ld_stream s, uint64_t first);

#endif

/* Draws of exactly k of n positions with inclusion probabilities that are given: position i is drawn
 * with probability pi[i], from 0 to 1. These sum to k, but for rounding. The three rules differ in which
 * positions are drawn together.
 *
 * `pick` has room for k positions, which ascend. Everything random is a function of the stream. All fail
 * with LD_CANCELLED and, for want of memory, with LD_NOMEM alone. */
#ifndef LD_KERNEL_FIXED_SIZE_H
#define LD_KERNEL_FIXED_SIZE_H

#include <stdint.h>

#include "base/status.h"
#include "random/rng.h"

/* Systematic: lays the probabilities end to end and takes the position at every point u, u + 1, and so
 * on, with one random number u for all (Madow 1949). Neighbours are hardly ever drawn together. */
ld_status ld_systematic(int32_t *pick, const double *pi, int64_t n, int64_t k, ld_stream stream);

/* Ordered pivotal: position after position meets the one that is left of those before it, and the two
 * settle which of them takes on as much probability as fits, so that one is in or out (Deville and Tille
 * 1998). Neighbours are seldom drawn together. Position i decides by the number at i of the stream. */
ld_status ld_pivotal(int32_t *pick, const double *pi, int64_t n, int64_t k, ld_stream stream);

/* Sampford: of all sets s of k positions, each with a probability in proportion to (k - the sum of pi
 * over s) times the product of pi / (1 - pi) over s (Sampford 1967). The order of the positions does not
 * matter. Made by trying until a draw is one of k positions; see fixed_size.c for how often. */
ld_status ld_sampford(int32_t *pick, const double *pi, int64_t n, int64_t k, ld_stream stream);

#endif

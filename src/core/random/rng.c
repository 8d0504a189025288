#include "random/rng.h"

/* Sub-streams of ordinary calls count up from 0; those of ld_rng_at and of forking have their own
 * top bits, so the three never meet. */
static const uint64_t SHARED = (uint64_t)1 << 63, FORK = (uint64_t)1 << 62;

ld_rng ld_rng_seed(uint64_t seed)
{
    ld_stream s = {.key = seed, .id = FORK | SHARED};
    return (ld_rng){.key = ld_random_bits(s, 0)};
}

ld_rng ld_rng_fork(const ld_rng *rng, uint64_t k)
{
    ld_stream s = {.key = rng->key, .id = FORK};
    return (ld_rng){.key = ld_random_bits(s, k)};
}

ld_rng ld_rng_at(const ld_rng *rng, uint64_t k)
{
    return (ld_rng){.key = rng->key, .next = SHARED | (k & ~FORK), .fixed = true};
}

ld_stream ld_rng_next(ld_rng *rng)
{
    ld_stream s = {.key = rng->key, .id = rng->next};
    if (!rng->fixed)
        rng->next++;
    return s;
}

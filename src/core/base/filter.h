/* A first look at whether an id is in a set: a bitmap small enough for the nearest cache, in which
 * ids that differ by a multiple of its size share a bit. "No" is certain, "maybe" must be looked up
 * (marker.h); with sets of a few thousand ids few lookups are in vain. */
#ifndef LD_BASE_FILTER_H
#define LD_BASE_FILTER_H

#include <stdbool.h>
#include <stdint.h>

enum { LD_FILTER_BITS = 1 << 17 };

typedef struct {
    uint64_t words[LD_FILTER_BITS / 64];
} ld_filter;

static inline void ld_filter_add(ld_filter *f, int32_t id)
{
    f->words[(uint32_t)id % LD_FILTER_BITS / 64] |= (uint64_t)1 << id % 64;
}

/* A word whose lowest bit says whether the id may be in the set; of several they can be united first. */
static inline uint64_t ld_filter_shifted(const ld_filter *f, int32_t id)
{
    return f->words[(uint32_t)id % LD_FILTER_BITS / 64] >> id % 64;
}

static inline bool ld_filter_maybe(const ld_filter *f, int32_t id)
{
    return ld_filter_shifted(f, id) & 1;
}

#endif

/* A filter that quickly tells which ids may be in a set: a bitmap small enough for the nearest
 * cache, in which ids that differ by a multiple of its size share a bit. "No" is certain, "maybe"
 * must be looked up (graph/marker.h); with sets of a few thousand ids few lookups are in vain. */
#ifndef LD_KERNEL_FILTER_H
#define LD_KERNEL_FILTER_H

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

/* Returns a word whose lowest bit says if the id may be in the set. The words of several ids can be
 * united before that bit is looked at. */
static inline uint64_t ld_filter_shifted(const ld_filter *f, int32_t id)
{
    return f->words[(uint32_t)id % LD_FILTER_BITS / 64] >> id % 64;
}

static inline bool ld_filter_maybe(const ld_filter *f, int32_t id)
{
    return ld_filter_shifted(f, id) & 1;
}

enum { LD_FILTER_BLOCK = 128 };

/* Gives the positions, in order, of those of ids[0 .. n-1], 0 < n <= LD_FILTER_BLOCK, that may be
 * in the set, in `at`, which has room for LD_FILTER_BLOCK. Returns how many there are. */
int ld_filter_scan(int32_t *at, const int32_t *ids, int n, const ld_filter *filter);

#endif

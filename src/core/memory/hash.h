/* A 64-bit hash of bytes for comparing results bit by bit (not for adversaries). */
#ifndef LD_MEMORY_HASH_H
#define LD_MEMORY_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum { LD_HASH_SEED = 0x2545F491, LD_HASH_LANES = 4 };

/* Mixes one word into a hash (the finaliser of splitmix64). */
static inline uint64_t ld_hash_word(uint64_t hash, uint64_t word)
{
    uint64_t z = (hash ^ word) + 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* The lanes of a hash. Words go to several lanes in turn, since a step of one lane waits for the
 * one before. */
typedef struct ld_hash_lanes {
    uint64_t lane[LD_HASH_LANES];
} ld_hash_lanes;

/* Continues `hash` over all lanes. */
static inline uint64_t ld_hash_join(uint64_t hash, const ld_hash_lanes *lanes)
{
    for (int i = 0; i < LD_HASH_LANES; i++)
        hash = ld_hash_word(hash, lanes->lane[i]);
    return hash;
}

/* The type of functions that hash the items begin .. end-1 of the object at ctx. */
typedef uint64_t ld_hash_fn(const void *ctx, int64_t begin, int64_t end);

/* Continues `hash` over n items in chunks, in parallel; chunks depend on n alone. LD_CANCELLED on
 * Ctrl-C. */
ld_status ld_hash_items(uint64_t *hash, int64_t n, ld_hash_fn *fn, const void *ctx);

/* The type of functions that give `size` bytes of the object at ctx from byte `first` on: in place,
 * or written to `buffer`. */
typedef const void *ld_hash_read_fn(const void *ctx, size_t first, size_t size, void *buffer);

/* Continues `hash` over `size` bytes that a function gives some at a time, multiples of
 * LD_HASH_READ except at the end, as if they lay in memory. `forget` (NULL: nothing) is told of
 * longer runs of them, begin .. end-1, that are not read again. */
enum { LD_HASH_READ = 1 << 12 };
ld_status ld_hash_given(uint64_t *hash, size_t size, ld_hash_read_fn *read,
                        void (*forget)(const void *ctx, size_t begin, size_t end), const void *ctx);

/* Continues `hash` over a run of bytes. */
ld_status ld_hash_bytes(uint64_t *hash, const void *bytes, size_t size);

#endif

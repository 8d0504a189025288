/* A 64-bit hash of bytes for comparing results bit by bit (not for adversaries). */
#ifndef LD_BASE_HASH_H
#define LD_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { LD_HASH_SEED = 0x2545F491 };

/* Mixes one word into a hash (the finaliser of splitmix64). */
static inline uint64_t ld_hash_word(uint64_t hash, uint64_t word)
{
    uint64_t z = (hash ^ word) + 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* Continues `hash` over a run of bytes. */
static inline uint64_t ld_hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
    const char *p = bytes;
    uint64_t word;
    for (; size >= sizeof word; p += sizeof word, size -= sizeof word) {
        memcpy(&word, p, sizeof word);
        hash = ld_hash_word(hash, word);
    }
    word = size;
    if (size > 0)
        memcpy(&word, p, size);
    return ld_hash_word(hash, word);
}

#endif

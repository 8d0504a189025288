/* Counter-based random numbers: Philox4x32-10 (Salmon et al., "Parallel Random Numbers: As Easy as
 * 1, 2, 3", SC 2011). A draw is a pure function of (key, sub-stream, position), so results do not
 * depend on threads, time or the order in which draws are made.
 *
 * An ld_rng is a key and a count of calls: each call of a primitive takes the next sub-stream.
 * Forking is pure. */
#ifndef LD_RANDOM_RNG_H
#define LD_RANDOM_RNG_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct {
    uint64_t key;
    uint64_t next; /* sub-stream of the next call */
    bool fixed;    /* made by ld_rng_at: every call sees the same sub-stream */
} ld_rng;

/* A sub-stream: 2^64 positions of 128 random bits each. */
typedef struct {
    uint64_t key, id;
} ld_stream;

/* Returns the generator of a seed. Different seeds give unrelated generators. */
ld_rng ld_rng_seed(uint64_t seed);

/* Returns the k-th child, which depends on the key and k alone, not on the calls made so far. */
ld_rng ld_rng_fork(const ld_rng *rng, uint64_t k);

/* Returns a generator that gives every call the same sub-stream k, for draws shared on purpose. */
ld_rng ld_rng_at(const ld_rng *rng, uint64_t k);

/* Returns the sub-stream of this call. */
ld_stream ld_rng_next(ld_rng *rng);

/* Philox's multipliers and the increments of its key. */
#define LD_PHILOX_M0 0xD2511F53u
#define LD_PHILOX_M1 0xCD9E8D57u
#define LD_PHILOX_W0 0x9E3779B9u
#define LD_PHILOX_W1 0xBB67AE85u

/* Gives 128 random bits. */
static inline void ld_philox(uint32_t out[4], ld_stream s, uint64_t position)
{
    uint32_t c0 = (uint32_t)position, c1 = (uint32_t)(position >> 32);
    uint32_t c2 = (uint32_t)s.id, c3 = (uint32_t)(s.id >> 32);
    uint32_t k0 = (uint32_t)s.key, k1 = (uint32_t)(s.key >> 32);
    for (int round = 0; round < 10; round++) {
        uint64_t a = (uint64_t)LD_PHILOX_M0 * c0, b = (uint64_t)LD_PHILOX_M1 * c2;
        c0 = (uint32_t)(b >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)b;
        c2 = (uint32_t)(a >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)a;
        k0 += LD_PHILOX_W0;
        k1 += LD_PHILOX_W1;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

/* Returns 64 random bits. */
static inline uint64_t ld_random_bits(ld_stream s, uint64_t position)
{
    uint32_t r[4];
    ld_philox(r, s, position);
    return (uint64_t)r[1] << 32 | r[0];
}

/* Returns a number of the open interval (0, 1) with 53 bits, made of 64 random bits. */
static inline double ld_uniform_of_bits(uint64_t bits)
{
    return ((double)(int64_t)(bits >> 12) + 0.5) * 0x1p-52;
}

/* Returns a uniform number of the open interval (0, 1). */
static inline double ld_random_uniform(ld_stream s, uint64_t position)
{
    return ld_uniform_of_bits(ld_random_bits(s, position));
}

__extension__ typedef unsigned __int128 ld_uint128;

/* Returns a uniform number of 0 .. n-1, n > 0 (Lemire's multiplication; the bias is below n /
 * 2^64). */
static inline uint64_t ld_random_below(ld_stream s, uint64_t position, uint64_t n)
{
    return (uint64_t)((ld_uint128)ld_random_bits(s, position) * n >> 64);
}

/* Returns a standard normal number, made of 128 random bits (Box-Muller). */
static inline double ld_normal_of_bits(uint64_t first, uint64_t second)
{
    double u = ld_uniform_of_bits(first), v = ld_uniform_of_bits(second);
    return sqrt(-2.0 * log(u)) * cos(6.283185307179586 * v);
}

/* Returns a standard normal number. */
static inline double ld_random_normal(ld_stream s, uint64_t position)
{
    uint32_t r[4];
    ld_philox(r, s, position);
    return ld_normal_of_bits((uint64_t)r[1] << 32 | r[0], (uint64_t)r[3] << 32 | r[2]);
}

#endif

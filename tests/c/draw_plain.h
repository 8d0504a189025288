/* Plain versions of the kernels of keys.h, row_draw.h and poisson_keep.h, written without regard to
 * their cost: tests hold the kernels to them. `out` has room for the entries of the row. */
#ifndef TESTS_DRAW_PLAIN_H
#define TESTS_DRAW_PLAIN_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "kernel/keys.h"
#include "kernel/poisson_keep.h"
#include "kernel/row_draw.h"
#include "random/rng.h"

/* Returns the 64 random bits of draw i of a row. */
static inline uint64_t ld_row_bits_plain(ld_row_rng rng, int64_t i)
{
    uint32_t r[4];
    ld_philox(r, rng.stream, rng.first + (uint64_t)i / 2);
    return i % 2 == 0 ? (uint64_t)r[1] << 32 | r[0] : (uint64_t)r[3] << 32 | r[2];
}

/* Plain ld_row_uniform: Floyd's k of 0 .. d-1, that is, a number of 0 .. j for j = d - k .. d - 1,
 * and j itself where it was drawn before. */
static inline int64_t ld_row_uniform_plain(ld_row_draw *out, int64_t d, int64_t k, ld_row_rng rng,
                                           bool count)
{
    bool *drawn = (bool *)(out + d); /* d more bytes behind the draws */
    int64_t n = 0;
    for (int64_t at = 0; at < d; at++)
        drawn[at] = false;
    for (int64_t j = d - k, i = 0; j < d; j++, i++) {
        uint64_t bits = ld_row_bits_plain(rng, i);
        int64_t t = (int64_t)((ld_uint128)bits * (uint64_t)(j + 1) >> 64);
        drawn[drawn[t] ? j : t] = true;
    }
    for (int64_t at = 0; at < d; at++)
        if (drawn[at])
            out[n++] = ld_row_draw_of(at, count ? 1.0 : (double)d / (double)k);
    return n;
}

/* Returns the entry that a random number falls on: uniformly without p, otherwise by the running
 * sums of p. */
static inline int64_t ld_row_entry_plain(uint64_t bits, int64_t d, const float *p, double total)
{
    double target = (double)(bits >> 11) * 0x1p-53 * total, sum = 0;
    int64_t last = -1;
    if (!p)
        return (int64_t)((ld_uint128)bits * (uint64_t)d >> 64);
    for (int64_t at = 0; at < d; at++) {
        sum += p[at];
        last = p[at] > 0 ? at : last;
        if (sum > target)
            return at;
    }
    return last; /* rounding may lift the target to the total */
}

/* Plain ld_row_repeated: k draws with replacement. */
static inline int64_t ld_row_repeated_plain(ld_row_draw *out, int64_t d, int64_t k, ld_row_rng rng,
                                            bool count, const float *p, double total)
{
    int64_t n = 0;
    for (int64_t at = 0; at < d; at++) {
        int64_t times = 0;
        for (int64_t i = 0; i < k; i++)
            times += ld_row_entry_plain(ld_row_bits_plain(rng, i), d, p, total) == at;
        double weight = (p ? total / p[at] : (double)d) / (double)k;
        if (times > 0)
            out[n++] = ld_row_draw_of(at, count ? (double)times : (double)times * weight);
    }
    return n;
}

/* Returns the key of position i: ld_smallest_keys takes the k smallest, and never those of p =
 * 0. */
static inline double ld_key_plain(const float *p, int64_t i, const ld_stream *stream,
                                  uint64_t first)
{
    double e = stream ? -log(ld_random_uniform(*stream, first + (uint64_t)i)) : 1.0;
    return p[i] > 0 ? e / p[i] : (double)INFINITY;
}

/* Plain ld_debias: the weights of Chen et al. by their recursion over the draws. */
static inline void ld_debias_plain(ld_draw *draws, int64_t k, int64_t support, const float *p,
                                   double rest)
{
    double left = rest, n = (double)support;
    for (int64_t i = 0; i < k; i++)
        left += p[draws[i].at];
    for (int64_t i = 0; i < k; i++) {
        double a = n / (((double)i + 1) * (n - (double)i)), mass = p[draws[i].at];
        for (int64_t j = 0; j < i; j++)
            draws[j].value = (1 - a) * draws[j].value + a;
        draws[i].value = a * left / mass;
        left -= mass;
    }
}

/* Plain ld_poisson_keep: looks at one entry at a time. */
static inline int64_t ld_poisson_keep_plain(ld_row_draw *out, const ld_poisson_rule *rule,
                                            const int32_t *columns, int64_t n, double c,
                                            int64_t first, uint64_t at)
{
    int64_t kept = 0;
    for (int64_t j = 0; j < n; j++) {
        int32_t u = columns[j];
        double q = rule->pi ? c * rule->pi[u] : c;
        uint64_t position = rule->shared ? (uint64_t)u : at + (uint64_t)j;
        double r = rule->r ? rule->r[u] : ld_random_uniform(rule->stream, position);
        if (q >= 1.0 || r <= q)
            out[kept++] = ld_row_draw_of(first + j, q < 1.0 ? 1.0 / q : 1.0);
    }
    return kept;
}

#endif

/* Draws from the entries of one row. Uniform draws without replacement are Floyd's (Bentley and
 * Floyd 1987): for j = d - k .. d - 1 a number t of 0 .. j, and j itself when t was drawn before.
 * The set is kept in ascending order where it lies while it is small; otherwise it is a bitmap,
 * from which it comes out in that order. Draws with replacement are random fractions, sorted: in
 * that order they meet the entries of a row, or their running sums, in one pass. */
#include "kernel/row_draw.h"

#include <float.h>
#include <string.h>

#include "base/sort.h"

enum { FEW = 16 };

/* Gives numbers 2i and 2i + 1 of 64 bits of a row. */
static void random_pair(uint64_t pair[2], ld_row_rng rng, int64_t i)
{
    uint32_t r[4];
    ld_philox(r, rng.stream, rng.first + (uint64_t)i);
    pair[0] = (uint64_t)r[1] << 32 | r[0];
    pair[1] = (uint64_t)r[3] << 32 | r[2];
}

/* Returns the element of 0 .. n-1 at the fraction bits / 2^64. */
static int64_t scaled(uint64_t bits, int64_t n)
{
    return (int64_t)((ld_uint128)bits * (uint64_t)n >> 64);
}

int64_t ld_row_all(ld_row_draw *out, int64_t d)
{
    for (int64_t at = 0; at < d; at++)
        out[at] = ld_row_draw_of(at, 1.0);
    return d;
}

/* Returns the i-th of Floyd's k numbers of 0 .. d-1, if it has not been drawn yet. */
static int64_t floyd(uint64_t pair[2], int64_t i, int64_t d, int64_t k, ld_row_rng rng)
{
    if (i % 2 == 0)
        random_pair(pair, rng, i / 2);
    return scaled(pair[i % 2], d - k + i + 1);
}

static void draw_few(ld_row_draw *out, int64_t d, int64_t k, ld_row_rng rng, double weight)
{
    uint64_t pair[2];
    for (int64_t i = 0; i < k; i++) {
        int64_t t = floyd(pair, i, d, k, rng), to = i;
        for (int64_t j = 0; j < i; j++)
            if (ld_row_draw_at(out[j]) == t)
                t = d - k + i;
        for (; to > 0 && ld_row_draw_at(out[to - 1]) > t; to--)
            out[to] = out[to - 1];
        out[to] = ld_row_draw_of(t, weight);
    }
}

int64_t ld_row_uniform(ld_row_draw *out, int64_t d, int64_t k, ld_row_rng rng, bool count,
                       uint64_t *words)
{
    int64_t n_words = (d + 63) / 64, drawn = 0;
    uint64_t pair[2];
    double weight = count ? 1.0 : (double)d / (double)k;
    if (k <= FEW) {
        draw_few(out, d, k, rng, weight);
        return k;
    }
    memset(words, 0, (size_t)n_words * sizeof *words);
    for (int64_t i = 0; i < k; i++) {
        int64_t t = floyd(pair, i, d, k, rng);
        if (words[t / 64] >> t % 64 & 1)
            t = d - k + i;
        words[t / 64] |= (uint64_t)1 << t % 64;
    }
    for (int64_t i = 0; i < n_words; i++)
        for (uint64_t word = words[i]; word; word &= word - 1)
            out[drawn++] = ld_row_draw_of(i * 64 + __builtin_ctzll(word), weight);
    return drawn;
}

int64_t ld_row_repeated(ld_row_draw *out, int64_t d, int64_t k, ld_row_rng rng, bool count,
                        const float *p, double total)
{
    int64_t n = 0, at = 0, last = d - 1;
    uint64_t pair[2];
    for (int64_t i = 0; i < k; i += 2) {
        random_pair(pair, rng, i / 2);
        out[i] = pair[0];
        if (i + 1 < k)
            out[i + 1] = pair[1];
    }
    ld_sort_uint64(out, k);
    while (p && p[last] == 0.0f)
        last--;
    double sum = p ? p[0] : 0.0;
    for (int64_t i = 0, drawn = -1, times = 0; i < k; i++) {
        if (p) {
            double target = (double)(out[i] >> 11) * 0x1p-53 * total;
            while (sum <= target && at < last) /* rounding may lift the target to the total */
                sum += p[++at];
        } else {
            at = scaled(out[i], d);
        }
        times = at == drawn ? times + 1 : 1;
        n += at != drawn;
        drawn = at;
        double weight = (double)times;
        if (!count)
            weight *= (p ? total / p[at] : (double)d) / (double)k;
        if (weight > FLT_MAX)
            return -1;
        out[n - 1] = ld_row_draw_of(at, weight); /* at or before place i, which has been read */
    }
    return n;
}

ld_status ld_row_successive(ld_row_draw *out, int64_t *drawn, int64_t d, int64_t k, ld_row_rng rng,
                            const float *p, double total, int64_t support, bool debias, bool count,
                            ld_draw *keys)
{
    double rest;
    *drawn = 0;
    if (k >= support) {
        for (int64_t at = 0; at < d; at++)
            if (p[at] > 0.0f)
                out[(*drawn)++] = ld_row_draw_of(at, 1.0);
        return LD_OK;
    }
    if (k == 0)
        return LD_OK;
    LD_CHECK(ld_smallest_keys(keys, &rest, p, d, k, &rng.stream, rng.first));
    if (debias)
        ld_debias(keys, k, support, p, rest);
    for (int64_t i = 0; i < k; i++) {
        double weight = count ? 1.0 : debias ? keys[i].value : total / ((double)k * p[keys[i].at]);
        if (weight > FLT_MAX) {
            *drawn = -1;
            return LD_OK;
        }
        out[i] = ld_row_draw_of(keys[i].at, weight);
    }
    ld_sort_uint64(out, k);
    *drawn = k;
    return LD_OK;
}

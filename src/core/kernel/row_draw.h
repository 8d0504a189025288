/* Draws from the entries 0 .. d-1 of one row (sample/rows.h has the methods). */
#ifndef LD_SAMPLE_ROW_DRAW_H
#define LD_SAMPLE_ROW_DRAW_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/status.h"
#include "kernel/keys.h"
#include "random/rng.h"

/* An entry that was drawn: its position in the row above, its weight below, so that draws are
 * sorted as numbers. */
typedef uint64_t ld_row_draw;

static inline ld_row_draw ld_row_draw_of(int64_t at, double weight)
{
    float w = (float)weight;
    uint32_t bits;
    memcpy(&bits, &w, sizeof bits);
    return (uint64_t)at << 32 | bits;
}

static inline int32_t ld_row_draw_at(ld_row_draw d)
{
    return (int32_t)(d >> 32);
}

static inline float ld_row_draw_weight(ld_row_draw d)
{
    uint32_t bits = (uint32_t)d;
    float w;
    memcpy(&w, &bits, sizeof w);
    return w;
}

/* The random numbers of a row: from position `first` of a sub-stream on. */
typedef struct {
    ld_stream stream;
    uint64_t first;
} ld_row_rng;

/* All functions return how many entries they wrote to `out`, in ascending order, or -1 when a
 * weight passes float32. With `count`, weights are the numbers of draws. */

/* Takes all d entries with weight 1. */
int64_t ld_row_all(ld_row_draw *out, int64_t d);

/* Draws k < d entries without replacement; `words` has room for d bits. */
int64_t ld_row_uniform(ld_row_draw *out, int64_t d, int64_t k, ld_row_rng rng, bool count,
                       uint64_t *words);

/* Makes k draws with replacement, in proportion to p with the given sum or uniformly when p is
 * NULL; `out` has room for k. */
int64_t ld_row_repeated(ld_row_draw *out, int64_t d, int64_t k, ld_row_rng rng, bool count,
                        const float *p, double total);

/* Makes k draws in proportion to p without replacement, with room for k keys. p is positive in
 * `support` places. */
ld_status ld_row_successive(ld_row_draw *out, int64_t *drawn, int64_t d, int64_t k, ld_row_rng rng,
                            const float *p, double total, int64_t support, bool debias, bool count,
                            ld_draw *keys);

#endif

/* Draws without replacement by exponential keys, for choice and sample_rows. */
#ifndef LD_SAMPLE_KEYS_H
#define LD_SAMPLE_KEYS_H

#include <stdint.h>

#include "base/status.h"
#include "random/rng.h"

/* A position that was drawn; `value` is its key while they are compared, then its weight. */
typedef struct {
    double value;
    int32_t at;
} ld_draw;

/* Fills u with `count` uniform numbers, at positions first, first + 1, ... of a sub-stream. */
void ld_fill_uniform(double *u, ld_stream s, uint64_t first, int64_t count);

/* Finds the k positions of smallest key among the n of p, ascending by key, in `draws`, which has
 * room for k; at least k elements of p must be positive. The keys are E_u / p_u with E_u made from
 * the uniforms at first + u of the stream, or 1 / p_u when `stream` is NULL. `rest` gets the sum of
 * p over all others. It can fail only with LD_CANCELLED. */
ld_status ld_smallest_keys(ld_draw *draws, double *rest, const float *p, int64_t n, int64_t k,
                           const ld_stream *stream, uint64_t first);

/* Computes the unbiased weights of k draws in draw order out of a support of `support` positions,
 * more than k, where `rest` is the sum of p over the positions that were not drawn. Chen et al.,
 * TMLR 2023. */
void ld_debias(ld_draw *draws, int64_t k, int64_t support, const float *p, double rest);

#endif

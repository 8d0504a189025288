/* Operations on segments: a segment is some rows of a matrix x of k columns, which are combined
 * column by column. The rows of segment s are members[offsets[s]] .. members[offsets[s + 1] - 1] of
 * x; a row may be in several segments, and come twice in one. The result of a segment without rows
 * is 0.
 *
 * All functions fail as ld_parallel_for does. Sums are made in double, in the order of the
 * members. */
#ifndef LD_KERNEL_SEGMENT_H
#define LD_KERNEL_SEGMENT_H

#include <stdint.h>

#include "base/status.h"

typedef struct {
    const int64_t *offsets; /* n + 1 */
    const int32_t *members;
    int64_t n;
} ld_segments;

/* y = the largest element of each segment and column, n x k, and best[s * k + j] its row of x, or
 * -1 where there is none: the first among equals. The first NaN counts as the largest. */
ld_status ld_segment_max(float *y, int32_t *best, ld_segments s, const float *x, int64_t k);

/* Computes mean and std, n x k: the means of the segments, and their standard deviations over all
 * members. */
ld_status ld_segment_std(float *mean, float *std, ld_segments s, const float *x, int64_t k);

/* Computes factor = g / (std * members), n x k, and 0 where std is 0: the gradient of every member
 * without its x - mean. */
ld_status ld_segment_std_factors(float *factor, const float *g, const float *std, ld_segments s,
                                 int64_t k);

/* Adds to dx[u] the sum over the segments of row u of factor * (x[u] - mean). The segments are
 * given transposed: row u of x is in segments of.members[of.offsets[u]] and so on. */
ld_status ld_segment_std_backward(float *dx, const float *factor, const float *mean, ld_segments of,
                                  const float *x, int64_t k);

#endif

#include "kernel/segment.h"

#include <math.h>
#include <string.h>

#include "kernel/chains.h"
#include "system/simd.h"
#include "system/threads.h"

enum { GRAIN = 64 /* segments, or rows */, COLS = 64 /* columns whose sums stay in a cache */ };

typedef struct {
    ld_segments s;
    const float *x;
    int64_t k;
    float *y, *mean;
    int32_t *best;
    const float *g, *std;
} segments;

/* --- the largest ------------------------------------------------------------------------------ */

LD_CLONES(largest)
{
    const segments *p = ctx;
    const int64_t k = p->k;
    for (int64_t r = begin; r < end; r++) {
        float *y = p->y + r * k;
        int32_t *best = p->best + r * k;
        int64_t e = p->s.offsets[r], last = p->s.offsets[r + 1];
        int32_t first = e < last ? p->s.members[e] : -1;
        if (e < last)
            memcpy(y, p->x + first * k, (size_t)k * sizeof *y);
        else
            memset(y, 0, (size_t)k * sizeof *y);
        for (int64_t j = 0; j < k; j++)
            best[j] = first;
        for (e++; e < last; e++) {
            const int32_t u = p->s.members[e];
            const float *x = p->x + u * k;
            LD_INDEPENDENT
            for (int64_t j = 0; j < k; j++) {
                bool larger = ((x[j] > y[j]) | (x[j] != x[j])) & (y[j] == y[j]);
                best[j] = larger ? u : best[j];
                y[j] = larger ? x[j] : y[j];
            }
        }
    }
}

ld_status ld_segment_max(float *y, int32_t *best, ld_segments s, const float *x, int64_t k)
{
    segments p = {.s = s, .x = x, .k = k, .y = y, .best = best};
    return ld_parallel_for(s.n, GRAIN, largest, &p);
}

/* --- mean and deviation ----------------------------------------------------------------------- */

/* Computes columns first .. first + count - 1 of segment r. */
static LD_INLINE void deviation_of(const segments *p, int64_t r, int64_t first, int64_t count)
{
    const int64_t begin = p->s.offsets[r], end = p->s.offsets[r + 1], k = p->k;
    const double n = end > begin ? (double)(end - begin) : 1;
    double mean[COLS] = {0}, sum[COLS] = {0};
    for (int64_t e = begin; e < end; e++) {
        const float *x = p->x + p->s.members[e] * k + first;
        for (int64_t j = 0; j < count; j++)
            mean[j] += x[j];
    }
    for (int64_t j = 0; j < count; j++)
        mean[j] /= n;
    for (int64_t e = begin; e < end; e++) {
        const float *x = p->x + p->s.members[e] * k + first;
        for (int64_t j = 0; j < count; j++) {
            double d = x[j] - mean[j];
            sum[j] += d * d;
        }
    }
    for (int64_t j = 0; j < count; j++) {
        p->mean[r * k + first + j] = (float)mean[j];
        p->y[r * k + first + j] = (float)sqrt(sum[j] / n);
    }
}

LD_CLONES(deviations)
{
    const segments *p = ctx;
    for (int64_t r = begin; r < end; r++)
        for (int64_t first = 0; first < p->k; first += COLS) {
            if (p->k - first >= COLS)
                deviation_of(p, r, first, COLS);
            else
                deviation_of(p, r, first, p->k - first);
        }
}

ld_status ld_segment_std(float *mean, float *std, ld_segments s, const float *x, int64_t k)
{
    segments p = {.s = s, .x = x, .k = k, .y = std, .mean = mean};
    return ld_parallel_for(s.n, GRAIN, deviations, &p);
}

LD_CLONES(std_factors)
{
    const segments *p = ctx;
    for (int64_t r = begin; r < end; r++) {
        const float n = (float)(p->s.offsets[r + 1] - p->s.offsets[r]);
        const float *g = p->g + r * p->k, *std = p->std + r * p->k;
        float *y = p->y + r * p->k;
        LD_INDEPENDENT
        for (int64_t j = 0; j < p->k; j++) {
            float factor = g[j] / (std[j] * n);
            y[j] = std[j] == 0 ? 0 : factor;
        }
    }
}

ld_status ld_segment_std_factors(float *factor, const float *g, const float *std, ld_segments s,
                                 int64_t k)
{
    segments p = {.s = s, .k = k, .y = factor, .g = g, .std = std};
    return ld_parallel_for(s.n, GRAIN, std_factors, &p);
}

/* Computes ld_segment_std_backward; g holds the factors. */
LD_CLONES(std_backward)
{
    const segments *p = ctx;
    const int64_t k = p->k;
    for (int64_t u = begin; u < end; u++)
        for (int64_t e = p->s.offsets[u]; e < p->s.offsets[u + 1]; e++) {
            const float *x = p->x + u * k, *g = p->g + p->s.members[e] * k;
            const float *mean = p->mean + p->s.members[e] * k;
            float *dx = p->y + u * k;
            LD_INDEPENDENT
            for (int64_t j = 0; j < k; j++)
                dx[j] += g[j] * (x[j] - mean[j]);
        }
}

ld_status ld_segment_std_backward(float *dx, const float *factor, const float *mean, ld_segments of,
                                  const float *x, int64_t k)
{
    segments p = {.s = of, .x = x, .k = k, .y = dx, .g = factor, .mean = (float *)mean};
    return ld_parallel_for(of.n, GRAIN, std_backward, &p);
}

/* Softmax over rows and segments. They are taken in blocks that stay in the nearest cache during
 * several passes: to subtract the largest elements, for all exponentials of a block at once, for
 * its sums, and to divide. */
#include "kernel/softmax.h"

#include <math.h>

#include "base/fastmath.h"
#include "kernel/chains.h"
#include "kernel/exponential.h"
#include "system/simd.h"
#include "system/threads.h"

enum {
    GRAIN = 64, /* rows or segments */
    BLOCK = 2 * LD_CHAINS,
    TOPS = 16, /* elements of a LONG row that are compared at once */
    LONG = 64,
    HEADS = 16,     /* columns of segments that are computed at once */
    USUAL_HEADS = 8 /* columns that loops are compiled for */
};

typedef struct {
    float *y;
    const float *x;
    const int64_t *offsets; /* of segments */
    int64_t k;              /* columns */
    bool of_log;
} forward;

static LD_INLINE float larger(float x, float top)
{
    return x > top ? x : top;
}

static LD_INLINE void exponentials(float *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = ld_exp_as_libm(y[i]);
}

/* --- rows ------------------------------------------------------------------------------------- */

/* Returns the largest of k > 0 elements; x[0] where that is NaN. Other NaNs are passed over. */
static LD_INLINE float top_of(const float *x, int64_t k)
{
    float tops[TOPS], top = x[0];
    int64_t whole = k < LONG ? 0 : k / TOPS * TOPS;
    for (int i = 0; i < TOPS; i++)
        tops[i] = top;
    for (int64_t j = 0; j < whole; j += TOPS)
        for (int i = 0; i < TOPS; i++)
            tops[i] = larger(x[j + i], tops[i]);
    for (int i = 0; whole > 0 && i < TOPS; i++)
        top = larger(tops[i], top);
    for (int64_t j = whole; j < k; j++)
        top = larger(x[j], top);
    return top;
}

/* At most BLOCK rows. */
static LD_INLINE void softmax_block(const forward *p, int64_t first, int64_t count, bool of_log)
{
    const float *x = p->x + first * p->k;
    float *y = p->y + first * p->k, tops[BLOCK];
    double sums[BLOCK];
    for (int64_t r = 0; r < count; r++) {
        float top = tops[r] = top_of(x + r * p->k, p->k);
        for (int64_t i = r * p->k; i < (r + 1) * p->k; i++)
            y[i] = x[i] - top;
    }
    exponentials(y, count * p->k);
    ld_sum_rows(sums, y, y, LD_VALUES, count, p->k);
    for (int64_t r = 0; r < count; r++) {
        const float *from = x + r * p->k, shift = of_log ? tops[r] + (float)log(sums[r]) : 0.0f;
        const double sum = sums[r];
        float *to = y + r * p->k;
        for (int64_t j = 0; j < p->k; j++)
            to[j] = of_log ? from[j] - shift : (float)(to[j] / sum);
    }
}

LD_CLONES(softmax)
{
    const forward *p = ctx;
    for (int64_t r = begin; r < end; r += BLOCK) {
        int64_t count = end - r < BLOCK ? end - r : BLOCK;
        if (p->of_log)
            softmax_block(p, r, count, true);
        else
            softmax_block(p, r, count, false);
    }
}

ld_status ld_softmax(float *y, const float *x, int64_t n_rows, int64_t n_cols, bool of_log)
{
    forward p = {.y = y, .x = x, .k = n_cols, .of_log = of_log};
    return ld_parallel_for(n_rows, GRAIN, softmax, &p);
}

typedef struct {
    float *dx;
    const float *dy, *y;
    const int64_t *offsets; /* of segments */
    int64_t k;
    bool of_log, accumulate;
} backward;

/* At most BLOCK rows. */
static LD_INLINE void gradient_block(const backward *p, int64_t first, int64_t count, bool of_log,
                                     bool add)
{
    const float *y = p->y + first * p->k, *dy = p->dy + first * p->k;
    float *dx = p->dx + first * p->k;
    double sums[BLOCK];
    ld_sum_rows(sums, of_log ? dy : y, dy, of_log ? LD_VALUES : LD_PRODUCTS, count, p->k);
    for (int64_t r = 0; r < count; r++) {
        float sum = (float)sums[r];
        LD_INDEPENDENT /* dx and dy may be the same memory */
        for (int64_t i = r * p->k; i < (r + 1) * p->k; i++) {
            float d = of_log ? dy[i] - ld_expf(y[i]) * sum : y[i] * (dy[i] - sum);
            dx[i] = add ? dx[i] + d : d;
        }
    }
}

LD_CLONES(softmax_backward)
{
    const backward *p = ctx;
    for (int64_t r = begin; r < end; r += BLOCK) {
        int64_t count = end - r < BLOCK ? end - r : BLOCK;
        if (p->accumulate && p->of_log)
            gradient_block(p, r, count, true, true);
        else if (p->accumulate)
            gradient_block(p, r, count, false, true);
        else if (p->of_log)
            gradient_block(p, r, count, true, false);
        else
            gradient_block(p, r, count, false, false);
    }
}

ld_status ld_softmax_backward(float *dx, const float *dy, const float *y, int64_t n_rows,
                              int64_t n_cols, bool of_log, bool accumulate)
{
    backward p = {
        .dx = dx, .dy = dy, .y = y, .k = n_cols, .of_log = of_log, .accumulate = accumulate};
    return ld_parallel_for(n_rows, GRAIN, softmax_backward, &p);
}

/* --- segments --------------------------------------------------------------------------------- */

/* Subtracts the largest element of a segment of one column, which is a row of its own length. */
static LD_INLINE void subtract_top(float *restrict y, const float *restrict x, int64_t n)
{
    float top = n > 0 ? top_of(x, n) : 0;
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i] == -INFINITY ? x[i] : x[i] - top;
}

static LD_INLINE void divide_by_sum(float *y, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += y[i];
    sum = sum == 0 ? 1 : sum; /* all are 0 */
    for (int64_t i = 0; i < n; i++)
        y[i] = (float)(y[i] / sum);
}

/* Subtracts the largest elements in `width` columns, at most HEADS, of n rows that begin every k
 * elements. */
static LD_INLINE void subtract_tops(float *restrict y, const float *restrict x, int64_t n,
                                    int64_t k, int64_t width)
{
    float tops[HEADS];
    for (int64_t i = 0; i < width; i++)
        tops[i] = -INFINITY;
    for (int64_t e = 0; e < n; e++)
        for (int64_t i = 0; i < width; i++)
            tops[i] = larger(x[e * k + i], tops[i]);
    for (int64_t e = 0; e < n; e++)
        for (int64_t i = 0; i < width; i++) {
            float v = x[e * k + i];
            y[e * k + i] = v == -INFINITY ? v : v - tops[i];
        }
}

static LD_INLINE void divide_by_sums(float *y, int64_t n, int64_t k, int64_t width)
{
    double sums[HEADS] = {0};
    for (int64_t e = 0; e < n; e++)
        for (int64_t i = 0; i < width; i++)
            sums[i] += y[e * k + i];
    for (int64_t i = 0; i < width; i++)
        sums[i] = sums[i] == 0 ? 1 : sums[i];
    for (int64_t e = 0; e < n; e++)
        for (int64_t i = 0; i < width; i++)
            y[e * k + i] = (float)(y[e * k + i] / sums[i]);
}

/* Computes dx = y * (dy - sum(y * dy)) of `width` columns. */
static LD_INLINE void gradient_of_segment(const backward *p, int64_t segment, int64_t j, int64_t k,
                                          int64_t width)
{
    const int64_t first = p->offsets[segment] * k + j, end = p->offsets[segment + 1] * k + j;
    double sums[HEADS] = {0};
    for (int64_t e = first; e < end; e += k)
        for (int64_t i = 0; i < width; i++)
            sums[i] += (double)p->y[e + i] * p->dy[e + i];
    for (int64_t e = first; e < end; e += k) {
        LD_INDEPENDENT /* dx and dy may be the same memory */
        for (int64_t i = 0; i < width; i++) {
            float d = (float)(p->y[e + i] * (p->dy[e + i] - sums[i]));
            p->dx[e + i] = p->accumulate ? p->dx[e + i] + d : d;
        }
    }
}

static LD_INLINE int64_t width_from(int64_t j, int64_t k)
{
    return k - j < HEADS ? k - j : HEADS;
}

static LD_INLINE void softmax_of_segments(const forward *p, int64_t begin, int64_t end, int64_t k)
{
    for (int64_t first = begin; first < end; first += BLOCK) {
        const int64_t last = end - first < BLOCK ? end : first + BLOCK;
        const int64_t *at = p->offsets;
        for (int64_t s = first; s < last; s++) {
            const float *x = p->x + at[s] * k;
            float *y = p->y + at[s] * k;
            if (k == 1)
                subtract_top(y, x, at[s + 1] - at[s]);
            else
                for (int64_t j = 0; j < k; j += HEADS)
                    subtract_tops(y + j, x + j, at[s + 1] - at[s], k, width_from(j, k));
        }
        exponentials(p->y + at[first] * k, (at[last] - at[first]) * k);
        for (int64_t s = first; s < last; s++) {
            float *y = p->y + at[s] * k;
            if (k == 1)
                divide_by_sum(y, at[s + 1] - at[s]);
            else
                for (int64_t j = 0; j < k; j += HEADS)
                    divide_by_sums(y + j, at[s + 1] - at[s], k, width_from(j, k));
        }
    }
}

LD_CLONES(segment_softmax)
{
    const forward *p = ctx;
    if (p->k == USUAL_HEADS)
        softmax_of_segments(p, begin, end, USUAL_HEADS);
    else
        softmax_of_segments(p, begin, end, p->k);
}

LD_CLONES(segment_softmax_backward)
{
    const backward *p = ctx;
    for (int64_t s = begin; s < end; s++) {
        if (p->k == 1)
            gradient_of_segment(p, s, 0, 1, 1);
        else
            for (int64_t j = 0; j < p->k; j += HEADS)
                gradient_of_segment(p, s, j, p->k, width_from(j, p->k));
    }
}

ld_status ld_segment_softmax(float *y, const float *x, const int64_t *offsets, int64_t n_segments,
                             int64_t k)
{
    forward p = {.y = y, .x = x, .offsets = offsets, .k = k};
    return ld_parallel_for(n_segments, GRAIN, segment_softmax, &p);
}

ld_status ld_segment_softmax_backward(float *dx, const float *dy, const float *y,
                                      const int64_t *offsets, int64_t n_segments, int64_t k,
                                      bool accumulate)
{
    backward p = {.dx = dx, .dy = dy, .y = y, .offsets = offsets, .k = k, .accumulate = accumulate};
    return ld_parallel_for(n_segments, GRAIN, segment_softmax_backward, &p);
}

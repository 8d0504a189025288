/* Segments of rows: their largest elements, means and deviations, and the gradients of these, each
 * against a loop over one element alone. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "check.h"
#include "kernel/segment.h"

static ld_segments segments_of(const sparse *s)
{
    return (ld_segments){s->a.offsets, s->a.columns, s->a.n_rows};
}

/* The largest of column j over segment r, and its row. */
static float plain_max(int32_t *best, const ld_segments *s, const float *x, int64_t k, int64_t r,
                       int64_t j)
{
    float top = 0;
    *best = -1;
    for (int64_t e = s->offsets[r]; e < s->offsets[r + 1]; e++) {
        float v = x[s->members[e] * k + j];
        if (*best < 0 || (!isnan(top) && (isnan(v) || v > top))) {
            top = v;
            *best = s->members[e];
        }
    }
    return top;
}

/* The standard deviation of column j over segment r, and the mean. */
static float plain_std(float *mean, const ld_segments *s, const float *x, int64_t k, int64_t r,
                       int64_t j)
{
    double sum = 0, squares = 0, n = (double)(s->offsets[r + 1] - s->offsets[r]);
    for (int64_t e = s->offsets[r]; e < s->offsets[r + 1]; e++)
        sum += x[s->members[e] * k + j];
    double m = n > 0 ? sum / n : 0;
    for (int64_t e = s->offsets[r]; e < s->offsets[r + 1]; e++) {
        double d = x[s->members[e] * k + j] - m;
        squares += d * d;
    }
    *mean = (float)m;
    return (float)(n > 0 ? sqrt(squares / n) : 0);
}

static void check_forward(const sparse *m, const float *x, int64_t k)
{
    const ld_segments s = segments_of(m);
    const int64_t size = s.n * k;
    float *y = new_floats(size, ORDINARY), *want = new_floats(size, ORDINARY);
    float *mean = new_floats(size, ORDINARY), *want_mean = new_floats(size, ORDINARY);
    int32_t *best = new_block(size, sizeof *best);
    int32_t *want_best = new_block(size, sizeof *want_best);
    ld_segment_max(y, best, s, x, k);
    for (int64_t i = 0; i < size; i++)
        want[i] = plain_max(&want_best[i], &s, x, k, i / k, i % k);
    check(same_floats(y, want, size), "the largest of %" PRId64 " x %" PRId64, s.n, k);
    check(memcmp(best, want_best, (size_t)size * sizeof *best) == 0,
          "where the largest are of %" PRId64 " x %" PRId64, s.n, k);
    ld_segment_std(mean, y, s, x, k);
    for (int64_t i = 0; i < size; i++)
        want[i] = plain_std(&want_mean[i], &s, x, k, i / k, i % k);
    check(same_floats(mean, want_mean, size), "means of %" PRId64 " x %" PRId64, s.n, k);
    check(same_floats(y, want, size), "deviations of %" PRId64 " x %" PRId64, s.n, k);
}

/* The segments that each row is in, as those of `m` the other way round, and dx by them. */
static void check_backward(const sparse *m, const float *x, int64_t k)
{
    const ld_segments s = segments_of(m);
    const int64_t n = s.n, n_rows = m->a.n_cols, size = n * k, nnz = s.offsets[n];
    float *g = new_floats(size, ORDINARY), *factor = new_floats(size, ORDINARY);
    float *mean = new_floats(size, ORDINARY), *std = new_floats(size, ORDINARY);
    float *dx = new_floats(n_rows * k, ORDINARY), *want = copy_floats(dx, n_rows * k);
    int64_t *offsets = new_block(n_rows + 1, sizeof *offsets);
    int32_t *members = new_block(nnz, sizeof *members);
    for (int64_t u = 0; u < n_rows; u++) {
        offsets[u + 1] = offsets[u];
        for (int64_t r = 0; r < n; r++)
            for (int64_t e = s.offsets[r]; e < s.offsets[r + 1]; e++)
                if (s.members[e] == u)
                    members[offsets[u + 1]++] = (int32_t)r;
    }
    ld_segment_std(mean, std, s, x, k);
    ld_segment_std_factors(factor, g, std, s, k);
    ld_segment_std_backward(dx, factor, mean, (ld_segments){offsets, members, n_rows}, x, k);
    for (int64_t i = 0; i < n_rows * k; i++)
        for (int64_t e = offsets[i / k]; e < offsets[i / k + 1]; e++) {
            int64_t at = members[e] * k + i % k, r = members[e];
            float count = (float)(s.offsets[r + 1] - s.offsets[r]);
            float d = g[at] / (std[at] * count);
            float product = (std[at] == 0 ? 0 : d) * (x[i] - mean[at]);
            want[i] += product;
        }
    check(same_floats(dx, want, n_rows * k), "gradients of deviations, %" PRId64 " x %" PRId64, n,
          k);
}

void test(void)
{
    static const int64_t shapes[][3] = {{0, 0, 3},  {5, 0, 2},   {1, 1, 1},    {70, 9, 1},
                                        {33, 7, 5}, {40, 9, 64}, {130, 20, 71}};
    for (int i = 0; i < (int)(sizeof shapes / sizeof *shapes); i++)
        for (int kind = ORDINARY; kind <= SPECIAL; kind++) {
            int64_t n_rows = shapes[i][0], n_cols = shapes[i][1], k = shapes[i][2];
            sparse s = sparse_new(n_rows, n_cols, n_cols ? 4 : 0, 0, ORDINARY);
            float *x = new_floats(n_cols * k, (numbers)kind);
            check_forward(&s, x, k);
            check_backward(&s, x, k);
        }
}

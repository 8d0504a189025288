/* Softmax of rows and of segments, its logarithm and their gradients, against loops over one row or one
 * column of a segment alone, with the C library's expf. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/fastmath.h"
#include "check.h"
#include "kernel/exponential.h"
#include "kernel/softmax.h"

/* Elements first, first + step, ... of x, n of them. */
static void plain_softmax(float *y, const float *x, int64_t first, int64_t n, int64_t step,
                          bool of_log, bool of_segment)
{
    float top = n > 0 && !of_segment ? x[first] : -INFINITY;
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        top = x[first + i * step] > top ? x[first + i * step] : top;
    for (int64_t i = 0; i < n; i++) {
        float v = x[first + i * step];
        y[first + i * step] = of_segment && v == -INFINITY ? 0 : ld_exp_as_libm(v - top);
        sum += y[first + i * step];
    }
    for (int64_t i = 0; i < n; i++) {
        float *to = &y[first + i * step];
        if (of_log)
            *to = x[first + i * step] - (top + (float)log(sum));
        else
            *to = sum == 0 ? 0 : (float)(*to / sum);
    }
}

static void plain_backward(float *dx, const float *dy, const float *y, int64_t first, int64_t n,
                           int64_t step, bool of_log, bool of_segment, bool accumulate)
{
    double total = 0;
    for (int64_t i = first; i < first + n * step; i += step)
        total += of_log ? dy[i] : (double)y[i] * dy[i];
    float sum = (float)total;
    for (int64_t i = first; i < first + n * step; i += step) {
        float d = of_segment ? (float)(y[i] * (dy[i] - total))
                  : of_log   ? dy[i] - ld_expf(y[i]) * sum
                             : y[i] * (dy[i] - sum);
        dx[i] = accumulate ? dx[i] + d : d;
    }
}

static void check_rows(const float *x, const float *dy, int64_t n, int64_t k)
{
    float *y = new_floats(n * k, ORDINARY), *want = new_floats(n * k, ORDINARY);
    float *dx = new_floats(n * k, ORDINARY), *want_dx = copy_floats(dx, n * k);
    for (int way = 0; way < 4; way++) {
        bool of_log = way & 1, accumulate = way & 2;
        ld_softmax(y, x, n, k, of_log);
        for (int64_t r = 0; r < n; r++)
            plain_softmax(want, x, r * k, k, 1, of_log, false);
        check(same_floats(y, want, n * k), "softmax of %" PRId64 " x %" PRId64 ", way %d", n, k,
              way);
        if (!accumulate) { /* dx may be dy */
            memcpy(dx, dy, (size_t)(n * k) * sizeof *dx);
            ld_softmax_backward(dx, dx, want, n, k, of_log, false);
        } else {
            ld_softmax_backward(dx, dy, want, n, k, of_log, true);
        }
        for (int64_t r = 0; r < n; r++)
            plain_backward(want_dx, dy, want, r * k, k, 1, of_log, false, accumulate);
        check(same_floats(dx, want_dx, n * k), "gradient of %" PRId64 " x %" PRId64 ", way %d", n,
              k, way);
    }
}

static void check_segments(int64_t n, int64_t most, int64_t k, numbers kind)
{
    int64_t *at = new_block(n, sizeof *at);
    at[0] = 0;
    for (int64_t s = 0; s < n; s++)
        at[s + 1] = at[s] + (s % 5 == 2 ? 0 : (int64_t)(next_bits() % (uint64_t)most));
    int64_t size = at[n] * k;
    float *x = new_floats(size, kind), *dy = new_floats(size, kind);
    float *y = new_floats(size, ORDINARY), *want = new_floats(size, ORDINARY);
    float *dx = new_floats(size, ORDINARY), *want_dx = copy_floats(dx, size);
    for (int64_t i = 0; n > 0 && i < at[1] * k; i++)
        x[i] = -INFINITY; /* a segment of nothing else */
    ld_segment_softmax(y, x, at, n, k);
    for (int64_t s = 0; s < n; s++)
        for (int64_t j = 0; j < k; j++)
            plain_softmax(want, x, at[s] * k + j, at[s + 1] - at[s], k, false, true);
    check(same_floats(y, want, size), "%" PRId64 " segments of %" PRId64 " columns", n, k);
    for (int accumulate = 1; accumulate >= 0; accumulate--) {
        if (accumulate) {
            ld_segment_softmax_backward(dx, dy, want, at, n, k, true);
        } else { /* dx may be dy */
            memcpy(dx, dy, (size_t)size * sizeof *dx);
            ld_segment_softmax_backward(dx, dx, want, at, n, k, false);
        }
        for (int64_t s = 0; s < n; s++)
            for (int64_t j = 0; j < k; j++)
                plain_backward(want_dx, dy, want, at[s] * k + j, at[s + 1] - at[s], k, false, true,
                               accumulate);
        check(same_floats(dx, want_dx, size), "gradient of %" PRId64 " segments", n);
    }
}

/* The exponential of every 911th float, and of those next to where it becomes 0, denormal or infinite,
 * is within one unit of the last place of the number in double; so the C library's would be. */
static void check_exponential(void)
{
    static const float bounds[] = {-0x1.9fe368p6f, -0x1.5d589ep6f, 0.0f, 0x1.62e42ep6f, INFINITY};
    bool right = true;
    for (uint64_t b = 0; b < 1u << 31; b += 911) {
        uint32_t bits = (uint32_t)(b << 1 | (b & 1));
        float x;
        memcpy(&x, &bits, sizeof x);
        float got = ld_exp_as_libm(x);
        double want = exp((double)x);
        float low = nextafterf((float)want, -INFINITY), high = nextafterf((float)want, INFINITY);
        right = right && (isnan(x) ? isnan(got) : got >= low && got <= high);
    }
    check(right, "the exponential of every 911th float");
    for (int i = 0; i < 5; i++)
        for (int side = -1; side <= 1; side++) {
            float x = side ? nextafterf(bounds[i], side * INFINITY) : bounds[i];
            float got = ld_exp_as_libm(x), want = (float)exp((double)x);
            check(same_floats(&got, &want, 1), "the exponential of %a", (double)x);
        }
}

void test(void)
{
    static const int64_t rows[][2] = {{0, 3}, {1, 1}, {3, 7}, {16, 16}, {17, 41}, {66, 130}};
    static const int64_t segments[][3] = {{0, 3, 1},  {1, 4, 1},   {70, 9, 1}, {20, 200, 1},
                                          {70, 9, 3}, {33, 20, 8}, {9, 5, 16}, {9, 5, 37}};
    for (int kind = ORDINARY; kind <= SPECIAL; kind++) {
        for (int i = 0; i < (int)(sizeof rows / sizeof *rows); i++) {
            int64_t n = rows[i][0], k = rows[i][1];
            float *x = new_floats(n * k, (numbers)kind), *dy = new_floats(n * k, (numbers)kind);
            for (int64_t j = 0; n > 1 && j < k; j++)
                x[j] = -INFINITY; /* a row of nothing else is NaN */
            check_rows(x, dy, n, k);
        }
        for (int i = 0; i < (int)(sizeof segments / sizeof *segments); i++)
            check_segments(segments[i][0], segments[i][1], segments[i][2], (numbers)kind);
    }
    check_exponential();
}

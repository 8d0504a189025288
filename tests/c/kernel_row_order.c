/* Tests the kernel that orders the elements of each row, against a plain version that picks the
 * next element again and again. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "check.h"
#include "kernel/row_order.h"

static bool comes_before(float a, float b, bool descending)
{
    bool larger = isnan(a) ? !isnan(b) : a > b, smaller = isnan(b) ? !isnan(a) : a < b;
    return descending ? larger : smaller;
}

static void plain_order(int32_t *at, const float *x, int64_t n, int64_t k, bool descending)
{
    bool *taken = new_block(n, sizeof *taken);
    for (int64_t i = 0; i < k; i++) {
        int64_t best = -1;
        for (int64_t j = 0; j < n; j++)
            if (!taken[j] && (best < 0 || comes_before(x[j], x[best], descending)))
                best = j;
        at[i] = (int32_t)best;
        taken[best] = true;
    }
}

static void check_shape(int64_t n_rows, int64_t n_cols, int64_t k, numbers kind)
{
    float *x = new_floats(n_rows * n_cols, kind);
    int32_t *at = new_block(n_rows * k, sizeof *at);
    int32_t *want = new_block(n_rows * k, sizeof *want);
    for (int64_t i = 0; i < n_rows * n_cols; i += 3)
        x[i] = roundf(4 * x[i]); /* many are equal */
    for (int descending = 0; descending < 2; descending++) {
        ld_row_order(at, x, n_rows, n_cols, k, descending);
        for (int64_t r = 0; r < n_rows; r++)
            plain_order(want + r * k, x + r * n_cols, n_cols, k, descending);
        check(memcmp(at, want, (size_t)(n_rows * k) * sizeof *at) == 0,
              "the first %" PRId64 " of %" PRId64 " x %" PRId64 ", descending %d", k, n_rows,
              n_cols, descending);
    }
}

void test(void)
{
    static const int64_t shapes[][3] = {{0, 3, 2},   {4, 0, 0},    {1, 1, 1},
                                        {5, 7, 0},   {5, 7, 7},    {5, 7, 2},
                                        {3, 200, 5}, {3, 200, 99}, {900, 20, 3}};
    for (int i = 0; i < (int)(sizeof shapes / sizeof *shapes); i++)
        for (int kind = ORDINARY; kind <= SPECIAL; kind++)
            check_shape(shapes[i][0], shapes[i][1], shapes[i][2], (numbers)kind);
}

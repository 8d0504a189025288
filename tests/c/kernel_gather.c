/* Rows and columns that are copied or added elsewhere, against loops over their elements. */
#include <inttypes.h>

#include "check.h"
#include "kernel/gather.h"

/* y[i * y_row + j * y_col] = x[...], n_rows x n_cols, or added; the row of y or x may be picked. */
typedef struct {
    int64_t y_row, y_col, x_row, x_col;
    const int32_t *y_rows, *x_rows;
} places;

static void plain_copy(float *y, const float *x, places p, int64_t n_rows, int64_t n_cols, bool add)
{
    for (int64_t i = 0; i < n_rows; i++)
        for (int64_t j = 0; j < n_cols; j++) {
            float v = x[(p.x_rows ? p.x_rows[i] : i) * p.x_row + j * p.x_col];
            float *to = &y[(p.y_rows ? p.y_rows[i] : i) * p.y_row + j * p.y_col];
            *to = add ? *to + v : v;
        }
}

static void check_shape(int64_t n, int64_t k, numbers kind)
{
    int64_t size = n * (2 * k + 3);
    float *x = new_floats(size, kind), *y = new_floats(size, kind), *want = copy_floats(y, size);
    int32_t *rows = new_block(n, sizeof *rows), *order = new_block(n, 4);
    for (int64_t i = 0; i < n; i++) {
        rows[i] = (int32_t)(next_bits() % (uint64_t)n);
        order[i] = (int32_t)(n - 1 - i);
    }
    for (int add = 0; add < 2; add++) {
        ld_gather_rows(y, x, rows, n, k, add);
        plain_copy(want, x, (places){k, 1, k, 1, NULL, rows}, n, k, add);
        check(same_floats(y, want, size), "rows of %" PRId64 " x %" PRId64, n, k);
        ld_copy_block(y + 1, k + 3, x + 2, 2 * k, n, k, add);
        plain_copy(want + 1, x + 2,
                   (places){.y_row = k + 3, .y_col = 1, .x_row = 2 * k, .x_col = 1}, n, k, add);
        check(same_floats(y, want, size), "a block of %" PRId64 " x %" PRId64, n, k);
        ld_copy_block(y, k, x, k, n, k, add);
        plain_copy(want, x, (places){.y_row = k, .y_col = 1, .x_row = k, .x_col = 1}, n, k, add);
        check(same_floats(y, want, size), "%" PRId64 " x %" PRId64 " without gaps", n, k);
        ld_transpose(y, x, n, k, add);
        plain_copy(want, x, (places){.y_row = 1, .y_col = n, .x_row = k, .x_col = 1}, n, k, add);
        check(same_floats(y, want, size), "the transpose of %" PRId64 " x %" PRId64, n, k);
        ld_scatter_rows(y, x, add ? order : rows, n, k, add);
        plain_copy(want, x, (places){k, 1, k, 1, add ? order : rows, NULL}, n, k, true);
        check(same_floats(y, want, size), "to rows of %" PRId64 " x %" PRId64, n, k);
    }
    ld_join_columns(y, x, k, x + 1, k / 2, n);
    int64_t wide = k + k / 2;
    plain_copy(want, x, (places){.y_row = wide, .y_col = 1, .x_row = k, .x_col = 1}, n, k, false);
    plain_copy(want + k, x + 1, (places){.y_row = wide, .y_col = 1, .x_row = k / 2, .x_col = 1}, n,
               k / 2, false);
    check(same_floats(y, want, size), "columns of %" PRId64 " x %" PRId64 " joined", n, k);
}

void test(void)
{
    static const int64_t shapes[][2] = {{0, 0}, {0, 5}, {5, 0}, {1, 1}, {70, 1}, {33, 7}, {65, 40}};
    for (int i = 0; i < (int)(sizeof shapes / sizeof *shapes); i++)
        for (int kind = ORDINARY; kind <= SPECIAL; kind++)
            check_shape(shapes[i][0], shapes[i][1], (numbers)kind);
}

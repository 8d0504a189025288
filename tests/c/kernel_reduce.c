/* Sums, extremes and running sums, each against a loop over one row, column or piece alone. */
#include <inttypes.h>
#include <math.h>

#include "check.h"
#include "kernel/reduce.h"

static double plain_term(const float *x, const float *y, int64_t i, ld_terms terms)
{
    float rounded = x[i] * y[i];
    return terms == LD_VALUES ? x[i] : terms == LD_PRODUCTS ? (double)x[i] * y[i] : rounded;
}

/* The sum of n terms that lie `step` apart, one after the other. */
static double plain_sum(const float *x, const float *y, ld_terms terms, int64_t n, int64_t step)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += plain_term(x, y, i * step, terms);
    return sum;
}

/* The order of ld_total: pieces of 4096 terms, 16 lanes in each. */
static double plain_total(const float *x, const float *y, ld_terms terms, int64_t n)
{
    double total = 0;
    for (int64_t first = 0; first < n; first += 4096) {
        int64_t rest = n - first < 4096 ? n - first : 4096;
        double sum = 0;
        for (int64_t l = 0; l < 16; l++)
            sum += plain_sum(x + first + l, y + first + l, terms, (rest + 15 - l) / 16, 16);
        total += sum;
    }
    return total;
}

/* The order of ld_chunk_squares: eight lanes, what is left over in the first, lanes added in pairs. */
static double plain_squares(const float *x, int64_t n)
{
    double lane[8];
    for (int l = 0; l < 8; l++)
        lane[l] = plain_sum(x + l, x + l, LD_PRODUCTS, n / 8, 8);
    for (int64_t i = n / 8 * 8; i < n; i++)
        lane[0] += (double)x[i] * x[i];
    return ((lane[0] + lane[1]) + (lane[2] + lane[3])) +
           ((lane[4] + lane[5]) + (lane[6] + lane[7]));
}

static void check_sums(const float *x, const float *y, int64_t n_rows, int64_t n_cols)
{
    int64_t size = n_rows > n_cols ? n_rows : n_cols, n = n_rows * n_cols;
    double *got = new_block(size, sizeof *got), *want = new_block(size, 8);
    for (int terms = LD_VALUES; terms <= LD_ROUNDED_PRODUCTS; terms++) {
        ld_row_sums(got, x, y, (ld_terms)terms, n_rows, n_cols);
        for (int64_t r = 0; r < n_rows; r++)
            want[r] = plain_sum(x + r * n_cols, y + r * n_cols, (ld_terms)terms, n_cols, 1);
        check(same_doubles(got, want, n_rows), "row sums of %" PRId64 " x %" PRId64 ", terms %d",
              n_rows, n_cols, terms);
        ld_col_sums(got, x, y, (ld_terms)terms, n_rows, n_cols);
        for (int64_t j = 0; j < n_cols; j++)
            want[j] = plain_sum(x + j, y + j, (ld_terms)terms, n_rows, n_cols);
        check(same_doubles(got, want, n_cols), "column sums of %" PRId64 " x %" PRId64 ", terms %d",
              n_rows, n_cols, terms);
        ld_total(got, x, y, (ld_terms)terms, n);
        want[0] = plain_total(x, y, (ld_terms)terms, n);
        check(same_doubles(got, want, 1), "total of %" PRId64 ", terms %d", n, terms);
    }
    ld_row_sums(got, x, NULL, LD_VALUES, n_rows, n_cols);
    for (int64_t r = 0; r < n_rows; r++)
        want[r] = plain_sum(x + r * n_cols, x, LD_VALUES, n_cols, 1);
    check(same_doubles(got, want, n_rows), "row sums without a second matrix");
}

static void check_chunks(const float *x, int64_t n)
{
    enum { CHUNK = 100 };
    int64_t n_chunks = (n + CHUNK - 1) / CHUNK;
    double *got = new_block(n_chunks, sizeof *got), want;
    ld_chunk_squares(got, x, n, CHUNK);
    for (int64_t i = 0; i < n_chunks; i++) {
        want = plain_squares(x + i * CHUNK, n - i * CHUNK < CHUNK ? n - i * CHUNK : CHUNK);
        check(same_doubles(&got[i], &want, 1), "squares of chunk %" PRId64 " of %" PRId64, i, n);
    }
}

/* The first NaN is the best of a line, else the first of those that nothing is better than. */
static int64_t plain_extreme(const float *x, int64_t n, int64_t step, int sign)
{
    int64_t best = 0;
    for (int64_t i = 0; i < n; i++) {
        if (isnan(x[i * step]))
            return i;
        if (sign > 0 ? x[i * step] > x[best * step] : x[i * step] < x[best * step])
            best = i;
    }
    return best;
}

static void check_lines(const float *x, int64_t n_rows, int64_t n_cols, bool of_columns)
{
    int64_t n = of_columns ? n_cols : n_rows, length = of_columns ? n_rows : n_cols;
    int64_t line = of_columns ? 1 : n_cols, step = of_columns ? n_cols : 1, size = n_rows * n_cols;
    float *top = new_floats(n, ORDINARY), *y = new_floats(size, ORDINARY);
    float *want = copy_floats(y, size);
    int32_t *at = new_block(n, sizeof *at);
    for (int sign = -1; sign <= 1 && length > 0; sign += 2) {
        bool same = true;
        ld_extremes(top, at, x, n_rows, n_cols, of_columns, sign);
        for (int64_t k = 0; k < n; k++) {
            int64_t best = plain_extreme(x + k * line, length, step, sign);
            same = same && at[k] == best && same_floats(&top[k], &x[k * line + best * step], 1);
        }
        check(same, "extremes of %" PRId64 " x %" PRId64, n_rows, n_cols);
    }
    for (int way = 0; way < 4; way++) {
        bool backwards = way & 1, accumulate = way & 2;
        ld_running_sums(y, x, n_rows, n_cols, of_columns, backwards, accumulate);
        for (int64_t k = 0; k < n; k++) {
            double sum = 0;
            for (int64_t i = 0; i < length; i++) {
                int64_t place = k * line + (backwards ? length - 1 - i : i) * step;
                sum += x[place];
                want[place] = (float)(accumulate ? want[place] + sum : sum);
            }
        }
        check(same_floats(y, want, size), "running sums of %" PRId64 " x %" PRId64 ", way %d",
              n_rows, n_cols, way);
    }
}

void test(void)
{
    static const int64_t shapes[][2] = {{0, 0}, {0, 5},  {5, 0},   {1, 1},   {1, 9000}, {3, 7},
                                        {8, 8}, {17, 1}, {70, 33}, {33, 65}, {130, 40}};
    for (int i = 0; i < (int)(sizeof shapes / sizeof *shapes); i++)
        for (int kind = ORDINARY; kind <= SPECIAL; kind++) {
            int64_t n_rows = shapes[i][0], n_cols = shapes[i][1];
            float *x = new_floats(n_rows * n_cols, (numbers)kind);
            float *y = new_floats(n_rows * n_cols, (numbers)kind);
            check_sums(x, y, n_rows, n_cols);
            check_chunks(x, n_rows * n_cols);
            check_lines(x, n_rows, n_cols, false);
            check_lines(x, n_rows, n_cols, true);
        }
}

/* Pairs of nodes: entries that are found and columns that rows share, against a look at all entries. */
#include <inttypes.h>

#include "check.h"
#include "kernel/pairs.h"

static int64_t plain_find(const sparse *s, int64_t row, int32_t column)
{
    for (int64_t e = s->a.offsets[row]; e < s->a.offsets[row + 1]; e++)
        if (s->a.columns[e] == column)
            return e;
    return -1;
}

static float plain_common(const sparse *s, int64_t a, int64_t b, const float *weights)
{
    double sum = 0;
    for (int32_t c = 0; c < s->a.n_cols; c++)
        if (plain_find(s, a, c) >= 0 && plain_find(s, b, c) >= 0)
            sum += weights ? weights[c] : 1;
    return (float)sum;
}

static void check_matrix(int64_t n_rows, int64_t n_cols, int64_t degree, bool sorted, int64_t n)
{
    sparse s = sparse_new(n_rows, n_cols, degree, sorted ? ASCENDING : 0, ORDINARY);
    ld_pairs_rows rows = {s.a.offsets, s.a.columns, sorted};
    int32_t *a = new_block(n, sizeof *a), *b = new_block(n, sizeof *b);
    int64_t *at = new_block(n, sizeof *at);
    float *sums = new_floats(n, ORDINARY), *weights = new_floats(n_cols, SPECIAL);
    bool found = true;
    for (int64_t i = 0; i < n; i++) {
        a[i] = (int32_t)(next_bits() % (uint64_t)n_rows);
        b[i] = (int32_t)(next_bits() % (uint64_t)n_cols);
    }
    ld_pairs_find(at, rows, a, b, n);
    for (int64_t i = 0; i < n; i++)
        found &= at[i] == plain_find(&s, a[i], b[i]);
    check(found, "%" PRId64 " entries of %" PRId64 " x %" PRId64, n, n_rows, n_cols);
    for (int64_t i = 0; i < n; i++)
        b[i] = i % 5 == 0 ? a[i] : (int32_t)(next_bits() % (uint64_t)n_rows);
    for (int weighted = 0; sorted && weighted < 2; weighted++) {
        float *want = new_floats(n, ORDINARY);
        ld_pairs_common(sums, rows, a, b, n, weighted ? weights : NULL);
        for (int64_t i = 0; i < n; i++)
            want[i] = plain_common(&s, a[i], b[i], weighted ? weights : NULL);
        check(same_floats(sums, want, n), "columns in common, %" PRId64 " x %" PRId64, n_rows,
              n_cols);
    }
}

/* Row 0 has every column of 1000, the others one each: the long row is searched. */
static void check_long_row(void)
{
    enum { N = 1000 };
    int64_t offsets[N + 2] = {0};
    int32_t *columns = new_block(2 * N, sizeof *columns), a[N], b[N];
    float sums[N], want[N];
    for (int32_t i = 0; i < N; i++) {
        columns[i] = i;
        columns[N + i] = i;
        offsets[i + 1] = N + i;
        a[i] = i % 2 ? i : 0;
        b[i] = i % 2 ? 0 : i;
        want[i] = i == 0 ? N : 1;
    }
    ld_pairs_common(sums, (ld_pairs_rows){offsets, columns, true}, a, b, N, NULL);
    check(same_floats(sums, want, N), "columns in common with a long row");
}

void test(void)
{
    for (int sorted = 0; sorted < 2; sorted++) {
        check_matrix(1, 1, 1, sorted, 3);
        check_matrix(9, 5, 2, sorted, 0);
        check_matrix(40, 30, 6, sorted, 700);
        check_matrix(30, 200, 60, sorted, 300);
    }
    check_long_row();
}

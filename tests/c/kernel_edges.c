/* Sums at the entries of a matrix and sums over entries, each against a loop over one element. */
#include <inttypes.h>

#include "check.h"
#include "kernel/edges.h"

/* Sums of rows of x and y at the entries. */
static void check_add(const sparse *s, int64_t k, numbers kind)
{
    float *x = new_floats(s->a.n_rows * k, kind), *y = new_floats(s->a.n_cols * k, kind);
    float *z = new_floats(s->nnz * k, ORDINARY), *want = new_floats(s->nnz * k, ORDINARY);
    for (int64_t r = 0; r < s->a.n_rows; r++)
        for (int64_t e = s->offsets[r]; e < s->offsets[r + 1]; e++)
            for (int64_t j = 0; j < k; j++)
                want[e * k + j] = x[r * k + j] + y[s->columns[e] * k + j];
    ld_status st = ld_add_edges(z, s->offsets, s->columns, s->a.n_rows, x, y, k);
    check(st == LD_OK && same_floats(z, want, s->nnz * k), "%" PRId64 " sums of %" PRId64, s->nnz,
          k);
}

/* Sums of the entries of rows, in the order of the entries or, with `source`, of those it says. */
static void check_collect(const sparse *s, const int32_t *source, int64_t k, numbers kind)
{
    float *z = new_floats(s->nnz * k, kind), *x = new_floats(s->a.n_rows * k, kind);
    float *want = copy_floats(x, s->a.n_rows * k);
    for (int64_t r = 0; r < s->a.n_rows; r++)
        for (int64_t e = s->offsets[r]; e < s->offsets[r + 1]; e++)
            for (int64_t j = 0; j < k; j++)
                want[r * k + j] += z[(source ? source[e] : e) * k + j];
    ld_status st = ld_collect_edges(x, s->offsets, source, s->a.n_rows, z, k);
    check(st == LD_OK && same_floats(x, want, s->a.n_rows * k),
          "%" PRId64 " rows of %" PRId64 " columns%s", s->a.n_rows, k, source ? ", by source" : "");
}

void test(void)
{
    static const int64_t shapes[][3] = {{0, 0, 1}, {5, 0, 0},   {1, 1, 1},
                                        {3, 7, 2}, {65, 33, 5}, {130, 300, 40}};
    static const int64_t widths[] = {0, 1, 2, 3, 7, 8, 9, 16, 63, 64, 65, 73, 137};
    for (int i = 0; i < (int)(sizeof shapes / sizeof *shapes); i++)
        for (int j = 0; j < (int)(sizeof widths / sizeof *widths); j++)
            for (int kind = ORDINARY; kind <= SPECIAL; kind++) {
                sparse s =
                    sparse_new(shapes[i][0], shapes[i][1], shapes[i][2], WITH_SOURCE, ORDINARY);
                check_add(&s, widths[j], (numbers)kind);
                check_collect(&s, NULL, widths[j], (numbers)kind);
                check_collect(&s, s.source, widths[j], (numbers)kind);
            }
}

/* Sums over rows and columns of a sparse matrix, against a sum of each row and column alone. */
#include <inttypes.h>

#include "check.h"
#include "kernel/entry_sums.h"

static double powered(double v, int power)
{
    return power == 2 ? v * v : v;
}

static void check_matrix(const sparse *s, int what, numbers kind)
{
    const ld_factors *a = &s->a;
    for (int power = 1; power <= 2; power++) {
        float *rows = new_floats(a->n_rows, ORDINARY), *wanted = new_floats(a->n_rows, ORDINARY);
        double *cols = new_block(a->n_cols, sizeof *cols);
        double *sums = new_block(a->n_cols, sizeof *sums);
        for (int64_t r = 0; r < a->n_rows; r++) {
            double sum = 0;
            for (int64_t e = a->offsets[r]; e < a->offsets[r + 1]; e++) {
                double v = ld_factors_value(a, r, e);
                double unscaled = a->values ? v : a->row_scale ? a->row_scale[r] : 1.0;
                sum += powered(v, power);
                sums[a->columns[e]] += powered(unscaled, power);
            }
            wanted[r] = (float)sum;
        }
        for (int64_t c = 0; !a->values && a->col_scale && c < a->n_cols; c++)
            sums[c] *= powered(a->col_scale[c], power);
        ld_entry_row_sums(rows, a, power);
        ld_entry_col_sums(cols, a, power);
        check(same_floats(rows, wanted, a->n_rows), "row sums of power %d, parts %d, numbers %d",
              power, what, (int)kind);
        check(same_doubles(cols, sums, a->n_cols), "column sums of power %d, parts %d, numbers %d",
              power, what, (int)kind);
    }
}

void test(void)
{
    static const int64_t shapes[][3] = {{0, 0, 1}, {0, 4, 1}, {4, 0, 1}, {1, 1, 1}, {70, 130, 9}};
    for (int i = 0; i < 5; i++)
        for (int what = 0; what < 16; what++)
            for (int kind = 0; kind < 2; kind++) {
                sparse s =
                    sparse_new(shapes[i][0], shapes[i][1], shapes[i][2], what, (numbers)kind);
                check_matrix(&s, what, (numbers)kind);
            }
}

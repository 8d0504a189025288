/* Sums over the rows and the columns of a matrix. */
#include "base/memory.h"
#include "graph/csr.h"

ld_status ld_csr_row_sums(ld_tensor **out, const ld_csr *a, int power)
{
    const ld_structure *s = a->s;
    bool equal = power == 1 && !a->values && !a->col_scale; /* the entries of a row */
    ld_status st = ld_tensor_new(out, 1, s->n_rows, 1);
    if (st != LD_OK)
        return st;
    for (int64_t r = 0; r < s->n_rows; r++) {
        double sum = 0;
        int64_t n = s->offsets[r + 1] - s->offsets[r];
        if (equal && n > 0) /* the same bits: a sum of fewer than 2^29 equal floats is exact */
            sum = (double)n * (a->row_scale ? a->row_scale->data[r] : 1.0f);
        for (int64_t e = s->offsets[r]; !equal && e < s->offsets[r + 1]; e++) {
            double v = ld_csr_value(a, r, e);
            sum += power == 2 ? v * v : v;
        }
        (*out)->data[r] = (float)sum;
    }
    return LD_OK;
}

/* The common case of samplers: no stored values. A column's scale is the same for all its entries,
 * so it is left out of the sums and applied once at the end. */
static void col_sums_unvalued(double *sums, const ld_csr *a, int power)
{
    const ld_structure *s = a->s;
    for (int64_t r = 0; r < s->n_rows; r++) {
        double v = a->row_scale ? a->row_scale->data[r] : 1.0;
        v = power == 2 ? v * v : v;
        for (int64_t e = s->offsets[r]; e < s->offsets[r + 1]; e++)
            sums[s->columns[e]] += v;
    }
    for (int64_t c = 0; a->col_scale && c < s->n_cols; c++) {
        double w = a->col_scale->data[c];
        sums[c] *= power == 2 ? w * w : w;
    }
}

ld_status ld_csr_col_sums(ld_tensor **out, const ld_csr *a, int power)
{
    const ld_structure *s = a->s;
    ld_status st = LD_OK;
    double *sums = ld_calloc_array(s->n_cols, sizeof *sums, LD_MEM_SCRATCH);
    if (!sums)
        return LD_NOMEM;
    ld_structure_advise(s, LD_ACCESS_SEQUENTIAL);
    if (!a->values) {
        col_sums_unvalued(sums, a, power);
    } else {
        for (int64_t r = 0; r < s->n_rows; r++) {
            for (int64_t e = s->offsets[r]; e < s->offsets[r + 1]; e++) {
                double v = ld_csr_value(a, r, e);
                sums[s->columns[e]] += power == 2 ? v * v : v;
            }
        }
    }
    ld_structure_advise(s, LD_ACCESS_RANDOM);
    LD_TRY(ld_tensor_new(out, 1, s->n_cols, 1));
    for (int64_t c = 0; c < s->n_cols; c++)
        (*out)->data[c] = (float)sums[c];
done:
    ld_free(sums);
    return st;
}

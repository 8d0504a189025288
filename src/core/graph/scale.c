/* Scaling and sums of a factored matrix. Scaling multiplies the vectors of scales
 * alone; the entries are never copied. */
#include <inttypes.h>

#include "base/memory.h"
#include "graph/csr.h"

/* *out = old * w elementwise (old may be NULL): always a copy, so that the matrix stays what it is
 * when w is changed in place. */
static ld_status multiply_scale(ld_tensor **out, const ld_tensor *old, const ld_tensor *w)
{
    ld_status st = ld_tensor_clone(out, w);
    if (st == LD_OK && old)
        for (int64_t i = 0; i < w->n_rows; i++)
            (*out)->data[i] *= old->data[i];
    return st;
}

static ld_status check_scale(const ld_tensor *w, int64_t n, const char *where)
{
    if (w->ndim != 1 || w->n_rows != n)
        return ld_fail(LD_SHAPE, "%s: a vector of %" PRId64 " expected, got %s", where, n,
                       ld_tensor_shape(w));
    return LD_OK;
}

ld_status ld_csr_scale_rows(ld_csr **out, ld_csr *a, ld_tensor *w)
{
    ld_tensor *scale = NULL;
    ld_status st;
    LD_TRY(check_scale(w, a->s->n_rows, "scale_rows"));
    LD_TRY(multiply_scale(&scale, a->row_scale, w));
    LD_TRY(ld_csr_new(out, a->s, a->values, scale, a->col_scale));
done:
    ld_tensor_unref(scale);
    return st;
}

ld_status ld_csr_scale_cols(ld_csr **out, ld_csr *a, ld_tensor *w)
{
    ld_tensor *scale = NULL;
    ld_status st;
    LD_TRY(check_scale(w, a->s->n_cols, "scale_cols"));
    LD_TRY(multiply_scale(&scale, a->col_scale, w));
    LD_TRY(ld_csr_new(out, a->s, a->values, a->row_scale, scale));
done:
    ld_tensor_unref(scale);
    return st;
}

ld_status ld_csr_scale_entries(ld_csr **out, ld_csr *a, const ld_tensor *w)
{
    ld_tensor *values = NULL;
    ld_status st;
    LD_TRY(check_scale(w, a->s->nnz, "scale_entries"));
    LD_TRY(multiply_scale(&values, a->values, w));
    LD_TRY(ld_csr_new(out, a->s, values, a->row_scale, a->col_scale));
done:
    ld_tensor_unref(values);
    return st;
}

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
    LD_TRY(ld_tensor_new(out, 1, s->n_cols, 1));
    for (int64_t c = 0; c < s->n_cols; c++)
        (*out)->data[c] = (float)sums[c];
done:
    ld_free(sums);
    return st;
}

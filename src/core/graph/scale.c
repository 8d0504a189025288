/* Scaling of a factored matrix: the vectors of scales alone are multiplied, entries never copied. */
#include <inttypes.h>

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

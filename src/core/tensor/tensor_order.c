/* Orders a tensor's elements, and finds those of a vector that are not 0. */
#include <inttypes.h>

#include "kernel/row_order.h"
#include "tensor/tensor.h"

ld_status ld_tensor_order(ld_index **out, const ld_tensor *t, int64_t k, bool descending)
{
    const int64_t n_rows = t->ndim == 1 ? 1 : t->n_rows;
    const int64_t n_cols = t->ndim == 1 ? t->n_rows : t->n_cols;
    LD_OWN(ld_index) *at = NULL;
    if (k > n_cols && t->ndim == 1)
        return ld_fail(LD_SHAPE, "topk: the %" PRId64 " largest of a vector of %" PRId64, k,
                       n_cols);
    if (k > n_cols)
        return ld_fail(LD_SHAPE, "topk: the %" PRId64 " largest of rows of %" PRId64, k, n_cols);
    LD_CHECK(ld_index_new(&at, n_rows * k));
    LD_CHECK(ld_row_order(at->data, t->data, n_rows, n_cols, k, descending));
    *out = ld_take(&at);
    return LD_OK;
}

ld_status ld_tensor_positions(ld_index **out, const ld_tensor *t)
{
    int64_t count = 0;
    if (t->ndim != 1)
        return ld_fail(LD_SHAPE, "positions: a vector expected, got %s", ld_tensor_shape(t));
    for (int64_t i = 0; i < t->n_rows; i++)
        count += t->data[i] != 0;
    ld_status st = ld_index_new(out, count);
    for (int64_t i = t->n_rows; st == LD_OK && i-- > 0;)
        if (t->data[i] != 0)
            (*out)->data[--count] = (int32_t)i;
    return st;
}

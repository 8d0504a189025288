/* Finds the largest of several operands, how the elements of the others are repeated to its shape,
 * and their gradients. */
#include "grad/broadcast.h"

#include "grad/tape.h"
#include "kernel/reduce.h"
#include "memory/memory.h"

bool ld_operand_view(ld_operand *o, const ld_tensor *x, const ld_tensor *shape)
{
    int64_t n_rows = shape->n_rows, n_cols = shape->n_cols;
    o->data = x->data;
    o->row = o->col = 0;
    if (ld_tensor_same_shape(x, shape)) {
        o->row = n_cols;
        o->col = 1;
        return true;
    }
    if (ld_tensor_size(x) == 1)
        return true;
    o->col = x->ndim == 1 && shape->ndim == 2 && x->n_rows == n_cols;
    o->row = x->ndim == 2 && shape->ndim == 2 && x->n_rows == n_rows && x->n_cols == 1;
    return o->col || o->row;
}

/* Returns true when the result has the shape of b rather than that of a: the one that is no single
 * element, row or column. */
static bool is_larger(const ld_tensor *b, const ld_tensor *a)
{
    bool single_a = ld_tensor_size(a) == 1, single_b = ld_tensor_size(b) == 1;
    if (single_a != single_b)
        return single_a;
    return b->ndim != a->ndim ? b->ndim > a->ndim : b->n_cols > a->n_cols;
}

ld_status ld_broadcast(ld_operand *o, const ld_tensor **shape, const char *where, int n,
                       ld_tensor *const *x)
{
    int largest = 0;
    for (int i = 1; i < n; i++)
        if (is_larger(x[i], x[largest]))
            largest = i;
    for (int i = 0; i < n; i++)
        if (!ld_operand_view(&o[i], x[i], x[largest]))
            return ld_fail(LD_SHAPE,
                           "%s: shapes %s and %s do not fit (the same shape, a vector as long as a "
                           "row, an n x 1 column, or one element)",
                           where, ld_tensor_shape(x[i < largest ? i : largest]),
                           ld_tensor_shape(x[i < largest ? largest : i]));
    *shape = x[largest];
    return LD_OK;
}

ld_status ld_grad_add_broadcast(ld_tensor *x, const ld_operand *o, const ld_tensor *part,
                                const ld_tensor *times)
{
    const ld_terms terms = times ? LD_ROUNDED_PRODUCTS : LD_VALUES;
    const float *t = times ? times->data : NULL;
    int64_t size = ld_tensor_size(x);
    ld_tensor *grad;
    LD_FREED double *sums = NULL;
    if (o->row && o->col)
        return ld_grad_add(x, part);
    LD_CHECK(ld_grad_zeroed(x, &grad));
    if (!(sums = ld_alloc_array(size, sizeof *sums, LD_MEM_SCRATCH)))
        return LD_NOMEM;
    if (o->col)
        LD_CHECK(ld_col_sums(sums, part->data, t, terms, part->n_rows, part->n_cols));
    else if (o->row)
        LD_CHECK(ld_row_sums(sums, part->data, t, terms, part->n_rows, part->n_cols));
    else
        LD_CHECK(ld_total(sums, part->data, t, terms, ld_tensor_size(part)));
    for (int64_t i = 0; i < size; i++)
        grad->data[i] += (float)sums[i];
    return LD_OK;
}

#include "grad/broadcast.h"

#include "base/simd.h"
#include "grad/tape.h"

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

/* Whether the result has b's shape rather than a's: that of the one that is no single element, row or
 * column. */
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

typedef struct {
    float *sum;
    const float *part;
    ld_operand o;
    int64_t n_cols;
} sums;

LD_CLONES(add_rows)
{
    const sums *p = ctx;
    for (int64_t r = begin; r < end; r++) {
        float *sum = p->sum + r * p->o.row;
        const float *part = p->part + r * p->n_cols;
        if (p->o.col == 1)
            for (int64_t j = 0; j < p->n_cols; j++)
                sum[j] += part[j];
        else
            for (int64_t j = 0; j < p->n_cols; j++)
                sum[0] += part[j];
    }
}

ld_status ld_grad_add_broadcast(ld_tensor *x, const ld_operand *o, const ld_tensor *part)
{
    int64_t n_rows = part->n_rows, n_cols = part->n_cols;
    ld_tensor *grad;
    ld_status st = ld_grad_zeroed(x, &grad);
    if (st != LD_OK)
        return st;
    if (o->row == 0 && o->col == 0) {
        double sum = 0;
        for (int64_t i = 0; i < n_rows * n_cols; i++)
            sum += part->data[i];
        grad->data[0] += (float)sum;
        return LD_OK;
    }
    sums p = {grad->data, part->data, *o, n_cols};
    add_rows(&p, 0, n_rows);
    return LD_OK;
}

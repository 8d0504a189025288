#include "grad/broadcast.h"

#include "base/simd.h"
#include "base/threads.h"
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

/* The sums of part's rows or columns, in double, are added to `sum`. */
typedef struct {
    float *sum;
    const float *part;
    int64_t n_rows, n_cols;
} sums;

enum { TILE = 128, ROW_GRAIN = 64 };

/* A tile of columns: its sums stay in the nearest cache while the rows go by. */
LD_CLONES(add_columns)
{
    const sums *p = ctx;
    double sum[TILE] = {0};
    int64_t width = end - begin;
    for (int64_t r = 0; r < p->n_rows; r++)
        for (int64_t j = 0; j < width; j++)
            sum[j] += p->part[r * p->n_cols + begin + j];
    for (int64_t j = 0; j < width; j++)
        p->sum[begin + j] += (float)sum[j];
}

LD_CLONES(add_rows)
{
    const sums *p = ctx;
    for (int64_t r = begin; r < end; r++) {
        double sum = 0;
        for (int64_t j = 0; j < p->n_cols; j++)
            sum += p->part[r * p->n_cols + j];
        p->sum[r] += (float)sum;
    }
}

ld_status ld_grad_add_broadcast(ld_tensor *x, const ld_operand *o, const ld_tensor *part)
{
    ld_tensor *grad;
    if (o->row && o->col)
        return ld_grad_add(x, part);
    ld_status st = ld_grad_zeroed(x, &grad);
    if (st != LD_OK)
        return st;
    sums p = {grad->data, part->data, part->n_rows, part->n_cols};
    if (o->col)
        return ld_parallel_for(p.n_cols, TILE, add_columns, &p);
    if (o->row)
        return ld_parallel_for(p.n_rows, ROW_GRAIN, add_rows, &p);
    p.n_cols *= p.n_rows;
    add_rows(&p, 0, 1);
    return LD_OK;
}

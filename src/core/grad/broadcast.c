#include "grad/broadcast.h"

#include "base/memory.h"
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

/* The sums of part's rows or columns, or of all of it, in double; each element times that of `times`,
 * rounded to float, where there is one. */
typedef struct {
    float *sum; /* to which they are added */
    const float *part, *times;
    int64_t n_rows, n_cols;
} sums;

enum { TILE = 128, ROW_GRAIN = 64, LANES = 16 };

static inline __attribute__((always_inline)) float element(const float *part, const float *times,
                                                           int64_t i)
{
    return times ? part[i] * times[i] : part[i];
}

static inline __attribute__((always_inline)) void columns(const sums *p, const float *times,
                                                          int64_t begin, int64_t width)
{
    double sum[TILE] = {0};
    for (int64_t r = 0; r < p->n_rows; r++)
        for (int64_t j = 0; j < width; j++)
            sum[j] += element(p->part, times, r * p->n_cols + begin + j);
    for (int64_t j = 0; j < width; j++)
        p->sum[begin + j] += (float)sum[j];
}

/* A tile of columns: its sums stay in the nearest cache while the rows go by. */
LD_CLONES(add_columns)
{
    const sums *p = ctx;
    if (p->times)
        columns(p, p->times, begin, end - begin);
    else
        columns(p, NULL, begin, end - begin);
}

LD_CLONES(add_rows)
{
    const sums *p = ctx;
    for (int64_t r = begin; r < end; r++) {
        double sum = 0;
        for (int64_t j = 0; j < p->n_cols; j++)
            sum += element(p->part, p->times, r * p->n_cols + j);
        p->sum[r] += (float)sum;
    }
}

static inline __attribute__((always_inline)) double piece(const float *part, const float *times,
                                                          int64_t n)
{
    double lane[LANES] = {0}, sum = 0;
    int64_t whole = n / LANES * LANES;
    for (int64_t i = 0; i < whole; i += LANES)
        for (int l = 0; l < LANES; l++)
            lane[l] += element(part, times, i + l);
    for (int64_t i = whole; i < n; i++)
        lane[i - whole] += element(part, times, i);
    for (int l = 0; l < LANES; l++)
        sum += lane[l];
    return sum;
}

LD_CLONES(sum_pieces)
{
    const ld_pieces *p = ctx;
    for (int64_t i = begin; i < end; i++) {
        int64_t first = i * LD_SUM_PIECE, rest = p->size - first;
        int64_t n = rest < LD_SUM_PIECE ? rest : LD_SUM_PIECE;
        p->sums[i] = p->y ? piece(p->x + first, p->y + first, n) : piece(p->x + first, NULL, n);
    }
}

ld_status ld_pieces_new(ld_pieces *p, const float *x, const float *y, int64_t size)
{
    *p = (ld_pieces){.x = x, .y = y, .size = size};
    p->sums = ld_alloc_array(ld_pieces_count(size), sizeof *p->sums, LD_MEM_SCRATCH);
    return p->sums ? LD_OK : LD_NOMEM;
}

int64_t ld_pieces_count(int64_t size)
{
    return (size + LD_SUM_PIECE - 1) / LD_SUM_PIECE;
}

void ld_pieces_sum(void *ctx, int64_t begin, int64_t end)
{
    sum_pieces(ctx, begin, end);
}

double ld_pieces_total(const ld_pieces *p)
{
    double sum = 0;
    for (int64_t i = 0; i < ld_pieces_count(p->size); i++)
        sum += p->sums[i];
    return sum;
}

static ld_status add_all(const sums *p)
{
    ld_pieces all;
    ld_status st = ld_pieces_new(&all, p->part, p->times, p->n_rows * p->n_cols);
    if (st == LD_OK)
        st = ld_parallel_for(ld_pieces_count(all.size), 1, ld_pieces_sum, &all);
    if (st == LD_OK)
        *p->sum += (float)ld_pieces_total(&all);
    ld_free(all.sums);
    return st;
}

ld_status ld_grad_add_broadcast(ld_tensor *x, const ld_operand *o, const ld_tensor *part,
                                const ld_tensor *times)
{
    ld_tensor *grad;
    if (o->row && o->col)
        return ld_grad_add(x, part);
    ld_status st = ld_grad_zeroed(x, &grad);
    if (st != LD_OK)
        return st;
    sums p = {grad->data, part->data, times ? times->data : NULL, part->n_rows, part->n_cols};
    if (o->col)
        return ld_parallel_for(p.n_cols, TILE, add_columns, &p);
    if (o->row)
        return ld_parallel_for(p.n_rows, ROW_GRAIN, add_rows, &p);
    return add_all(&p);
}

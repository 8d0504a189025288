/* Sums and extremes. Sums are accumulated in double and in the order of the rows, in one thread: a
 * reduction that is split by the number of threads would depend on it. */
#include <inttypes.h>

#include "base/memory.h"
#include "base/simd.h"
#include "base/threads.h"
#include "grad/op.h"

enum { ROW_GRAIN = 64, CHUNK = 1 << 14 };

/* The gradient of every element is `scale`, or that times x where x is not NULL. */
typedef struct {
    float *grad;
    const float *x;
    double scale;
    bool accumulate;
} scaling;

LD_CLONES(scaled)
{
    const scaling *p = ctx;
    for (int64_t i = begin; i < end; i++) {
        float d = (float)(p->x ? p->scale * p->x[i] : p->scale);
        p->grad[i] = p->accumulate ? p->grad[i] + d : d;
    }
}

static ld_status pass_scaled(ld_tensor *t, const float *x, double scale)
{
    ld_tensor *grad;
    scaling p = {.x = x, .scale = scale};
    ld_status st = ld_grad_target(t, &grad, &p.accumulate);
    if (st != LD_OK)
        return st;
    p.grad = grad->data;
    return ld_parallel_for(ld_tensor_size(t), CHUNK, scaled, &p);
}

static ld_status sum_backward(ld_node *n)
{
    return pass_scaled(n->in[0], NULL, n->out->grad->data[0] * n->number);
}

ld_status ld_op_sum(ld_tape *tape, ld_tensor **out, ld_tensor *x, double scale)
{
    ld_tensor *y;
    ld_node node = {.name = "sum",
                    .backward = sum_backward,
                    .unread = LD_IN0 | LD_OUT,
                    .in = {x},
                    .number = scale};
    ld_status st = ld_tensor_new(&y, 1, 1, 1);
    if (st != LD_OK)
        return st;
    double sum = 0;
    for (int64_t i = 0, n = ld_tensor_size(x); i < n; i++)
        sum += x->data[i];
    y->data[0] = (float)(sum * scale);
    return ld_tape_finish(tape, out, y, &node, LD_OK);
}

/* Of x, element (r, j) goes into number r * steps.row + j * steps.col of a result for each column
 * (dim 0) or for each row (dim 1). */
typedef struct {
    int64_t row, col, size;
} steps;

static steps steps_along(const ld_tensor *x, int dim)
{
    return dim == 0 ? (steps){0, 1, x->n_cols} : (steps){1, 0, x->n_rows};
}

typedef struct {
    float *grad;
    const float *x, *g;
    int64_t n_cols;
    steps to;
    float scale;
    bool square, accumulate;
} spreading;

/* Always inlined with a constant step, so that the loop vectorises. */
static inline __attribute__((always_inline)) void spread_row(const spreading *p, int64_t r,
                                                             int64_t col)
{
    const float *x = p->x + r * p->n_cols, *g = p->g + r * p->to.row;
    float *grad = p->grad + r * p->n_cols;
    for (int64_t j = 0; j < p->n_cols; j++) {
        float d = p->scale * g[j * col];
        d = p->square ? 2 * x[j] * d : d;
        grad[j] = p->accumulate ? grad[j] + d : d;
    }
}

LD_CLONES(spread_rows)
{
    const spreading *p = ctx;
    for (int64_t r = begin; r < end; r++)
        if (p->to.col == 1)
            spread_row(p, r, 1);
        else
            spread_row(p, r, 0);
}

static ld_status sums_backward(ld_node *n)
{
    ld_tensor *x = n->in[0], *grad;
    spreading p = {.x = x->data,
                   .g = n->out->grad->data,
                   .n_cols = x->n_cols,
                   .to = steps_along(x, n->variant & 1),
                   .scale = (float)n->number,
                   .square = n->variant & 2};
    ld_status st = ld_grad_target(x, &grad, &p.accumulate);
    if (st != LD_OK)
        return st;
    p.grad = grad->data;
    return ld_parallel_for(x->n_rows, ROW_GRAIN, spread_rows, &p);
}

ld_status ld_op_sums(ld_tape *tape, ld_tensor **out, ld_tensor *x, int dim, int power, double scale)
{
    ld_tensor *y = NULL;
    ld_node node = {.name = dim == 0 ? "col_sums" : "row_sums",
                    .backward = sums_backward,
                    .unread = power == 1 ? LD_IN0 | LD_OUT : LD_OUT,
                    .in = {x},
                    .number = scale,
                    .variant = dim | (power == 2 ? 2 : 0)};
    steps to = steps_along(x, dim);
    ld_status st = LD_OK;
    double *sums = ld_calloc_array(to.size, sizeof *sums, LD_MEM_SCRATCH);
    if (!sums)
        return LD_NOMEM;
    LD_TRY(ld_tensor_new(&y, 1, to.size, 1));
    for (int64_t r = 0; r < x->n_rows; r++)
        for (int64_t j = 0; j < x->n_cols; j++) {
            double v = x->data[r * x->n_cols + j];
            sums[r * to.row + j * to.col] += power == 2 ? v * v : v;
        }
    for (int64_t k = 0; k < to.size; k++)
        y->data[k] = (float)(sums[k] * scale);
done:
    ld_free(sums);
    return ld_tape_finish(tape, out, y, &node, st);
}

/* The index has the other coordinate of each element that was taken. */
static ld_status extremes_backward(ld_node *n)
{
    const ld_tensor *g = n->out->grad;
    ld_tensor *grad;
    ld_status st = ld_grad_zeroed(n->in[0], &grad);
    if (st != LD_OK)
        return st;
    for (int64_t k = 0; k < n->index->size; k++) {
        int64_t other = n->index->data[k];
        grad->data[n->variant == 0 ? other * grad->n_cols + k : k * grad->n_cols + other] +=
            g->data[k];
    }
    return LD_OK;
}

/* The first nan is better than all else, as in ld_tensor_extreme. */
static bool is_better(float v, float top, int sign)
{
    if (v != v || top != top)
        return top == top;
    return sign > 0 ? v > top : v < top;
}

ld_status ld_op_extremes(ld_tape *tape, ld_tensor **out, ld_tensor *x, int dim, int sign)
{
    ld_tensor *y = NULL;
    ld_index *best = NULL;
    ld_node node = {.name = sign > 0 ? "max" : "min",
                    .backward = extremes_backward,
                    .unread = LD_IN0 | LD_OUT,
                    .in = {x},
                    .variant = dim};
    steps to = steps_along(x, dim);
    ld_status st = LD_OK;
    if (to.size > 0 && ld_tensor_size(x) == 0)
        return ld_fail(LD_SHAPE, "%s: nothing to choose from in %s", node.name, ld_tensor_shape(x));
    LD_TRY(ld_tensor_new(&y, 1, to.size, 1));
    LD_TRY(ld_index_new(&best, to.size));
    for (int64_t r = 0; r < x->n_rows; r++)
        for (int64_t j = 0; j < x->n_cols; j++) {
            int64_t k = r * to.row + j * to.col, other = dim == 0 ? r : j;
            float v = x->data[r * x->n_cols + j];
            if (other == 0 || is_better(v, y->data[k], sign)) {
                y->data[k] = v;
                best->data[k] = (int32_t)other;
            }
        }
    node.index = best;
done:
    st = ld_tape_finish(tape, out, y, &node, st);
    ld_index_unref(best);
    return st;
}

/* dx = dy x / y, and zeros at 0 */
static ld_status norm_backward(ld_node *n)
{
    double y = n->out->data[0], dy = n->out->grad->data[0];
    return pass_scaled(n->in[0], n->in[0]->data, y == 0 ? 0 : dy / y);
}

ld_status ld_op_norm(ld_tape *tape, ld_tensor **out, ld_tensor *x)
{
    ld_tensor *y;
    ld_node node = {.name = "norm", .backward = norm_backward, .in = {x}};
    ld_status st = ld_tensor_new(&y, 1, 1, 1);
    if (st != LD_OK)
        return st;
    y->data[0] = (float)ld_tensor_norm(x);
    return ld_tape_finish(tape, out, y, &node, LD_OK);
}

/* Running sums along a dimension, from its first element, or from its last one backwards; y is added
 * to when accumulate. */
static ld_status running_sums(ld_tensor *y, const ld_tensor *x, int dim, bool backwards,
                              bool accumulate)
{
    steps to = steps_along(x, dim);
    double *sums = ld_calloc_array(to.size, sizeof *sums, LD_MEM_SCRATCH);
    if (!sums)
        return LD_NOMEM;
    for (int64_t i = 0, size = ld_tensor_size(x); i < size; i++) {
        int64_t at = backwards ? size - 1 - i : i;
        double *sum = &sums[at / x->n_cols * to.row + at % x->n_cols * to.col];
        *sum += x->data[at];
        y->data[at] = (float)(accumulate ? y->data[at] + *sum : *sum);
    }
    ld_free(sums);
    return LD_OK;
}

static ld_status cumsum_backward(ld_node *n)
{
    ld_tensor *grad;
    bool accumulate;
    ld_status st = ld_grad_target(n->in[0], &grad, &accumulate);
    return st != LD_OK ? st : running_sums(grad, n->out->grad, n->variant, true, accumulate);
}

ld_status ld_op_cumsum(ld_tape *tape, ld_tensor **out, ld_tensor *x, int dim)
{
    ld_tensor *y = NULL;
    ld_node node = {.name = "cumsum",
                    .backward = cumsum_backward,
                    .unread = LD_IN0 | LD_OUT,
                    .in = {x},
                    .variant = dim};
    ld_status st = ld_tensor_like(&y, x);
    if (st == LD_OK)
        st = running_sums(y, x, dim, false, false);
    return ld_tape_finish(tape, out, y, &node, st);
}

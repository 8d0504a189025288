/* Softmax over rows and its logarithm, with the largest element subtracted first: no exponential
 * overflows, and a row's sum is at least 1. */
#include <math.h>

#include "base/fastmath.h"
#include "base/simd.h"
#include "base/threads.h"
#include "grad/op.h"

enum { ROW_GRAIN = 64 };

/* y = x - log(sum(exp(x))) for one row. */
static void log_softmax_row(float *y, const float *x, int64_t k)
{
    float top = x[0];
    for (int64_t j = 1; j < k; j++)
        top = x[j] > top ? x[j] : top;
    double sum = 0;
    for (int64_t j = 0; j < k; j++)
        sum += expf(x[j] - top);
    float shift = top + (float)log(sum);
    for (int64_t j = 0; j < k; j++)
        y[j] = x[j] - shift;
}

/* y = exp(x) / sum(exp(x)) for one row. */
static void softmax_row(float *y, const float *x, int64_t k)
{
    float top = x[0];
    for (int64_t j = 1; j < k; j++)
        top = x[j] > top ? x[j] : top;
    double sum = 0;
    for (int64_t j = 0; j < k; j++) {
        y[j] = expf(x[j] - top);
        sum += y[j];
    }
    for (int64_t j = 0; j < k; j++)
        y[j] = (float)(y[j] / sum);
}

typedef struct {
    const float *x;
    float *y;
    int64_t k;
    void (*row)(float *y, const float *x, int64_t k);
} softmax;

static void softmax_rows(void *ctx, int64_t begin, int64_t end)
{
    const softmax *p = ctx;
    for (int64_t r = begin; r < end; r++)
        p->row(p->y + r * p->k, p->x + r * p->k, p->k);
}

static ld_status each_row(ld_tensor **out, const ld_tensor *x,
                          void (*row)(float *y, const float *x, int64_t k), const char *where)
{
    if (x->ndim != 2 || x->n_cols < 1)
        return ld_fail(LD_SHAPE, "%s: logits of n x classes expected, got %s", where,
                       ld_tensor_shape(x));
    ld_status st = ld_tensor_like(out, x);
    if (st != LD_OK)
        return st;
    softmax p = {x->data, (*out)->data, x->n_cols, row};
    return ld_parallel_for(x->n_rows, ROW_GRAIN, softmax_rows, &p);
}

ld_status ld_log_softmax(ld_tensor **out, const ld_tensor *x, const char *where)
{
    return each_row(out, x, log_softmax_row, where);
}

typedef struct {
    float *grad;
    const float *y, *g;
    int64_t k;
    bool of_log, accumulate;
} softmax_d;

/* dx = y * (dy - sum(y * dy)), and for the logarithm dx = dy - softmax(x) * sum(dy). */
static inline __attribute__((always_inline)) void gradient_row(const softmax_d *p, int64_t r,
                                                               bool of_log, bool add)
{
    const float *y = p->y + r * p->k, *g = p->g + r * p->k;
    float *d = p->grad + r * p->k;
    double total = 0;
    for (int64_t j = 0; j < p->k; j++)
        total += of_log ? g[j] : (double)y[j] * g[j];
    float sum = (float)total;
    LD_INDEPENDENT /* the two gradients may be the same memory */
    for (int64_t j = 0; j < p->k; j++) {
        float v = of_log ? g[j] - ld_expf(y[j]) * sum : y[j] * (g[j] - sum);
        d[j] = add ? d[j] + v : v;
    }
}

LD_CLONES(gradient_rows)
{
    const softmax_d *p = ctx;
    for (int64_t r = begin; r < end; r++) {
        if (p->accumulate)
            gradient_row(p, r, p->of_log, true);
        else if (p->of_log)
            gradient_row(p, r, true, false);
        else
            gradient_row(p, r, false, false);
    }
}

/* variant: whether it is of the logarithm */
static ld_status softmax_backward(ld_node *n)
{
    ld_tensor *grad;
    softmax_d p = {
        .y = n->out->data, .g = n->out->grad->data, .k = n->out->n_cols, .of_log = n->variant};
    ld_status st = ld_grad_pass(n, n->in[0], &grad, &p.accumulate);
    if (st != LD_OK)
        return st;
    p.grad = grad->data;
    return ld_parallel_for(grad->n_rows, ROW_GRAIN, gradient_rows, &p);
}

ld_status ld_op_log_softmax(ld_tape *tape, ld_tensor **out, ld_tensor *x)
{
    ld_tensor *y = NULL;
    ld_node node = {.name = "log_softmax",
                    .backward = softmax_backward,
                    .unread = LD_IN0,
                    .in = {x},
                    .variant = true};
    ld_status st = ld_log_softmax(&y, x, "log_softmax");
    return ld_tape_finish(tape, out, y, &node, st);
}

ld_status ld_op_softmax(ld_tape *tape, ld_tensor **out, ld_tensor *x)
{
    ld_tensor *y = NULL;
    ld_node node = {.name = "softmax", .backward = softmax_backward, .unread = LD_IN0, .in = {x}};
    ld_status st = each_row(&y, x, softmax_row, "softmax");
    return ld_tape_finish(tape, out, y, &node, st);
}

/* Functions of one element. Backward needs x or y = f(x) only; both are at hand on the tape. */
#include <math.h>

#include "base/fastmath.h"
#include "base/simd.h"
#include "base/threads.h"
#include "grad/op.h"

enum { CHUNK = 1 << 14 };

typedef struct {
    float *out;              /* y, or dx, which may be where dy is */
    const float *x, *y, *dy; /* y and dy in backward only */
    float parameter, high;
    ld_unary kind;
    bool accumulate;
} unary;

#define EACH(expression)                                                                           \
    for (int64_t i = begin; i < end; i++) {                                                        \
        float x = p->x[i];                                                                         \
        p->out[i] = (expression);                                                                  \
    }                                                                                              \
    break

LD_CLONES(forward)
{
    const unary *p = ctx;
    float c = p->parameter;
    switch (p->kind) {
    case LD_RELU: EACH(x < 0 ? 0 : x);
    case LD_LEAKY_RELU: EACH(x > 0 ? x : c * x);
    case LD_ELU: EACH(x > 0 ? x : c * ld_expm1f(x));
    case LD_SIGMOID: EACH(1.0f / (1.0f + ld_expf(-x)));
    case LD_TANH: EACH(ld_tanhf(x));
    case LD_EXP: EACH(ld_expf(x));
    case LD_LOG: EACH(logf(x));
    case LD_SQRT: EACH(sqrtf(x));
    case LD_SQUARE: EACH(x * x);
    case LD_ABS: EACH(fabsf(x));
    case LD_RECIPROCAL: EACH(c / x);
    case LD_CLAMP: EACH(x < c ? c : x > p->high ? p->high : x);
    }
}
#undef EACH

#define EACH(expression)                                                                           \
    LD_INDEPENDENT                                                                                 \
    for (int64_t i = begin; i < end; i++) {                                                        \
        float x = p->x[i], y = p->y[i], d = p->dy[i] * (expression);                               \
        (void)x, (void)y;                                                                          \
        p->out[i] = p->accumulate ? p->out[i] + d : d;                                             \
    }                                                                                              \
    break

LD_CLONES(backward)
{
    const unary *p = ctx;
    float c = p->parameter;
    switch (p->kind) {
    case LD_RELU: EACH(x > 0 ? 1.0f : 0.0f);
    case LD_LEAKY_RELU: EACH(x > 0 ? 1.0f : c);
    case LD_ELU: EACH(x > 0 ? 1.0f : y + c);
    case LD_SIGMOID: EACH(y * (1.0f - y));
    case LD_TANH: EACH(1.0f - y * y);
    case LD_EXP: EACH(y);
    case LD_LOG: EACH(1.0f / x);
    case LD_SQRT: EACH(0.5f / y);
    case LD_SQUARE: EACH(2.0f * x);
    case LD_ABS: EACH((float)(x > 0) - (float)(x < 0));
    case LD_RECIPROCAL: EACH(-y / x);
    case LD_CLAMP: EACH(x == y ? 1.0f : 0.0f);
    }
}
#undef EACH

static ld_status unary_backward(ld_node *n)
{
    ld_tensor *grad;
    unary p = {.x = n->in[0]->data,
               .y = n->out->data,
               .dy = n->out->grad->data,
               .kind = (ld_unary)n->variant,
               .parameter = (float)n->number};
    ld_status st = ld_grad_pass(n, n->in[0], &grad, &p.accumulate);
    if (st != LD_OK)
        return st;
    p.out = grad->data;
    return ld_parallel_for(ld_tensor_size(grad), CHUNK, backward, &p);
}

static const struct {
    const char *name;
    unsigned unread;
} kinds[] = {
    [LD_RELU] = {"relu", LD_OUT},
    [LD_LEAKY_RELU] = {"leaky_relu", LD_OUT},
    [LD_ELU] = {"elu", 0},
    [LD_SIGMOID] = {"sigmoid", LD_IN0},
    [LD_TANH] = {"tanh", LD_IN0},
    [LD_EXP] = {"exp", LD_IN0},
    [LD_LOG] = {"log", LD_OUT},
    [LD_SQRT] = {"sqrt", LD_IN0},
    [LD_SQUARE] = {"square", LD_OUT},
    [LD_ABS] = {"abs", LD_OUT},
    [LD_RECIPROCAL] = {"div", 0},
    [LD_CLAMP] = {"clamp", 0},
};

static ld_status apply(ld_tape *tape, ld_tensor **out, ld_unary kind, ld_tensor *x,
                       double parameter, double high)
{
    ld_tensor *y = NULL;
    ld_node node = {.name = kinds[kind].name,
                    .backward = unary_backward,
                    .unread = kinds[kind].unread,
                    .in = {x},
                    .variant = (int)kind,
                    .number = parameter};
    ld_status st;
    LD_TRY(ld_tensor_like(&y, x));
    unary p = {.out = y->data,
               .x = x->data,
               .kind = kind,
               .parameter = (float)parameter,
               .high = (float)high};
    LD_TRY(ld_parallel_for(ld_tensor_size(y), CHUNK, forward, &p));
done:
    return ld_tape_finish(tape, out, y, &node, st);
}

ld_status ld_op_unary(ld_tape *tape, ld_tensor **out, ld_unary kind, ld_tensor *x, double parameter)
{
    return apply(tape, out, kind, x, parameter, 0);
}

ld_status ld_op_clamp(ld_tape *tape, ld_tensor **out, ld_tensor *x, double low, double high)
{
    return apply(tape, out, LD_CLAMP, x, low, high);
}

/* Elementwise arithmetic with broadcasting. */
#include <math.h>

#include "base/simd.h"
#include "base/threads.h"
#include "grad/broadcast.h"
#include "grad/op.h"

enum { CHUNK = 1 << 15 };

static int64_t row_grain(int64_t n_cols)
{
    return n_cols >= CHUNK ? 1 : n_cols < 1 ? CHUNK : CHUNK / n_cols;
}

typedef struct {
    float *out;
    ld_operand a, b;
    int64_t n_cols;
    ld_arith kind;
} arith;

#define EACH(expression)                                                                           \
    for (int64_t j = 0; j < p->n_cols; j++) {                                                      \
        float x = a[j * ca], y = b[j * cb];                                                        \
        z[j] = (expression);                                                                       \
    }                                                                                              \
    break

/* Always inlined with constant strides where they are common, so that the loops vectorise. */
static inline __attribute__((always_inline)) void
arith_row(const arith *p, float *z, const float *a, const float *b, int64_t ca, int64_t cb)
{
    switch (p->kind) {
    case LD_ADD: EACH(x + y);
    case LD_SUB: EACH(x - y);
    case LD_MUL: EACH(x * y);
    case LD_DIV: EACH(x / y);
    case LD_POW: EACH(powf(x, y));
    }
}

static inline __attribute__((always_inline)) void arith_any_row(const arith *p, float *z,
                                                                const float *a, const float *b)
{
    if (p->a.col == 1 && p->b.col == 1)
        arith_row(p, z, a, b, 1, 1);
    else if (p->a.col == 1 && p->b.col == 0)
        arith_row(p, z, a, b, 1, 0);
    else
        arith_row(p, z, a, b, p->a.col, p->b.col);
}

LD_CLONES(arith_rows)
{
    const arith *p = ctx;
    for (int64_t r = begin; r < end; r++)
        arith_any_row(p, p->out + r * p->n_cols, p->a.data + r * p->a.row,
                      p->b.data + r * p->b.row);
}

/* A piece of a vector, all of which is one row. */
LD_CLONES(arith_piece)
{
    arith p = *(const arith *)ctx;
    p.n_cols = end - begin;
    arith_any_row(&p, p.out + begin, p.a.data + begin * p.a.col, p.b.data + begin * p.b.col);
}

#undef EACH

/* The derivative of x^y in x and in y, which is taken for 0 where y = 0, and where x = 0 and y >= 0. */
static inline float power_dx(float x, float y)
{
    return y == 0 ? 0.0f : y * powf(x, y - 1.0f);
}

static inline float power_dy(float x, float y)
{
    return x == 0 && y >= 0 ? 0.0f : powf(x, y) * logf(x);
}

/* To d, which may be where the result's gradient g is, go or are added g times the derivatives in x
 * (side 0) or y (side 1). */
typedef struct {
    float *d;
    const float *g;
    ld_operand a, b;
    int64_t n_cols;
    ld_arith kind;
    int side;
    bool accumulate;
} arith_d;

#define EACH(expression)                                                                           \
    LD_INDEPENDENT                                                                                 \
    for (int64_t j = 0; j < p->n_cols; j++) {                                                      \
        float x = a[j * ca], y = b[j * cb], v = g[j] * (expression);                               \
        (void)x, (void)y;                                                                          \
        d[j] = p->accumulate ? d[j] + v : v;                                                       \
    }                                                                                              \
    break

static inline __attribute__((always_inline)) void arith_d_row(const arith_d *p, int64_t row,
                                                              int64_t ca, int64_t cb)
{
    const float *a = p->a.data + row * p->a.row, *b = p->b.data + row * p->b.row;
    const float *g = p->g + row * p->n_cols;
    float *d = p->d + row * p->n_cols;
    switch (2 * (int)p->kind + p->side) {
    case 2 * LD_ADD:
    case 2 * LD_ADD + 1:
    case 2 * LD_SUB: EACH(1.0f);
    case 2 * LD_SUB + 1: EACH(-1.0f);
    case 2 * LD_MUL: EACH(y);
    case 2 * LD_MUL + 1: EACH(x);
    case 2 * LD_DIV: EACH(1.0f / y);
    case 2 * LD_DIV + 1: EACH(-x / (y * y));
    case 2 * LD_POW: EACH(power_dx(x, y));
    case 2 * LD_POW + 1: EACH(power_dy(x, y));
    }
}
#undef EACH

LD_CLONES(arith_d_rows)
{
    const arith_d *p = ctx;
    for (int64_t r = begin; r < end; r++) {
        if (p->a.col == 1 && p->b.col == 1)
            arith_d_row(p, r, 1, 1);
        else if (p->a.col == 1 && p->b.col == 0)
            arith_d_row(p, r, 1, 0);
        else
            arith_d_row(p, r, p->a.col, p->b.col);
    }
}

/* The gradient of an operand that is spread over the result is that of its copies, summed. */
static ld_status arith_d_of_spread(const ld_node *n, arith_d *p)
{
    ld_tensor *other = n->in[!p->side], *times = NULL;
    if (p->kind == LD_MUL && ld_tensor_same_shape(other, n->out))
        times = other;
    bool ones = p->kind == LD_ADD || (p->kind == LD_SUB && p->side == 0);
    ld_tensor *part = ones || times ? ld_tensor_ref(n->out->grad) : NULL;
    ld_status st = LD_OK;
    if (!part) {
        LD_TRY(ld_tensor_like(&part, n->out));
        p->d = part->data;
        LD_TRY(ld_parallel_for(part->n_rows, row_grain(p->n_cols), arith_d_rows, p));
    }
    LD_TRY(ld_grad_add_broadcast(n->in[p->side], p->side ? &p->b : &p->a, part, times));
done:
    ld_tensor_unref(part);
    return st;
}

static ld_status arith_backward(ld_node *n)
{
    const ld_tensor *out = n->out;
    arith_d p = {.g = out->grad->data, .n_cols = out->n_cols, .kind = (ld_arith)n->variant};
    ld_status st = LD_OK;
    ld_operand_view(&p.a, n->in[0], out);
    ld_operand_view(&p.b, n->in[1], out);
    int last = ld_wants_grad(n->in[1]) && ld_tensor_same_shape(n->in[1], out) ? 1 : 0;
    for (int i = 0; i < 2; i++) {
        /* the operand that may get the result's gradient itself comes last */
        ld_tensor *x = n->in[p.side = i ? last : !last], *grad;
        if (!ld_wants_grad(x))
            continue;
        p.accumulate = false;
        if (!ld_tensor_same_shape(x, out)) {
            LD_TRY(arith_d_of_spread(n, &p));
            continue;
        }
        LD_TRY(i ? ld_grad_pass(n, x, &grad, &p.accumulate)
                 : ld_grad_target(x, &grad, &p.accumulate));
        p.d = grad->data;
        LD_TRY(ld_parallel_for(out->n_rows, row_grain(p.n_cols), arith_d_rows, &p));
    }
done:
    return st;
}

static const char *const arith_names[] = {"add", "sub", "mul", "div", "pow"};

ld_status ld_op_arith(ld_tape *tape, ld_tensor **out, ld_arith kind, ld_tensor *a, ld_tensor *b)
{
    const ld_tensor *shape;
    ld_operand operand[2];
    ld_tensor *y = NULL;
    bool sums = kind == LD_ADD || kind == LD_SUB;
    ld_node node = {.name = arith_names[kind],
                    .backward = arith_backward,
                    .unread = sums ? LD_IN0 | LD_IN1 | LD_OUT : LD_OUT,
                    .in = {a, b},
                    .variant = (int)kind};
    ld_status st;
    LD_TRY(ld_broadcast(operand, &shape, node.name, 2, node.in));
    LD_TRY(ld_tensor_like(&y, shape));
    arith p = {y->data, operand[0], operand[1], y->n_cols, kind};
    if (y->ndim == 1)
        LD_TRY(ld_parallel_for(y->n_rows, CHUNK, arith_piece, &p));
    else
        LD_TRY(ld_parallel_for(y->n_rows, row_grain(y->n_cols), arith_rows, &p));
done:
    return ld_tape_finish(tape, out, y, &node, st);
}

typedef struct {
    float *y;
    const float *x;
    float scale, shift;
    bool accumulate;
} affine;

LD_CLONES(affine_chunk)
{
    const affine *p = ctx;
    if (p->accumulate) {
        for (int64_t i = begin; i < end; i++)
            p->y[i] += p->scale * p->x[i];
    } else {
        /* backward the two may be the same memory */
        LD_INDEPENDENT
        for (int64_t i = begin; i < end; i++)
            p->y[i] = p->scale * p->x[i] + p->shift;
    }
}

static ld_status affine_backward(ld_node *n)
{
    ld_tensor *grad;
    affine p = {.scale = (float)n->number, .x = n->out->grad->data};
    ld_status st = ld_grad_pass(n, n->in[0], &grad, &p.accumulate);
    if (st != LD_OK)
        return st;
    p.y = grad->data;
    return ld_parallel_for(ld_tensor_size(grad), CHUNK, affine_chunk, &p);
}

ld_status ld_op_affine(ld_tape *tape, ld_tensor **out, ld_tensor *x, double scale, double shift)
{
    ld_tensor *y = NULL;
    ld_node node = {.name = "arithmetic with a number",
                    .backward = affine_backward,
                    .unread = LD_IN0 | LD_OUT,
                    .in = {x},
                    .number = scale};
    ld_status st;
    LD_TRY(ld_tensor_like(&y, x));
    affine p = {y->data, x->data, (float)scale, (float)shift, false};
    LD_TRY(ld_parallel_for(ld_tensor_size(y), CHUNK, affine_chunk, &p));
done:
    return ld_tape_finish(tape, out, y, &node, st);
}

/* Elementwise arithmetic with broadcasting. Each operand is read through two strides: (n_cols, 1)
 * for the full shape, (0, 1) for a row vector, (1, 0) for a column, (0, 0) for a single element.
 * Backward makes the gradient in the result's shape and sums it over the strides that are 0. */
#include "base/simd.h"
#include "base/threads.h"
#include "grad/op.h"

enum { CHUNK = 1 << 15 };

typedef struct {
    const float *data;
    int64_t row, col; /* strides */
} operand;

static int64_t row_grain(int64_t n_cols)
{
    return n_cols >= CHUNK ? 1 : n_cols < 1 ? CHUNK : CHUNK / n_cols;
}

/* How x is read as an operand of an n_rows x n_cols result; false when it does not fit. */
static bool view_operand(operand *o, const ld_tensor *x, int ndim, int64_t n_rows, int64_t n_cols)
{
    o->data = x->data;
    o->row = o->col = 0;
    if (x->ndim == ndim && x->n_rows == n_rows && x->n_cols == n_cols) {
        o->row = n_cols;
        o->col = 1;
        return true;
    }
    if (ld_tensor_size(x) == 1)
        return true;
    o->col = x->ndim == 1 && ndim == 2 && x->n_rows == n_cols;
    o->row = x->ndim == 2 && ndim == 2 && x->n_rows == n_rows && x->n_cols == 1;
    return o->col || o->row;
}

typedef struct {
    float *out;
    operand a, b;
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
    }
}

LD_CLONES static void arith_rows(void *ctx, int64_t begin, int64_t end)
{
    const arith *p = ctx;
    for (int64_t r = begin; r < end; r++) {
        const float *a = p->a.data + r * p->a.row, *b = p->b.data + r * p->b.row;
        float *z = p->out + r * p->n_cols;
        if (p->a.col == 1 && p->b.col == 1)
            arith_row(p, z, a, b, 1, 1);
        else if (p->a.col == 1 && p->b.col == 0)
            arith_row(p, z, a, b, 1, 0);
        else
            arith_row(p, z, a, b, p->a.col, p->b.col);
    }
}

/* part, of the result's shape, summed to x's shape and added to x's gradient. */
static ld_status reduce_to(ld_tensor *x, const float *part, const operand *o, int64_t n_rows,
                           int64_t n_cols)
{
    ld_tensor *grad;
    ld_status st = ld_grad_zeroed(x, &grad);
    if (st != LD_OK)
        return st;
    if (o->row == 0 && o->col == 0) {
        double sum = 0;
        for (int64_t i = 0; i < n_rows * n_cols; i++)
            sum += part[i];
        grad->data[0] += (float)sum;
        return LD_OK;
    }
    for (int64_t r = 0; r < n_rows; r++)
        for (int64_t j = 0; j < n_cols; j++)
            grad->data[r * o->row + j * o->col] += part[r * n_cols + j];
    return LD_OK;
}

/* d(a + b) = 1, 1;  d(a - b) = 1, -1;  d(a b) = b, a;  d(a / b) = 1 / b, -a / b^2 */
static ld_status arith_backward(ld_node *n)
{
    ld_arith kind = (ld_arith)n->variant;
    const ld_tensor *out = n->out;
    int64_t n_rows = out->n_rows, n_cols = out->n_cols;
    const float *g = out->grad->data;
    operand side[2];
    ld_tensor *part = NULL;
    ld_status st = LD_OK;
    view_operand(&side[0], n->in[0], out->ndim, n_rows, n_cols);
    view_operand(&side[1], n->in[1], out->ndim, n_rows, n_cols);
    for (int i = 0; i < 2; i++) {
        if (!ld_wants_grad(n->in[i]))
            continue;
        if (!part)
            LD_TRY(ld_tensor_like(&part, out));
        for (int64_t r = 0; r < n_rows; r++) {
            const float *a = side[0].data + r * side[0].row, *b = side[1].data + r * side[1].row;
            for (int64_t j = 0; j < n_cols; j++) {
                float x = a[j * side[0].col], y = b[j * side[1].col], d = 1.0f;
                switch (kind) {
                case LD_ADD: break;
                case LD_SUB: d = i == 0 ? 1.0f : -1.0f; break;
                case LD_MUL: d = i == 0 ? y : x; break;
                case LD_DIV: d = i == 0 ? 1.0f / y : -x / (y * y); break;
                }
                part->data[r * n_cols + j] = g[r * n_cols + j] * d;
            }
        }
        LD_TRY(reduce_to(n->in[i], part->data, &side[i], n_rows, n_cols));
    }
done:
    ld_tensor_unref(part);
    return st;
}

static const char *const arith_names[] = {"add", "sub", "mul", "div"};

ld_status ld_op_arith(ld_tape *tape, ld_tensor **out, ld_arith kind, ld_tensor *a, ld_tensor *b)
{
    /* The result has the shape of the operand that is no single element, row or column. */
    bool single_a = ld_tensor_size(a) == 1, single_b = ld_tensor_size(b) == 1;
    bool b_wins = single_a != single_b ? single_a
                  : b->ndim != a->ndim ? b->ndim > a->ndim
                                       : b->n_cols > a->n_cols;
    const ld_tensor *big = b_wins ? b : a;
    ld_tensor *y = NULL;
    bool sums = kind == LD_ADD || kind == LD_SUB;
    ld_node node = {.name = arith_names[kind],
                    .backward = arith_backward,
                    .unread = sums ? LD_IN0 | LD_IN1 | LD_OUT : LD_OUT,
                    .in = {a, b},
                    .variant = (int)kind};
    arith p = {.n_cols = big->n_cols, .kind = kind};
    ld_status st;
    if (!view_operand(&p.a, a, big->ndim, big->n_rows, big->n_cols) ||
        !view_operand(&p.b, b, big->ndim, big->n_rows, big->n_cols))
        return ld_fail(LD_SHAPE,
                       "%s: shapes %s and %s do not fit (the same shape, a vector as long as a "
                       "row, an n x 1 column, or one element)",
                       arith_names[kind], ld_tensor_shape(a), ld_tensor_shape(b));
    LD_TRY(ld_tensor_like(&y, big));
    p.out = y->data;
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

LD_CLONES static void affine_chunk(void *ctx, int64_t begin, int64_t end)
{
    const affine *p = ctx;
    if (p->accumulate)
        for (int64_t i = begin; i < end; i++)
            p->y[i] += p->scale * p->x[i];
    else
        for (int64_t i = begin; i < end; i++)
            p->y[i] = p->scale * p->x[i] + p->shift;
}

static ld_status affine_backward(ld_node *n)
{
    ld_tensor *grad;
    affine p = {.scale = (float)n->number, .x = n->out->grad->data};
    ld_status st = ld_grad_target(n->in[0], &grad, &p.accumulate);
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

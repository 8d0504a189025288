/* Operations element by element: functions, arithmetic and comparisons of tensors that meet as
 * broadcast.h says, and the choice between two tensors by a mask. */
#include "grad/broadcast.h"
#include "grad/op.h"

/* --- of one element --------------------------------------------------------------------------- */

/* Backward of a function of each element. The node's variant is the function, its number the
 * parameter. */
static ld_status unary_backward(ld_node *n)
{
    const ld_tensor *x = n->in[0], *y = n->out;
    ld_tensor *dx;
    bool accumulate;
    LD_CHECK(ld_grad_pass(n, n->in[0], &dx, &accumulate));
    return ld_map_backward(dx->data, y->grad->data, x->data, y->data, ld_tensor_size(x),
                           (ld_unary)n->variant, (float)n->number, accumulate);
}

static const struct {
    const char *name;
    unsigned unread;
} functions[] = {
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
    [LD_SIN] = {"sin", LD_OUT},
    [LD_COS] = {"cos", LD_OUT},
    [LD_HUBER] = {"huber", LD_OUT},
    [LD_FLOOR] = {"floor", LD_IN0 | LD_OUT},
    [LD_ROUND] = {"round", LD_IN0 | LD_OUT},
};

static ld_status apply(ld_tape *tape, ld_tensor **out, ld_unary kind, ld_tensor *x,
                       double parameter, double high)
{
    LD_OWN(ld_tensor) *y = NULL;
    ld_node node = {.name = functions[kind].name,
                    .backward = unary_backward,
                    .unread = functions[kind].unread,
                    .in = {x},
                    .variant = (int)kind,
                    .number = parameter};
    LD_CHECK(ld_tensor_like(&y, x));
    LD_CHECK(ld_map(y->data, x->data, ld_tensor_size(x), kind, (float)parameter, (float)high));
    return ld_tape_finish(tape, out, y, &node);
}

ld_status ld_op_unary(ld_tape *tape, ld_tensor **out, ld_unary kind, ld_tensor *x, double parameter)
{
    if (kind == LD_HUBER && !(parameter > 0))
        return ld_fail(LD_VALUE, "huber: delta must be above 0, got %g", parameter);
    return apply(tape, out, kind, x, parameter, 0);
}

ld_status ld_op_clamp(ld_tape *tape, ld_tensor **out, ld_tensor *x, double low, double high)
{
    return apply(tape, out, LD_CLAMP, x, low, high);
}

/* Backward of scale * x + shift. The node's number is the scale. */
static ld_status affine_backward(ld_node *n)
{
    const ld_tensor *dy = n->out->grad;
    ld_tensor *dx;
    bool accumulate;
    LD_CHECK(ld_grad_pass(n, n->in[0], &dx, &accumulate));
    if (accumulate)
        return ld_scale(dx->data, dy->data, ld_tensor_size(dy), (float)n->number, true);
    return ld_affine(dx->data, dy->data, ld_tensor_size(dy), (float)n->number, 0);
}

ld_status ld_op_affine(ld_tape *tape, ld_tensor **out, ld_tensor *x, double scale, double shift)
{
    LD_OWN(ld_tensor) *y = NULL;
    ld_node node = {.name = "arithmetic with a number",
                    .backward = affine_backward,
                    .unread = LD_IN0 | LD_OUT,
                    .in = {x},
                    .number = scale};
    LD_CHECK(ld_tensor_like(&y, x));
    LD_CHECK(ld_affine(y->data, x->data, ld_tensor_size(x), (float)scale, (float)shift));
    return ld_tape_finish(tape, out, y, &node);
}

/* --- arithmetic ------------------------------------------------------------------------------- */

/* Passes the gradient on to an operand that is spread over the result: it is that of its copies,
 * summed. The node's variant is the operation. */
static ld_status spread_backward(const ld_node *n, int side, const ld_operand operand[2])
{
    const ld_arith op = (ld_arith)n->variant;
    const ld_tensor *out = n->out;
    ld_tensor *other = n->in[!side], *times = NULL;
    if (op == LD_MUL && ld_tensor_same_shape(other, out))
        times = other;
    bool ones = op == LD_ADD || (op == LD_SUB && side == 0);
    LD_OWN(ld_tensor) *part = ones || times ? ld_tensor_ref(out->grad) : NULL;
    if (!part) {
        LD_CHECK(ld_tensor_like(&part, out));
        LD_CHECK(ld_combine_backward(part->data, out->grad->data, operand[0], operand[1],
                                     out->n_rows, out->n_cols, op, side == 1, false));
    }
    return ld_grad_add_broadcast(n->in[side], &operand[side], part, times);
}

static ld_status arith_backward(ld_node *n)
{
    const ld_tensor *out = n->out;
    ld_operand operand[2];
    for (int i = 0; i < 2; i++)
        ld_operand_view(&operand[i], n->in[i], out);
    int last = ld_wants_grad(n->in[1]) && ld_tensor_same_shape(n->in[1], out) ? 1 : 0;
    for (int i = 0; i < 2; i++) {
        /* the operand that may get the result's gradient itself comes last */
        int side = i ? last : !last;
        bool accumulate;
        ld_tensor *x = n->in[side], *grad;
        if (!ld_wants_grad(x))
            continue;
        if (!ld_tensor_same_shape(x, out)) {
            LD_CHECK(spread_backward(n, side, operand));
            continue;
        }
        LD_CHECK(i ? ld_grad_pass(n, x, &grad, &accumulate)
                   : ld_grad_target(x, &grad, &accumulate));
        LD_CHECK(ld_combine_backward(grad->data, out->grad->data, operand[0], operand[1],
                                     out->n_rows, out->n_cols, (ld_arith)n->variant, side == 1,
                                     accumulate));
    }
    return LD_OK;
}

ld_status ld_op_arith(ld_tape *tape, ld_tensor **out, ld_arith kind, ld_tensor *a, ld_tensor *b)
{
    static const char *const names[] = {"add", "sub", "mul", "div", "pow", "mod"};
    const ld_tensor *shape;
    ld_operand operand[2];
    LD_OWN(ld_tensor) *y = NULL;
    bool sums = kind == LD_ADD || kind == LD_SUB;
    ld_node node = {.name = names[kind],
                    .backward = arith_backward,
                    .unread = sums ? LD_IN0 | LD_IN1 | LD_OUT : LD_OUT,
                    .in = {a, b},
                    .variant = (int)kind};
    LD_CHECK(ld_broadcast(operand, &shape, node.name, 2, node.in));
    LD_CHECK(ld_tensor_like(&y, shape));
    LD_CHECK(ld_combine(y->data, operand[0], operand[1], y->n_rows, y->n_cols, kind));
    return ld_tape_finish(tape, out, y, &node);
}

/* --- comparing and choosing ------------------------------------------------------------------- */

ld_status ld_compare(ld_tensor **out, ld_comparison kind, ld_tensor *a, ld_tensor *b)
{
    static const char *const names[] = {"above", "below", "equals"};
    const ld_tensor *shape;
    ld_operand operand[2];
    LD_OWN(ld_tensor) *y = NULL;
    LD_CHECK(ld_broadcast(operand, &shape, names[kind], 2, (ld_tensor *[]){a, b}));
    LD_CHECK(ld_tensor_like(&y, shape));
    LD_CHECK(ld_compare_elements(y->data, operand[0], operand[1], y->n_rows, y->n_cols, kind));
    *out = ld_take(&y);
    return LD_OK;
}

/* Backward of the choice: da = dy where the mask is not 0, db = dy elsewhere. The node's inputs are
 * the mask, a and b. */
static ld_status where_backward(ld_node *n)
{
    static const float zero;
    const ld_tensor *out = n->out;
    const ld_operand zeros = {&zero, 0, 0};
    ld_operand mask, dy, operand;
    LD_OWN(ld_tensor) *part = NULL;
    ld_operand_view(&mask, n->in[0], out);
    ld_operand_view(&dy, out->grad, out);
    for (int i = 1; i <= 2; i++) {
        if (!ld_wants_grad(n->in[i]))
            continue;
        if (!part)
            LD_CHECK(ld_tensor_like(&part, out));
        LD_CHECK(ld_choose(part->data, mask, i == 1 ? dy : zeros, i == 1 ? zeros : dy, out->n_rows,
                           out->n_cols));
        ld_operand_view(&operand, n->in[i], out);
        LD_CHECK(ld_grad_add_broadcast(n->in[i], &operand, part, NULL));
    }
    return LD_OK;
}

ld_status ld_op_where(ld_tape *tape, ld_tensor **out, ld_tensor *mask, ld_tensor *a, ld_tensor *b)
{
    const ld_tensor *shape;
    ld_operand operand[3];
    LD_OWN(ld_tensor) *y = NULL;
    ld_node node = {.name = "where",
                    .backward = where_backward,
                    .unread = LD_IN1 | LD_IN2 | LD_OUT,
                    .in = {mask, a, b}};
    LD_CHECK(ld_broadcast(operand, &shape, "where", 3, node.in));
    LD_CHECK(ld_tensor_like(&y, shape));
    LD_CHECK(ld_choose(y->data, operand[0], operand[1], operand[2], y->n_rows, y->n_cols));
    return ld_tape_finish(tape, out, y, &node);
}

/* Tensor: arithmetic, comparisons and functions, element by element. */
#include "grad/op.h"
#include "tensor/bind_tensor.h"

/* Calls the function of one element that `kind` names; the argument behind x is its parameter. */
static ld_status unary(bind_call *c)
{
    return ld_op_unary(c->tape, c->out[0].tensor, (ld_unary)c->kind, c->in[0].tensor,
                       c->in[1].number);
}

/* Returns the number at arg, where no tensor is. Anything else is an error. */
static lua_Number other_number(lua_State *L, int arg)
{
    if (luaL_testudata(L, arg, BIND_MATRIX))
        bind_arg_error(L, arg,
                       "Tensor or number expected, got ladies.Matrix; A:matmul(x) is the "
                       "product of a Matrix and a Tensor");
    if (!lua_isnumber(L, arg))
        bind_type_error(L, arg, "Tensor or number");
    return lua_tonumber(L, arg);
}

/* Returns the tensor at arg. For a number there it pushes a tensor with that one element. */
static ld_tensor *tensor_or_number(lua_State *L, int arg)
{
    ld_tensor *t = bind_to_operand(L, arg), **number;
    if (t)
        return t;
    float value = (float)other_number(L, arg);
    number = bind_new_tensor(L);
    bind_check(L, ld_tensor_full(number, 1, 1, 1, value));
    return *number;
}

/* Calls a binary operator, of which at least one operand is a tensor and the other may be a
 * number. */
static ld_status arithmetic(bind_call *c)
{
    lua_State *L = c->L;
    ld_tape *tape = bind_tape(L);
    ld_tensor **out = c->out[0].tensor, *a = bind_to_operand(L, 1), *b = bind_to_operand(L, 2);
    if (!(a && b)) {
        lua_Number number = other_number(L, a ? 2 : 1);
        ld_tensor *x = a ? a : bind_operand(L, 2);
        switch (c->kind) {
        case LD_ADD: return ld_op_affine(tape, out, x, 1, number);
        case LD_SUB:
            return a ? ld_op_affine(tape, out, x, 1, -number)
                     : ld_op_affine(tape, out, x, -1, number);
        case LD_MUL: return ld_op_affine(tape, out, x, number, 0);
        case LD_DIV:
            if (!a)
                return ld_op_unary(tape, out, LD_RECIPROCAL, x, number);
            break; /* x * (1 / number) would round twice */
        default: break;
        }
    }
    a = tensor_or_number(L, 1);
    b = tensor_or_number(L, 2);
    return ld_op_arith(tape, out, (ld_arith)c->kind, a, b);
}

static ld_status tensor_neg(bind_call *c)
{
    return ld_op_affine(bind_tape(c->L), c->out[0].tensor, bind_operand(c->L, 1), -1, 0);
}

static ld_status tensor_clamp(bind_call *c)
{
    ld_tape *tape = bind_passes_gradient(c->L, c->in[0].tensor) ? c->tape : NULL;
    return ld_op_clamp(tape, c->out[0].tensor, c->in[0].tensor, c->in[1].number, c->in[2].number);
}

static ld_status comparison(bind_call *c)
{
    return ld_compare(c->out[0].tensor, (ld_comparison)c->kind, c->in[0].tensor,
                      tensor_or_number(c->L, 2));
}

static ld_status tensor_mul_add(bind_call *c)
{
    ld_tensor *x = c->in[0].tensor, *factor = bind_to_operand(c->L, 2);
    lua_Number number = factor ? 0 : other_number(c->L, 2);
    bind_check(c->L, ld_op_mul_add(c->tape, c->out[0].tensor, x, factor, number, c->in[2].tensor,
                                   c->in[3].index, c->in[4].flag));
    if (!x->storage) /* the result took its memory */
        bind_drop_tensor(c->L, 1);
    return LD_OK;
}

static ld_status where(bind_call *c)
{
    ld_tensor *a = tensor_or_number(c->L, 2), *b = tensor_or_number(c->L, 3);
    return ld_op_where(bind_tape(c->L), c->out[0].tensor, c->in[0].tensor, a, b);
}

static const bind_function functions[] = {
    {"where", where,
     "ladies.where(mask: Tensor, a: Tensor | number, b: Tensor | number) -> Tensor\n"
     "A tensor with a's element where the mask is not 0, and b's elsewhere; a and b are Tensors\n"
     "or numbers. The result has the shape of the largest, along which a vector as long as a row,\n"
     "an n x 1 column or a single element is repeated. Differentiable in a and b: the gradient\n"
     "goes where the element came from. The mask is a constant."},
    {NULL, NULL, NULL},
};

static const bind_function methods[] = {
    {"relu", unary, "x:relu() -> Tensor\nmax(x, 0).", .passes = "x", .kind = LD_RELU},
    {"leaky_relu", unary,
     "x:leaky_relu([slope = 0.01]) -> Tensor\nx where positive, slope * x elsewhere.",
     .passes = "x", .kind = LD_LEAKY_RELU},
    {"elu", unary,
     "x:elu([alpha = 1.0]) -> Tensor\nx where positive, alpha * (exp(x) - 1) elsewhere (Clevert et "
     "al.\n"
     "2016).",
     .passes = "x", .kind = LD_ELU},
    {"sigmoid", unary, "x:sigmoid() -> Tensor\n1 / (1 + exp(-x)).", .passes = "x",
     .kind = LD_SIGMOID},
    {"tanh", unary, "x:tanh() -> Tensor", .passes = "x", .kind = LD_TANH},
    {"exp", unary, "x:exp() -> Tensor", .passes = "x", .kind = LD_EXP},
    {"log", unary, "x:log() -> Tensor\nThe natural logarithm.", .passes = "x", .kind = LD_LOG},
    {"sqrt", unary, "x:sqrt() -> Tensor", .passes = "x", .kind = LD_SQRT},
    {"square", unary, "x:square() -> Tensor", .passes = "x", .kind = LD_SQUARE},
    {"abs", unary, "x:abs() -> Tensor\nDifferentiable; the derivative at 0 is taken for 0.",
     .passes = "x", .kind = LD_ABS},
    {"sin", unary, "x:sin() -> Tensor\nThe sine of each element, in radians.", .passes = "x",
     .kind = LD_SIN},
    {"cos", unary, "x:cos() -> Tensor\nThe cosine of each element, in radians.", .passes = "x",
     .kind = LD_COS},
    {"huber", unary,
     "x:huber([delta = 1.0]) -> Tensor\n"
     "x^2 / 2 where |x| is at most delta, delta * (|x| - delta / 2) elsewhere (Huber 1964). Of\n"
     "the errors y - target it makes a loss that does not grow with the square of large ones.\n"
     "Differentiable.",
     .passes = "x", .kind = LD_HUBER},
    {"floor", unary,
     "x:floor() -> Tensor\n"
     "The greatest integer that is not above each element. What carries a gradient is refused, since\n"
     "the derivative is 0 wherever there is one.",
     .kind = LD_FLOOR},
    {"round", unary,
     "x:round() -> Tensor\n"
     "The nearest integer to each element, the even one of two. What carries a gradient is refused,\n"
     "as by x:floor().",
     .kind = LD_ROUND},
    {"clamp", tensor_clamp,
     "t:clamp(low: number, high: number) -> Tensor\n"
     "A copy with every element moved into low .. high. Differentiable: the gradient passes where\n"
     "the element was within the two.",
     .passes = "t"},
    {"mul_add", tensor_mul_add,
     "x:mul_add(factor: Tensor | number, y: Tensor [, idx: Index [, done = false]]) -> Tensor\n"
     "x * factor + y in one pass over the elements, and in one pass backward. The factor is a number\n"
     "or a Tensor of one element. y has the shape of x; with idx it has as many columns, and row i of\n"
     "x meets its row idx[i]: x * factor + y[idx]. With `done` x is not used again: the result takes\n"
     "its memory where the step can do without x, which is released then. Differentiable in x, the\n"
     "factor and y. (PyTorch's y.addcmul(x, factor), and y.add(x, alpha=factor).)",
     .passes = "x y"},
    {"above", comparison,
     "t:above(bound: Tensor | number) -> Tensor\n"
     "1 where an element is greater than the bound, a number or a Tensor whose shape fits as in\n"
     "arithmetic; 0 elsewhere, and where one of them is nan: a constant to backward. Of such masks\n"
     "m * n is \"both\", 1 - m \"not\"; see ladies.where, mask:positions() and\n"
     "t[mask].",
     .reads = "t", .kind = LD_ABOVE},
    {"below", comparison,
     "t:below(bound: Tensor | number) -> Tensor\n"
     "1 where an element is less than the bound, 0 elsewhere, as t:above.",
     .reads = "t", .kind = LD_BELOW},
    {"equals", comparison,
     "t:equals(u: Tensor | number) -> Tensor\n"
     "1 where an element equals the number u or the element of the Tensor u, 0 elsewhere, as\n"
     "t:above. (t == u is whether all of two Tensors do.)",
     .reads = "t", .kind = LD_EQUALS},
    {NULL, NULL, NULL},
};

static const bind_function operators[] = {
    {"__add", arithmetic,
     "t + u -> Tensor\n"
     "The sum, element by element; either may be a number. Along a matrix a vector as long as a row,\n"
     "an n x 1 column or a single element is repeated. Differentiable in both, as are - * / ^.",
     .kind = LD_ADD},
    {"__sub", arithmetic, "t - u -> Tensor\nThe difference, as t + u.", .kind = LD_SUB},
    {"__mul", arithmetic, "t * u -> Tensor\nThe product, element by element, as t + u.",
     .kind = LD_MUL},
    {"__div", arithmetic, "t / u -> Tensor\nThe quotient, as t + u.", .kind = LD_DIV},
    {"__pow", arithmetic,
     "t ^ u -> Tensor\nThe power, as t + u. What of its derivative is no number where t is 0 is taken\n"
     "for 0.",
     .kind = LD_POW},
    {"__mod", arithmetic,
     "t % u -> Tensor\n"
     "The remainder of t divided by u, with the sign of u, as t + u and as Lua's %; nan where u\n"
     "is 0. Differentiable: by 1 in t, and in u by the multiple that was taken away.",
     .kind = LD_MOD},
    {"__idiv", NULL, "t // u\nA Tensor has no //: (t - t % u) / u is the quotient, rounded down.",
     .raw = bind_absent},
    {"__unm", tensor_neg, "-t -> Tensor\nThe negative of each element. Differentiable."},
    {NULL, NULL, NULL},
};

const bind_subject bind_subject_elementwise = {
    .extends = {{&bind_tensor_class, methods, operators}}, .functions = {{functions}}};

/* Tensor: arithmetic, comparisons and functions, element by element. */
#include "grad/op.h"
#include "state/bind.h"

static int affine(lua_State *L, ld_tensor *x, double scale, double shift)
{
    bind_check(L, ld_op_affine(bind_tape(L), bind_new_tensor(L), x, scale, shift));
    return 1;
}

static int unary(lua_State *L, ld_unary kind, double parameter)
{
    ld_tensor *x = bind_operand(L, 1);
    bind_check(L, ld_op_unary(bind_tape(L), bind_new_tensor(L), kind, x, parameter));
    return 1;
}

/* The number at arg, where there is no tensor. */
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

/* The tensor at arg, or one of the number there, which is pushed. */
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

static int of_two(lua_State *L, ld_arith kind)
{
    ld_tensor *a = tensor_or_number(L, 1), *b = tensor_or_number(L, 2);
    bind_check(L, ld_op_arith(bind_tape(L), bind_new_tensor(L), kind, a, b));
    return 1;
}

/* Operands of a binary operator: a tensor and a tensor, or a tensor and a number. */
static int arithmetic(lua_State *L, ld_arith kind)
{
    ld_tensor *a = bind_to_operand(L, 1), *b = bind_to_operand(L, 2);
    if (a && b)
        return of_two(L, kind);
    lua_Number c = other_number(L, a ? 2 : 1);
    ld_tensor *x = a ? a : bind_operand(L, 2);
    switch (kind) {
    case LD_ADD: return affine(L, x, 1, c);
    case LD_SUB: return a ? affine(L, x, 1, -c) : affine(L, x, -1, c);
    case LD_MUL: return affine(L, x, c, 0);
    case LD_DIV: break;
    case LD_POW: return of_two(L, kind);
    }
    if (a)
        return of_two(L, kind); /* x * (1 / c) would round twice */
    bind_check(L, ld_op_unary(bind_tape(L), bind_new_tensor(L), LD_RECIPROCAL, x, c));
    return 1;
}

static int tensor_add(lua_State *L)
{
    return arithmetic(L, LD_ADD);
}

static int tensor_sub(lua_State *L)
{
    return arithmetic(L, LD_SUB);
}

static int tensor_mul(lua_State *L)
{
    return arithmetic(L, LD_MUL);
}

static int tensor_div(lua_State *L)
{
    return arithmetic(L, LD_DIV);
}

static int tensor_pow(lua_State *L)
{
    return arithmetic(L, LD_POW);
}

static int tensor_neg(lua_State *L)
{
    return affine(L, bind_operand(L, 1), -1, 0);
}

static int tensor_relu(lua_State *L)
{
    return unary(L, LD_RELU, 0);
}

static int tensor_leaky_relu(lua_State *L)
{
    return unary(L, LD_LEAKY_RELU, bind_opt_number(L, 2, 0.01));
}

static int tensor_elu(lua_State *L)
{
    return unary(L, LD_ELU, bind_opt_number(L, 2, 1));
}

static int tensor_sigmoid(lua_State *L)
{
    return unary(L, LD_SIGMOID, 0);
}

static int tensor_tanh(lua_State *L)
{
    return unary(L, LD_TANH, 0);
}

static int tensor_exp(lua_State *L)
{
    return unary(L, LD_EXP, 0);
}

static int tensor_log(lua_State *L)
{
    return unary(L, LD_LOG, 0);
}

static int tensor_sqrt(lua_State *L)
{
    return unary(L, LD_SQRT, 0);
}

static int tensor_square(lua_State *L)
{
    return unary(L, LD_SQUARE, 0);
}

static int tensor_abs(lua_State *L)
{
    return unary(L, LD_ABS, 0);
}

static int tensor_clamp(lua_State *L)
{
    ld_tensor *t = bind_operand(L, 1);
    lua_Number low = bind_check_number(L, 2), high = bind_check_number(L, 3);
    ld_tape *tape = bind_passes_gradient(L, t) ? bind_tape(L) : NULL;
    bind_check(L, ld_op_clamp(tape, bind_new_tensor(L), t, low, high));
    return 1;
}

static int comparison(lua_State *L, ld_comparison kind)
{
    ld_tensor *t = bind_operand(L, 1), *u = tensor_or_number(L, 2);
    bind_check(L, ld_compare(bind_new_tensor(L), kind, t, u));
    return 1;
}

static int tensor_above(lua_State *L)
{
    return comparison(L, LD_ABOVE);
}

static int tensor_below(lua_State *L)
{
    return comparison(L, LD_BELOW);
}

static int tensor_equals(lua_State *L)
{
    return comparison(L, LD_EQUALS);
}

static int tensor_mul_add(lua_State *L)
{
    ld_tensor *x = bind_operand(L, 1), *factor = bind_to_operand(L, 2);
    lua_Number number = factor ? 0 : other_number(L, 2);
    ld_tensor *y = bind_operand(L, 3);
    ld_index *rows = lua_isnoneornil(L, 4) ? NULL : bind_index(L, 4);
    bool done = lua_toboolean(L, 5);
    bind_check(L,
               ld_op_mul_add(bind_tape(L), bind_new_tensor(L), x, factor, number, y, rows, done));
    if (!x->storage) /* the result has it */
        bind_drop_tensor(L, 1);
    return 1;
}

static int where(lua_State *L)
{
    ld_tensor *mask = bind_tensor(L, 1);
    lua_settop(L, 3); /* what is pushed is no argument */
    ld_tensor *a = tensor_or_number(L, 2), *b = tensor_or_number(L, 3);
    bind_check(L, ld_op_where(bind_tape(L), bind_new_tensor(L), mask, a, b));
    return 1;
}

static const bind_function functions[] = {
    {"where", where,
     "ladies.where(mask: Tensor, a: Tensor | number, b: Tensor | number) -> Tensor\n"
     "Element by element that of a where the mask is not 0, that of b elsewhere; a and b are Tensors\n"
     "or numbers. The result has the shape of the largest, along which a vector as long as a row, an\n"
     "n x 1 column or a single element is repeated. Differentiable in a and b: the gradient goes\n"
     "where the element came from. The mask is a constant."},
    {NULL, NULL, NULL},
};

static const bind_function methods[] = {
    {"relu", tensor_relu, "x:relu() -> Tensor\nmax(x, 0)."},
    {"leaky_relu", tensor_leaky_relu,
     "x:leaky_relu([slope = 0.01]) -> Tensor\nx where positive, slope * x elsewhere."},
    {"elu", tensor_elu,
     "x:elu([alpha = 1.0]) -> Tensor\nx where positive, alpha * (exp(x) - 1) elsewhere (Clevert et "
     "al.\n"
     "2016)."},
    {"sigmoid", tensor_sigmoid, "x:sigmoid() -> Tensor\n1 / (1 + exp(-x))."},
    {"tanh", tensor_tanh, "x:tanh() -> Tensor"},
    {"exp", tensor_exp, "x:exp() -> Tensor"},
    {"log", tensor_log, "x:log() -> Tensor\nThe natural logarithm."},
    {"sqrt", tensor_sqrt, "x:sqrt() -> Tensor"},
    {"square", tensor_square, "x:square() -> Tensor"},
    {"abs", tensor_abs, "x:abs() -> Tensor\nDifferentiable; the derivative at 0 is taken for 0."},
    {"clamp", tensor_clamp,
     "t:clamp(low: number, high: number) -> Tensor\n"
     "A copy with every element moved into low .. high. Differentiable: the gradient passes where\n"
     "the element was within the two."},
    {"mul_add", tensor_mul_add,
     "x:mul_add(factor: Tensor | number, y: Tensor [, idx: Index [, done = false]]) -> Tensor\n"
     "x * factor + y in one pass over the elements, and in one pass backward. The factor is a number\n"
     "or a Tensor of one element. y has the shape of x; with idx it has as many columns, and row i of\n"
     "x meets its row idx[i]: x * factor + y[idx]. With `done` x is not used again: the result takes\n"
     "its memory where the step can do without x, which is released then. Differentiable in x, the\n"
     "factor and y. (PyTorch's y.addcmul(x, factor), and y.add(x, alpha=factor).)"},
    {"above", tensor_above,
     "t:above(bound: Tensor | number) -> Tensor\n"
     "1 where an element is greater than the bound, a number or a Tensor whose shape fits as in\n"
     "arithmetic; 0 elsewhere, and where one of them is nan: a constant to backward. Of such masks\n"
     "m * n is \"both\", 1 - m \"not\"; see ladies.where, mask:positions() and\n"
     "t[mask]."},
    {"below", tensor_below,
     "t:below(bound: Tensor | number) -> Tensor\n"
     "1 where an element is less than the bound, 0 elsewhere, as t:above."},
    {"equals", tensor_equals,
     "t:equals(u: Tensor | number) -> Tensor\n"
     "1 where an element equals the number u or the element of the Tensor u, 0 elsewhere, as\n"
     "t:above. (t == u is whether all of two Tensors do.)"},
    {NULL, NULL, NULL},
};

static const bind_function operators[] = {
    {"__add", tensor_add,
     "t + u -> Tensor\n"
     "The sum, element by element; either may be a number. Along a matrix a vector as long as a row,\n"
     "an n x 1 column or a single element is repeated. Differentiable in both, as are - * / ^."},
    {"__sub", tensor_sub, "t - u -> Tensor\nThe difference, as t + u."},
    {"__mul", tensor_mul, "t * u -> Tensor\nThe product, element by element, as t + u."},
    {"__div", tensor_div, "t / u -> Tensor\nThe quotient, as t + u."},
    {"__pow", tensor_pow,
     "t ^ u -> Tensor\nThe power, as t + u. What of its derivative is no number where t is 0 is taken\n"
     "for 0."},
    {"__unm", tensor_neg, "-t -> Tensor\nThe negative of each element. Differentiable."},
    {NULL, NULL, NULL},
};

void bind_open_elementwise(lua_State *L)
{
    bind_methods(L, BIND_TENSOR, methods);
    bind_operators(L, BIND_TENSOR, operators);
    bind_functions(L, functions);
}

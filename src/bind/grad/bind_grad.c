/* Gradients and the differentiable operations. */
#include <string.h>

#include "grad/op.h"
#include "state/bind.h"

/* --- gradients ---------------------------------------------------------------------------------- */

static int tensor_backward(lua_State *L)
{
    ld_tensor *loss = bind_operand(L, 1);
    bind_check(L, bind_backward(L, loss));
    return 0;
}

static int tensor_detach(lua_State *L)
{
    ld_tensor *t = bind_operand(L, 1);
    bind_check(L, ld_tape_detach(bind_new_tensor(L), t));
    return 1;
}

static int tensor_requires_grad(lua_State *L)
{
    ld_tensor *t = bind_operand(L, 1);
    if (t->step != 0)
        return bind_error(L,
                          "requires_grad_: the tensor was computed in a step; :detach() it first");
    bind_check(L, ld_tensor_check_change(t));
    t->is_parameter = true;
    t->requires_grad = lua_isnoneornil(L, 2) || lua_toboolean(L, 2);
    t->has_grad &= t->requires_grad; /* an optimizer would use it */
    lua_settop(L, 1);
    return 1;
}

static int tensor_keep_grad(lua_State *L)
{
    bind_operand(L, 1)->keep_grad = true;
    lua_settop(L, 1);
    return 1;
}

static int tensor_set_grad(lua_State *L)
{
    ld_tensor *t = bind_operand(L, 1), *given = bind_tensor(L, 2), *grad;
    bool accumulate;
    if (t->step != 0)
        return bind_error(
            L, "set_grad_: the tensor was computed in a step, in which backward would add "
               "to this gradient; set that of a parameter");
    if (!t->requires_grad)
        return bind_error(
            L,
            "set_grad_: the tensor is %s; requires_grad_() comes before, or an optimizer "
            "would use a gradient that nobody wants",
            t->is_parameter ? "a frozen parameter" : "no parameter");
    if (!ld_tensor_same_shape(t, given))
        return bind_error(L, "set_grad_: a gradient of %s for a tensor of %s",
                          ld_tensor_shape(given), ld_tensor_shape(t));
    bind_check(L, ld_grad_target(t, &grad, &accumulate));
    memmove(grad->data, given->data, (size_t)ld_tensor_size(t) * sizeof(float));
    lua_settop(L, 1);
    return 1;
}

/* --- operations --------------------------------------------------------------------------------- */

static int tensor_matmul(lua_State *L)
{
    ld_tensor *a = bind_operand(L, 1), *b = bind_operand(L, 2);
    bind_check(L, ld_op_matmul(bind_tape(L), bind_new_tensor(L), a, b));
    return 1;
}

static int tensor_linear(lua_State *L)
{
    ld_tensor *x = bind_operand(L, 1), *w = bind_operand(L, 2);
    ld_tensor *b = lua_isnoneornil(L, 3) ? NULL : bind_operand(L, 3);
    bind_check(L, ld_op_linear(bind_tape(L), bind_new_tensor(L), x, w, b));
    return 1;
}

static int matrix_matmul(lua_State *L)
{
    ld_csr *a = bind_matrix_operand(L, 1);
    ld_tensor *x = bind_operand(L, 2);
    ld_tensor *b = lua_isnoneornil(L, 3) ? NULL : bind_operand(L, 3), **out;
    ld_index *rows = lua_isnoneornil(L, 4) ? NULL : bind_index(L, 4);
    out = bind_new_tensor(L);
    bind_check(L, rows ? ld_op_spmm_rows(bind_tape(L), out, a, x, rows, b)
                       : ld_op_spmm(bind_tape(L), out, a, x, b));
    return 1;
}

static int matrix_matmul_t(lua_State *L)
{
    ld_csr *a = bind_matrix_operand(L, 1);
    ld_tensor *x = bind_operand(L, 2);
    bind_check(L, ld_op_spmm_t(bind_tape(L), bind_new_tensor(L), a, x));
    return 1;
}

static int tensor_gather(lua_State *L)
{
    ld_tensor *x = bind_operand(L, 1);
    ld_index *rows = bind_index(L, 2);
    bind_check(L, ld_op_gather(bind_tape(L), bind_new_tensor(L), x, rows));
    return 1;
}

static int tensor_scatter_add(lua_State *L)
{
    ld_tensor *x = bind_operand(L, 1);
    ld_index *rows = bind_index(L, 2);
    int64_t n_rows = bind_count(L, 3, "scatter_add: n_rows");
    bind_check(L, ld_op_scatter_add(bind_tape(L), bind_new_tensor(L), x, rows, n_rows));
    return 1;
}

static int tensor_concat(lua_State *L)
{
    ld_tensor *x = bind_operand(L, 1), *y = bind_operand(L, 2);
    bind_check(L, ld_op_concat(bind_tape(L), bind_new_tensor(L), x, y));
    return 1;
}

static int dropout(lua_State *L, bool relu)
{
    ld_tensor *x = bind_operand(L, 1);
    lua_Number p = bind_check_number(L, 2);
    ld_rng *rng = bind_rng(L, 3);
    bool done = relu && lua_toboolean(L, 4);
    bind_check(L, ld_op_dropout(bind_tape(L), bind_new_tensor(L), x, p, relu, done, rng));
    if (!x->storage) /* the result has it */
        bind_drop_tensor(L, 1);
    return 1;
}

static int tensor_dropout(lua_State *L)
{
    return dropout(L, false);
}

static int tensor_relu_dropout(lua_State *L)
{
    return dropout(L, true);
}

static int tensor_layer_norm(lua_State *L)
{
    ld_tensor *x = bind_operand(L, 1), *gain = bind_operand(L, 2), *bias = bind_operand(L, 3);
    lua_Number eps = bind_opt_number(L, 4, 1e-5);
    bind_check(L, ld_op_layer_norm(bind_tape(L), bind_new_tensor(L), x, gain, bias, eps));
    return 1;
}

static int tensor_batch_norm(lua_State *L)
{
    ld_tensor *x = bind_operand(L, 1), *gain = bind_operand(L, 2), *bias = bind_operand(L, 3);
    lua_Number eps = bind_opt_number(L, 4, 1e-5);
    ld_tensor **y = bind_new_tensor(L), **mean = bind_new_tensor(L),
              **variance = bind_new_tensor(L);
    bind_check(L, ld_op_batch_norm(bind_tape(L), y, mean, variance, x, gain, bias, eps));
    return 3;
}

static int tensor_normalize_rows(lua_State *L)
{
    ld_tensor *x = bind_operand(L, 1);
    bind_check(L, ld_op_normalize_rows(bind_tape(L), bind_new_tensor(L), x));
    return 1;
}

static int tensor_softmax(lua_State *L)
{
    ld_tensor *x = bind_operand(L, 1);
    bind_check(L, ld_op_softmax(bind_tape(L), bind_new_tensor(L), x));
    return 1;
}

static int tensor_log_softmax(lua_State *L)
{
    ld_tensor *x = bind_operand(L, 1);
    bind_check(L, ld_op_log_softmax(bind_tape(L), bind_new_tensor(L), x));
    return 1;
}

static int sums(lua_State *L, ld_tensor *x, int dim, int power, double scale)
{
    bind_check(L, ld_op_sums(bind_tape(L), bind_new_tensor(L), x, dim - 1, power, scale));
    return 1;
}

static int tensor_sum(lua_State *L)
{
    ld_tensor *x = bind_operand(L, 1);
    int dim = bind_dimension(L, 2, x);
    if (dim > 0)
        return sums(L, x, dim, 1, 1);
    bind_check(L, ld_op_sum(bind_tape(L), bind_new_tensor(L), x, 1));
    return 1;
}

static int tensor_mean(lua_State *L)
{
    ld_tensor *x = bind_operand(L, 1);
    int dim = bind_dimension(L, 2, x);
    int64_t n = dim == 0 ? ld_tensor_size(x) : dim == 1 ? x->n_rows : x->n_cols;
    if (n == 0)
        return bind_error(L, "mean: the tensor is empty, %s", ld_tensor_shape(x));
    if (dim > 0)
        return sums(L, x, dim, 1, 1 / (double)n);
    bind_check(L, ld_op_sum(bind_tape(L), bind_new_tensor(L), x, 1 / (double)n));
    return 1;
}

static int tensor_row_sums(lua_State *L)
{
    ld_tensor *x = bind_operand(L, 1);
    return sums(L, x, 2, bind_power(L, 2), 1);
}

static int tensor_col_sums(lua_State *L)
{
    ld_tensor *x = bind_operand(L, 1);
    if (x->ndim != 2)
        return bind_error(L, "col_sums: a matrix expected, got %s", ld_tensor_shape(x));
    return sums(L, x, 1, bind_power(L, 2), 1);
}

static int tensor_cumsum(lua_State *L)
{
    ld_tensor *x = bind_operand(L, 1);
    int dim = bind_dimension(L, 2, x);
    bind_check(L, ld_op_cumsum(bind_tape(L), bind_new_tensor(L), x, dim == 2 ? 1 : 0));
    return 1;
}

static int matrix_neighbour_max(lua_State *L)
{
    ld_csr *a = bind_any_matrix(L, 1);
    ld_tensor *x = bind_operand(L, 2);
    bind_check(L, ld_op_neighbour_max(bind_tape(L), bind_new_tensor(L), a, x));
    return 1;
}

static int matrix_edge_softmax(lua_State *L)
{
    ld_csr *a = bind_any_matrix(L, 1);
    ld_tensor *scores = bind_operand(L, 2);
    bind_check(L, ld_op_edge_softmax(bind_tape(L), bind_new_tensor(L), a, scores));
    return 1;
}

static int matrix_matmul_heads(lua_State *L)
{
    ld_csr *a = bind_any_matrix(L, 1);
    ld_tensor *w = bind_operand(L, 2), *x = bind_operand(L, 3);
    bind_check(L, ld_op_matmul_heads(bind_tape(L), bind_new_tensor(L), a, w, x));
    return 1;
}

static int matrix_dot_edges(lua_State *L)
{
    ld_csr *a = bind_any_matrix(L, 1);
    ld_tensor *x = bind_operand(L, 2), *y = bind_operand(L, 3);
    bind_check(L, ld_op_dot_edges(bind_tape(L), bind_new_tensor(L), a, x, y));
    return 1;
}

static int matrix_add_edges(lua_State *L)
{
    ld_csr *a = bind_any_matrix(L, 1);
    ld_tensor *x = bind_operand(L, 2), *y = bind_operand(L, 3);
    bind_check(L, ld_op_add_edges(bind_tape(L), bind_new_tensor(L), a, x, y));
    return 1;
}

static ld_tensor *optional_tensor(lua_State *L, int arg)
{
    return lua_isnoneornil(L, arg) ? NULL : bind_tensor(L, arg);
}

static int cross_entropy(lua_State *L)
{
    ld_tensor *logits = bind_operand(L, 1);
    ld_index *labels = bind_index(L, 2);
    ld_tensor *weights = optional_tensor(L, 3), *class_weights = optional_tensor(L, 4);
    bind_check(L, ld_op_cross_entropy(bind_tape(L), bind_new_tensor(L), logits, labels, weights,
                                      class_weights));
    return 1;
}

static int binary_cross_entropy(lua_State *L)
{
    ld_tensor *logits = bind_operand(L, 1), *targets = bind_tensor(L, 2);
    ld_tensor *weights = optional_tensor(L, 3);
    bind_check(
        L, ld_op_binary_cross_entropy(bind_tape(L), bind_new_tensor(L), logits, targets, weights));
    return 1;
}

static const bind_function functions[] = {
    {"cross_entropy", cross_entropy,
     "ladies_core.cross_entropy(logits, labels [, weights [, class_weights]]) -> Tensor of one\n"
     "Softmax cross-entropy; see ladies.loss.cross_entropy."},
    {"binary_cross_entropy", binary_cross_entropy,
     "ladies_core.binary_cross_entropy(logits, targets [, weights]) -> Tensor of one\n"
     "Sigmoid cross-entropy; see ladies.loss.binary_cross_entropy."},
    {NULL, NULL, NULL},
};

static const bind_function tensor_methods[] = {
    {"backward", tensor_backward,
     "loss:backward()\nComputes the gradients of a one-element tensor with respect to all\n"
     "parameters that it depends on. Once per step. An error half-way drops all gradients. Numbers\n"
     "below 2^-126 (denormal) count as zeros meanwhile: with them steps take several times as long."},
    {"detach", tensor_detach,
     "t:detach() -> Tensor\nt's value as a constant that outlives the step. Memory is shared."},
    {"requires_grad_", tensor_requires_grad,
     "t:requires_grad_([flag = true]) -> t\n"
     "Makes t a parameter (t.is_parameter), for good: gradients with respect to it are computed in\n"
     "steps and accumulate in t.grad until an optimizer uses them. Outside of a step what is made of\n"
     "t is a constant. With false it is a frozen parameter, without a gradient: it is in the files\n"
     "of its model, and training leaves it as it is."},
    {"keep_grad_", tensor_keep_grad,
     "t:keep_grad_() -> t\nKeeps the gradient of an intermediate result, so that t.grad can be "
     "read\n"
     "after backward and until the step closes."},
    {"set_grad_", tensor_set_grad,
     "t:set_grad_(gradient: Tensor) -> t\nSets the gradient of a parameter by hand. An error for any other "
     "tensor, and for a frozen one."},
    {"matmul", tensor_matmul, "a:matmul(b: Tensor) -> Tensor\nThe product of two matrices."},
    {"linear", tensor_linear,
     "x:linear(w [, b: Tensor]) -> Tensor\n"
     "x * w + b; w is inputs x outputs, b a vector of outputs."},
    {"gather", tensor_gather,
     "x:gather(idx) -> Tensor\nRow idx[i] of x as row i; also written x[idx]."},
    {"scatter_add", tensor_scatter_add,
     "x:scatter_add(idx, n_rows) -> Tensor\nn_rows rows of zeros to which row i of x is added at "
     "row\n"
     "idx[i]."},
    {"concat", tensor_concat, "x:concat(y) -> Tensor\nThe columns of x followed by those of y."},
    {"dropout", tensor_dropout,
     "x:dropout(p: number, rng) -> Tensor\n"
     "Zeroes each element with probability p (a multiple of 2^-16) "
     "and\n"
     "divides the others by 1 - p (Srivastava et al. 2014)."},
    {"relu_dropout", tensor_relu_dropout,
     "x:relu_dropout(p: number, rng [, done = false]) -> Tensor\n"
     "x:relu():dropout(p, rng) in one pass over the elements. With `done` x is not used again: the\n"
     "result takes its memory where the step can do without x, which is released then."},
    {"layer_norm", tensor_layer_norm,
     "x:layer_norm(gain: Tensor, bias: Tensor [, eps = 1e-5]) -> Tensor\n"
     "(x - mean) / sqrt(variance + eps) * gain + bias over each row (Ba et al. 2016)."},
    {"batch_norm", tensor_batch_norm,
     "x:batch_norm(gain: Tensor, bias: Tensor [, eps = 1e-5]) -> Tensor, Tensor, Tensor\n"
     "(x - mean) / sqrt(variance + eps) * gain + bias over each column (Ioffe and Szegedy 2015,\n"
     "algorithm 1), and the columns' means and variances, over n rows, as constants that outlive the\n"
     "step. Differentiable in x, of which mean and variance are functions, gain and bias. An error\n"
     "without rows."},
    {"normalize_rows", tensor_normalize_rows,
     "x:normalize_rows() -> Tensor\nEach row divided by its Euclidean length; zero rows stay "
     "zero."},
    {"softmax", tensor_softmax,
     "x:softmax() -> Tensor\nexp(x) / sum(exp(x)) over each row. Differentiable."},
    {"log_softmax", tensor_log_softmax,
     "x:log_softmax() -> Tensor\nThe logarithm of the softmax of each row. Differentiable."},
    {"sum", tensor_sum,
     "x:sum([dim]) -> Tensor\n"
     "The sum of all elements, as a vector of one; over one dimension a vector: for dim 1, over the\n"
     "rows, an element for each column (axis 0 in NumPy and PyTorch, which count from 0); for dim 2,\n"
     "over the columns, one for each row. Summed in double. Differentiable."},
    {"mean", tensor_mean,
     "x:mean([dim]) -> Tensor\nThe mean of all elements, or over one dimension, as x:sum."},
    {"row_sums", tensor_row_sums,
     "x:row_sums([power]) -> Tensor\n"
     "The sum of each row, as x:sum(2); of the squares of its elements for power 2. As those of a\n"
     "Matrix. Differentiable."},
    {"col_sums", tensor_col_sums,
     "x:col_sums([power]) -> Tensor\n"
     "The sum of each column, as x:sum(1); of the squares of its elements for power 2.\n"
     "Differentiable."},
    {"cumsum", tensor_cumsum,
     "x:cumsum([dim = 1]) -> Tensor\n"
     "Every element added to those before it, down each column (dim 1) or along each row (dim 2).\n"
     "Summed in double. Differentiable."},
    {NULL, NULL, NULL},
};

static const bind_function matrix_methods[] = {
    {"matmul", matrix_matmul,
     "A:matmul(x [, b: Tensor [, rows: Index]]) -> Tensor\n"
     "The product with a dense matrix (SpMM), to each row of which the vector b is added. With rows\n"
     "it is A:matmul(x[rows], b) to the bit, and reads them where they are unless a gradient flows\n"
     "through x or A or a copy is quicker: block.adj:matmul(features, nil, batch.input).\n"
     "Differentiable in x and b, and in the values and scales of A."},
    {"matmul_t", matrix_matmul_t,
     "A:matmul_t(x) -> Tensor\nThe product of A's transpose and x.\n"
     "Differentiable as matmul is."},
    {"neighbour_max", matrix_neighbour_max,
     "A:neighbour_max(x) -> Tensor\nElement (v, j) is the largest x[u][j] of the columns u that row "
     "v has\nentries in (segment max), 0 where it has none; A's own values do not matter.\n"
     "Differentiable in x: the gradient goes to the first of the largest."},
    {"edge_softmax", matrix_edge_softmax,
     "A:edge_softmax(scores: Tensor) -> Tensor\n"
     "Softmax of the scores over each row's entries: a vector with one per entry, or a matrix with a\n"
     "row per entry, whose columns (heads) are taken each on its own. A score of -inf gets 0, also\n"
     "where all of a row are. Differentiable."},
    {"dot_edges", matrix_dot_edges,
     "A:dot_edges(x, y) -> Tensor\nFor every entry (v, u) the dot product of row v of x and row u "
     "of\n"
     "y (SDDMM); A's own values do not matter."},
    {"add_edges", matrix_add_edges,
     "A:add_edges(x, y) -> Tensor\n"
     "For every entry (v, u) x[v] + y[u]; vectors x and y, or matrices with as many columns, whose\n"
     "rows are added. Differentiable."},
    {"matmul_heads", matrix_matmul_heads,
     "A:matmul_heads(w, x) -> Tensor\n"
     "Products with k matrices of A's structure, the heads: column h of w, which has a row per entry\n"
     "of A, holds the values of head h, and the h-th of k groups of as many columns of x is what it\n"
     "multiplies. n_rows x x.n_cols; A's own values do not matter. Differentiable in w and x."},
    {NULL, NULL, NULL},
};

void bind_open_grad(lua_State *L)
{
    bind_methods(L, BIND_TENSOR, tensor_methods);
    bind_methods(L, BIND_MATRIX, matrix_methods);
    bind_functions(L, functions);
}

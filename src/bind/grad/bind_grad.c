/* Tensor: gradients, backward, and the differentiable operations but those element by element. */
#include <string.h>

#include "grad/op.h"
#include "tensor/bind_tensor.h"

/* --- gradients -------------------------------------------------------------------------------- */

static ld_status tensor_backward(bind_call *c)
{
    return bind_backward(c->L, c->in[0].tensor);
}

static ld_status tensor_detach(bind_call *c)
{
    return ld_tape_detach(c->out[0].tensor, c->in[0].tensor);
}

static ld_status tensor_requires_grad(bind_call *c)
{
    ld_tensor *t = c->in[0].tensor;
    if (t->step != 0)
        return ld_fail(LD_STATE,
                       "requires_grad_: the tensor was computed in a step; :detach() it first");
    bind_check(c->L, ld_tensor_check_change(t));
    t->is_parameter = true;
    t->requires_grad = c->in[1].flag;
    t->has_grad &= t->requires_grad; /* otherwise an optimizer would use an old gradient */
    return LD_OK;
}

static ld_status tensor_keep_grad(bind_call *c)
{
    c->in[0].tensor->keep_grad = true;
    return LD_OK;
}

static ld_status tensor_set_grad(bind_call *c)
{
    ld_tensor *t = c->in[0].tensor, *given = c->in[1].tensor, *grad;
    bool accumulate;
    if (t->step != 0)
        return ld_fail(LD_STATE,
                       "set_grad_: the tensor was computed in a step, in which backward would add "
                       "to this gradient; set that of a parameter");
    if (!t->requires_grad)
        return ld_fail(
            LD_STATE,
            "set_grad_: the tensor is %s; requires_grad_() comes before, or an optimizer "
            "would use a gradient that nobody wants",
            t->is_parameter ? "a frozen parameter" : "no parameter");
    if (!ld_tensor_same_shape(t, given))
        return ld_fail(LD_SHAPE, "set_grad_: a gradient of %s for a tensor of %s",
                       ld_tensor_shape(given), ld_tensor_shape(t));
    bind_check(c->L, ld_grad_target(t, &grad, &accumulate));
    memmove(grad->data, given->data, (size_t)ld_tensor_size(t) * sizeof(float));
    return LD_OK;
}

/* --- operations ------------------------------------------------------------------------------- */

static ld_status tensor_matmul(bind_call *c)
{
    return ld_op_matmul(c->tape, c->out[0].tensor, c->in[0].tensor, c->in[1].tensor);
}

static ld_status tensor_linear(bind_call *c)
{
    return ld_op_linear(c->tape, c->out[0].tensor, c->in[0].tensor, c->in[1].tensor,
                        c->in[2].tensor);
}

static ld_status matrix_matmul(bind_call *c)
{
    ld_csr *a = c->in[0].matrix;
    ld_tensor *x = c->in[1].tensor, *b = c->in[2].tensor;
    if (c->in[3].index)
        return ld_op_spmm_rows(c->tape, c->out[0].tensor, a, x, c->in[3].index, b);
    return ld_op_spmm(c->tape, c->out[0].tensor, a, x, b);
}

static ld_status matrix_matmul_t(bind_call *c)
{
    return ld_op_spmm_t(c->tape, c->out[0].tensor, c->in[0].matrix, c->in[1].tensor);
}

/* Dropout or, where `kind` is 1, ReLU and dropout in one. */
static ld_status tensor_dropout(bind_call *c)
{
    ld_tensor *x = c->in[0].tensor;
    bind_check(c->L, ld_op_dropout(c->tape, c->out[0].tensor, x, c->in[1].number, c->kind,
                                   c->kind && c->in[3].flag, c->in[2].rng));
    if (!x->storage) /* the result took its memory */
        bind_drop_tensor(c->L, 1);
    return LD_OK;
}

static ld_status tensor_layer_norm(bind_call *c)
{
    return ld_op_layer_norm(c->tape, c->out[0].tensor, c->in[0].tensor, c->in[1].tensor,
                            c->in[2].tensor, c->in[3].number);
}

static ld_status tensor_batch_norm(bind_call *c)
{
    return ld_op_batch_norm(c->tape, c->out[0].tensor, c->out[1].tensor, c->out[2].tensor,
                            c->in[0].tensor, c->in[1].tensor, c->in[2].tensor, c->in[3].number);
}

static ld_status tensor_normalize_rows(bind_call *c)
{
    return ld_op_normalize_rows(c->tape, c->out[0].tensor, c->in[0].tensor);
}

static ld_status tensor_softmax(bind_call *c)
{
    return ld_op_softmax(c->tape, c->out[0].tensor, c->in[0].tensor);
}

static ld_status tensor_log_softmax(bind_call *c)
{
    return ld_op_log_softmax(c->tape, c->out[0].tensor, c->in[0].tensor);
}

static ld_status sums(bind_call *c, int dim, int power, double scale)
{
    return ld_op_sums(c->tape, c->out[0].tensor, c->in[0].tensor, dim - 1, power, scale);
}

static ld_status tensor_sum(bind_call *c)
{
    ld_tensor *x = c->in[0].tensor;
    int dim = bind_dimension(c, x);
    return dim > 0 ? sums(c, dim, 1, 1) : ld_op_sum(c->tape, c->out[0].tensor, x, 1);
}

static ld_status tensor_mean(bind_call *c)
{
    ld_tensor *x = c->in[0].tensor;
    int dim = bind_dimension(c, x);
    int64_t n = dim == 0 ? ld_tensor_size(x) : dim == 1 ? x->n_rows : x->n_cols;
    if (n == 0)
        return ld_fail(LD_SHAPE, "mean: the tensor is empty, %s", ld_tensor_shape(x));
    double scale = 1 / (double)n;
    return dim > 0 ? sums(c, dim, 1, scale) : ld_op_sum(c->tape, c->out[0].tensor, x, scale);
}

/* Computes the variance or, where `kind` is 1, its root. */
static ld_status tensor_variance(bind_call *c)
{
    ld_tensor *x = c->in[0].tensor;
    return ld_op_variance(c->tape, c->out[0].tensor, x, bind_dimension(c, x) - 1, c->in[2].number,
                          c->kind);
}

static ld_status tensor_row_sums(bind_call *c)
{
    return sums(c, 2, bind_power(c), 1);
}

static ld_status tensor_col_sums(bind_call *c)
{
    const ld_tensor *x = c->in[0].tensor;
    if (x->ndim != 2)
        return ld_fail(LD_SHAPE, "col_sums: a matrix expected, got %s", ld_tensor_shape(x));
    return sums(c, 1, bind_power(c), 1);
}

static ld_status tensor_cumsum(bind_call *c)
{
    ld_tensor *x = c->in[0].tensor;
    return ld_op_cumsum(c->tape, c->out[0].tensor, x, bind_dimension(c, x) == 2 ? 1 : 0);
}

static ld_status matrix_edge_softmax(bind_call *c)
{
    return ld_op_edge_softmax(c->tape, c->out[0].tensor, c->in[0].matrix, c->in[1].tensor);
}

static ld_status matrix_matmul_heads(bind_call *c)
{
    return ld_op_matmul_heads(c->tape, c->out[0].tensor, c->in[0].matrix, c->in[1].tensor,
                              c->in[2].tensor);
}

static ld_status matrix_dot_edges(bind_call *c)
{
    return ld_op_dot_edges(c->tape, c->out[0].tensor, c->in[0].matrix, c->in[1].tensor,
                           c->in[2].tensor);
}

static ld_status matrix_add_edges(bind_call *c)
{
    return ld_op_add_edges(c->tape, c->out[0].tensor, c->in[0].matrix, c->in[1].tensor,
                           c->in[2].tensor);
}

static ld_status cross_entropy(bind_call *c)
{
    return ld_op_cross_entropy(c->tape, c->out[0].tensor, c->in[0].tensor, c->in[1].index,
                               c->in[2].tensor, c->in[3].tensor);
}

static ld_status binary_cross_entropy(bind_call *c)
{
    return ld_op_binary_cross_entropy(c->tape, c->out[0].tensor, c->in[0].tensor, c->in[1].tensor,
                                      c->in[2].tensor);
}

static ld_status check_constant(bind_call *c)
{
    bind_check_constant(c->L, 2, c->in[0].text);
    return LD_OK;
}

static ld_status tensor_gather(bind_call *c)
{
    return ld_op_gather(c->tape, c->out[0].tensor, c->in[0].tensor, c->in[1].index);
}

static ld_status tensor_scatter_add(bind_call *c)
{
    return ld_op_scatter_add(c->tape, c->out[0].tensor, c->in[0].tensor, c->in[1].index,
                             c->in[2].integer);
}

static ld_status tensor_concat(bind_call *c)
{
    return ld_op_concat(c->tape, c->out[0].tensor, c->in[0].tensor, c->in[1].tensor);
}

static ld_status concat_rows(bind_call *c)
{
    int64_t n;
    ld_tensor **parts = bind_push_list(c->L, 1, BIND_TENSOR, &n);
    return ld_op_concat_rows(c->tape, c->out[0].tensor, parts, n);
}

static ld_status concat_two_rows(bind_call *c)
{
    ld_tensor *parts[] = {bind_operand(c->L, 1), bind_operand(c->L, 2)};
    return ld_op_concat_rows(bind_tape(c->L), c->out[0].tensor, parts, 2);
}

static const bind_function functions[] = {
    {"check_constant", check_constant,
     "ladies_core.check_constant(where, value)\n"
     "Raises an error that begins with `where` when the value is a Tensor or Matrix that carries\n"
     "a gradient while a step records, or a Matrix that does outside of steps and of no_grad. For\n"
     "functions that call what passes gradients on, but do not."},
    {"cross_entropy", cross_entropy,
     "ladies_core.cross_entropy(logits, labels [, weights [, class_weights: Tensor]]) -> Tensor\n"
     "Softmax cross-entropy, a Tensor of one; see ladies.loss.cross_entropy.",
     .passes = "logits"},
    {"binary_cross_entropy", binary_cross_entropy,
     "ladies_core.binary_cross_entropy(logits, targets: Tensor [, weights]) -> Tensor\n"
     "Sigmoid cross-entropy, a Tensor of one; see ladies.loss.binary_cross_entropy.",
     .passes = "logits"},
    {"concat_rows", concat_rows,
     "ladies.concat_rows(list: Tensor[]) -> Tensor\n"
     "The rows of the Tensors of a list one after the other, or the elements of vectors; also written\n"
     "t .. u. All must have as many columns. For Indexes it is sampling.concat. Differentiable.",
     .passes = "list"},
    {NULL, NULL, NULL},
};

static const bind_function tensor_methods[] = {
    {"backward", tensor_backward,
     "loss:backward()\nComputes the gradients of a one-element tensor with respect to all\n"
     "parameters that it depends on. Once per step. An error half-way drops all gradients. Numbers\n"
     "below 2^-126 (denormal) count as zeros meanwhile: with them steps take several times as long.",
     .reads = "loss"},
    {"detach", tensor_detach,
     "t:detach() -> Tensor\nt's value as a constant that outlives the step. Memory is shared.",
     .reads = "t"},
    {"requires_grad_", tensor_requires_grad,
     "t:requires_grad_([flag = true]) -> t\n"
     "Makes t a parameter (t.is_parameter), for good: gradients with respect to it are computed in\n"
     "steps and accumulate in t.grad until an optimizer uses them. Outside of a step what is made of\n"
     "t is a constant. With false it is a frozen parameter, without a gradient: it is in the files\n"
     "of its model, and training leaves it as it is.",
     .reads = "t"},
    {"keep_grad_", tensor_keep_grad,
     "t:keep_grad_() -> t\nKeeps the gradient of an intermediate result, so that t.grad can be "
     "read\n"
     "after backward and until the step closes.",
     .reads = "t"},
    {"set_grad_", tensor_set_grad,
     "t:set_grad_(gradient: Tensor) -> t\nSets the gradient of a parameter by hand. An error for any other "
     "tensor, and for a frozen one.",
     .reads = "t"},
    {"matmul", tensor_matmul, "a:matmul(b: Tensor) -> Tensor\nThe product of two matrices.",
     .passes = "a b"},
    {"linear", tensor_linear,
     "x:linear(w [, b: Tensor]) -> Tensor\n"
     "x * w + b; w is inputs x outputs, b a vector of outputs.",
     .passes = "x w b"},
    {"dropout", tensor_dropout,
     "x:dropout(p: number, rng) -> Tensor\n"
     "Zeroes each element with probability p (a multiple of 2^-16) "
     "and\n"
     "divides the others by 1 - p (Srivastava et al. 2014).",
     .passes = "x"},
    {"relu_dropout", tensor_dropout,
     "x:relu_dropout(p: number, rng [, done = false]) -> Tensor\n"
     "x:relu():dropout(p, rng) in one pass over the elements. With `done` x is not used again: the\n"
     "result takes its memory where the step can do without x, which is released then.",
     .passes = "x", .kind = 1},
    {"layer_norm", tensor_layer_norm,
     "x:layer_norm(gain: Tensor, bias: Tensor [, eps = 1e-5]) -> Tensor\n"
     "(x - mean) / sqrt(variance + eps) * gain + bias over each row (Ba et al. 2016).",
     .passes = "x gain bias"},
    {"batch_norm", tensor_batch_norm,
     "x:batch_norm(gain: Tensor, bias: Tensor [, eps = 1e-5]) -> Tensor, Tensor, Tensor\n"
     "(x - mean) / sqrt(variance + eps) * gain + bias over each column (Ioffe and Szegedy 2015,\n"
     "algorithm 1), and the columns' means and variances, over n rows, as constants that outlive the\n"
     "step. Differentiable in x, of which mean and variance are functions, gain and bias. An error\n"
     "without rows.",
     .passes = "x gain bias"},
    {"normalize_rows", tensor_normalize_rows,
     "x:normalize_rows() -> Tensor\nEach row divided by its Euclidean length; zero rows stay "
     "zero.",
     .passes = "x"},
    {"softmax", tensor_softmax,
     "x:softmax() -> Tensor\nexp(x) / sum(exp(x)) over each row. Differentiable.", .passes = "x"},
    {"log_softmax", tensor_log_softmax,
     "x:log_softmax() -> Tensor\nThe logarithm of the softmax of each row. Differentiable.",
     .passes = "x"},
    {"sum", tensor_sum,
     "x:sum([dim]) -> Tensor\n"
     "The sum of all elements, as a vector of one; over one dimension a vector: for dim 1, over the\n"
     "rows, an element for each column (axis 0 in NumPy and PyTorch, which count from 0); for dim 2,\n"
     "over the columns, one for each row. Summed in double. Differentiable.",
     .passes = "x"},
    {"mean", tensor_mean,
     "x:mean([dim]) -> Tensor\nThe mean of all elements, or over one dimension, as x:sum.",
     .passes = "x"},
    {"variance", tensor_variance,
     "x:variance([dim [, correction = 0.0]]) -> Tensor\n"
     "The variance, that is, the mean square of the elements less their mean, of all of them or\n"
     "over one dimension as x:sum; in double, from two passes. It divides by their number n less\n"
     "the correction: n as NumPy does, n - 1 for 1.0, as PyTorch does. Differentiable.",
     .passes = "x"},
    {"std", tensor_variance,
     "x:std([dim [, correction = 0.0]]) -> Tensor\n"
     "The standard deviation, the root of x:variance. Its derivative at 0 is taken for 0.",
     .passes = "x", .kind = 1},
    {"row_sums", tensor_row_sums,
     "x:row_sums([power = 1]) -> Tensor\n"
     "The sum of each row, as x:sum(2); of the squares of its elements for power 2. As those of a\n"
     "Matrix. Differentiable.",
     .passes = "x"},
    {"col_sums", tensor_col_sums,
     "x:col_sums([power = 1]) -> Tensor\n"
     "The sum of each column, as x:sum(1); of the squares of its elements for power 2.\n"
     "Differentiable.",
     .passes = "x"},
    {"cumsum", tensor_cumsum,
     "x:cumsum([dim = 1]) -> Tensor\n"
     "Every element added to those before it, down each column (dim 1) or along each row (dim 2).\n"
     "Summed in double. Differentiable.",
     .passes = "x"},
    {"gather", tensor_gather,
     "x:gather(idx) -> Tensor\nRow idx[i] of x as row i; also written x[idx].", .passes = "x"},
    {"scatter_add", tensor_scatter_add,
     "x:scatter_add(idx, n_rows) -> Tensor\nn_rows rows of zeros to which row i of x is added at "
     "row\n"
     "idx[i].",
     .passes = "x"},
    {"concat", tensor_concat, "x:concat(y) -> Tensor\nThe columns of x followed by those of y.",
     .passes = "x y"},
    {NULL, NULL, NULL},
};

static const bind_function tensor_operators[] = {
    {"__concat", concat_two_rows,
     "t .. u -> Tensor\n"
     "The rows of t, or its elements if it is a vector, and then those of u, as\n"
     "ladies.concat_rows{t, u}. Differentiable."},
    {NULL, NULL, NULL},
};

static const bind_function matrix_methods[] = {
    {"matmul", matrix_matmul,
     "A:matmul(x [, b: Tensor [, rows: Index]]) -> Tensor\n"
     "The product with a dense matrix (SpMM), to each row of which the vector b is added. With rows\n"
     "it is A:matmul(x[rows], b) to the bit, and reads them where they are unless a gradient flows\n"
     "through x or A or a copy is quicker: block.adj:matmul(features, nil, batch.input).\n"
     "Differentiable in x and b, and in the values and scales of A.",
     .passes = "A x b"},
    {"matmul_t", matrix_matmul_t,
     "A:matmul_t(x) -> Tensor\nThe product of A's transpose and x.\n"
     "Differentiable as matmul is.",
     .passes = "A x"},
    {"edge_softmax", matrix_edge_softmax,
     "A:edge_softmax(scores: Tensor) -> Tensor\n"
     "Softmax of the scores over each row's entries: a vector with one per entry, or a matrix with a\n"
     "row per entry, whose columns (heads) are taken each on its own. A score of -inf gets 0, also\n"
     "where all of a row are. Differentiable.",
     .passes = "scores", .reads = "A"},
    {"dot_edges", matrix_dot_edges,
     "A:dot_edges(x, y) -> Tensor\nFor every entry (v, u) the dot product of row v of x and row u "
     "of\n"
     "y (SDDMM); A's own values do not matter.",
     .passes = "x y", .reads = "A"},
    {"add_edges", matrix_add_edges,
     "A:add_edges(x, y) -> Tensor\n"
     "For every entry (v, u) x[v] + y[u]; vectors x and y, or matrices with as many columns, whose\n"
     "rows are added. Differentiable.",
     .passes = "x y", .reads = "A"},
    {"matmul_heads", matrix_matmul_heads,
     "A:matmul_heads(w, x) -> Tensor\n"
     "Products with k matrices of A's structure, the heads: column h of w, which has a row per entry\n"
     "of A, holds the values of head h, and the h-th of k groups of as many columns of x is what it\n"
     "multiplies. n_rows x x.n_cols; A's own values do not matter. Differentiable in w and x.",
     .passes = "w x", .reads = "A"},
    {NULL, NULL, NULL},
};

const bind_subject bind_subject_grad = {
    .extends = {{&bind_tensor_class, tensor_methods, tensor_operators},
                {&bind_matrix_class, matrix_methods}},
    .functions = {{functions}}};

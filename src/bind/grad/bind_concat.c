/* Tensor: rows and columns that are picked and put together. */
#include "grad/op.h"
#include "tensor/bind_tensor.h"

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
    {"concat_rows", concat_rows,
     "ladies.concat_rows(list: Tensor[]) -> Tensor\n"
     "The rows of the Tensors of a list one after the other, or the elements of vectors; also written\n"
     "t .. u. All must have as many columns. For Indexes it is sampling.concat. Differentiable.",
     .passes = "list"},
    {NULL, NULL, NULL},
};

static const bind_function methods[] = {
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

static const bind_function operators[] = {
    {"__concat", concat_two_rows,
     "t .. u -> Tensor\n"
     "The rows of t, or its elements if it is a vector, and then those of u, as\n"
     "ladies.concat_rows{t, u}. Differentiable."},
    {NULL, NULL, NULL},
};

const bind_subject bind_subject_concat = {.extends = {{&bind_tensor_class, methods, operators}},
                                          .functions = {{functions}}};

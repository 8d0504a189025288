/* Tensor: the largest and smallest elements, their order, and the positions that a mask marks. */
#include "grad/op.h"
#include "tensor/bind_tensor.h"
#include "tensor/index_numbers.h"

/* Finds the largest or the smallest element: `kind` is 1 or -1. */
static ld_status tensor_extreme(bind_call *c)
{
    ld_tensor *t = c->in[0].tensor;
    int dim = bind_dimension(c, t);
    if (dim > 0)
        return ld_op_extremes(c->tape, bind_new_tensor(c->L), t, dim - 1, c->kind);
    if (ld_tensor_size(t) == 0)
        return ld_fail(LD_SHAPE, "an empty tensor has no largest or smallest element");
    return bind_push_element(c, t, ld_tensor_extreme(t, c->kind));
}

static ld_status tensor_argmax(bind_call *c)
{
    return ld_tensor_argmax(c->out[0].index, c->in[0].tensor);
}

/* Returns the number of elements of a vector, or of each row of a matrix. */
static int64_t line_length(const ld_tensor *t)
{
    return t->ndim == 1 ? t->n_rows : t->n_cols;
}

static ld_status tensor_argsort(bind_call *c)
{
    const ld_tensor *t = c->in[0].tensor;
    return ld_tensor_order(c->out[0].index, t, line_length(t), false);
}

static ld_status tensor_sort(bind_call *c)
{
    ld_tensor *t = c->in[0].tensor;
    return ld_op_order(c->tape, c->out[0].tensor, c->out[1].index, t, line_length(t),
                       c->in[1].flag);
}

static ld_status tensor_topk(bind_call *c)
{
    return ld_op_order(c->tape, c->out[0].tensor, c->out[1].index, c->in[0].tensor,
                       c->in[1].integer, true);
}

static ld_status tensor_positions(bind_call *c)
{
    return ld_tensor_positions(c->out[0].index, c->in[0].tensor);
}

static ld_status tensor_to_index(bind_call *c)
{
    return ld_tensor_to_index(c->out[0].index, c->in[0].tensor);
}

static const bind_function methods[] = {
    {"max", tensor_extreme,
     "t:max([dim]) -> number | Tensor\n"
     "The largest element, or a vector of those of each column (dim 1) or each row (dim 2), as\n"
     "t:sum; nan where there is one. Of a t that carries a gradient, while a step\n"
     "records, a Tensor of one through which the gradient goes on, to the first among equals; so do\n"
     "t:min(), t:norm() and t[i]. t:get(row, column) and t:item() are numbers everywhere.",
     .passes = "t", .kind = 1},
    {"min", tensor_extreme,
     "t:min([dim]) -> number | Tensor\nThe smallest element, as t:max has the largest.",
     .passes = "t", .kind = -1},
    {"argmax", tensor_argmax,
     "t:argmax() -> Index\n"
     "The column of the largest element of each row, the first among equals; nan counts as\n"
     "largest.",
     .reads = "t"},
    {"argsort", tensor_argsort,
     "t:argsort() -> Index\n"
     "The positions of a vector's elements from the smallest to the largest: t[t:argsort()] is\n"
     "sorted. Equal ones keep their order; nan counts as largest. (-t):argsort() goes from the\n"
     "largest to the smallest, nan last as well. Of a matrix the columns of each row's elements in\n"
     "their order, one row after the other. An order has no derivative: the Index is a constant.",
     .reads = "t"},
    {"sort", tensor_sort,
     "t:sort([descending = false]) -> Tensor, Index\n"
     "The elements of a vector, or of each row of a matrix, from the smallest to the largest or the\n"
     "other way round, and where they were, as t:argsort(). Equal ones keep their order both ways;\n"
     "nan counts as largest. The values are differentiable: the gradient goes to where they were.",
     .passes = "t"},
    {"topk", tensor_topk,
     "t:topk(k) -> Tensor, Index\n"
     "The k largest elements of a vector, the largest first, of equal ones the first, and their\n"
     "positions; nan counts as largest. Of a matrix those of each row, n_rows x k, and their columns,\n"
     "k for the first row, then k for the second, and so on. An error for more than there are. The\n"
     "values are differentiable: the gradient goes to the elements that were chosen.",
     .passes = "t"},
    {"positions", tensor_positions,
     "mask:positions() -> Index\n"
     "The positions of a vector's elements that are not 0, ascending.",
     .reads = "mask"},
    {"to_index", tensor_to_index,
     "t:to_index() -> Index\n"
     "The elements of a vector as ids. An error that names the position where one is no integer from\n"
     "0, which stands for none, to 2^31 - 1.",
     .reads = "t"},
    {NULL, NULL, NULL},
};

const bind_subject bind_subject_order = {.extends = {{&bind_tensor_class, methods}}};

/* Tensor: methods that change it in place; their names end in an underscore. */
#include "tensor/bind_tensor.h"

static ld_status tensor_normal(bind_call *c)
{
    return ld_tensor_normal(c->in[0].tensor, (float)c->in[1].number, c->in[2].rng);
}

static ld_status tensor_uniform(bind_call *c)
{
    return ld_tensor_uniform(c->in[0].tensor, (float)c->in[1].number, (float)c->in[2].number,
                             c->in[3].rng);
}

static ld_status tensor_fill(bind_call *c)
{
    ld_tensor_fill(c->in[0].tensor, (float)c->in[1].number);
    return LD_OK;
}

static ld_status tensor_copy(bind_call *c)
{
    return ld_tensor_copy(c->in[0].tensor, c->in[1].tensor);
}

/* Changes elements t[idx[i]]: adds argument 3 or, where `kind` is 1, multiplies by it. The argument
 * is a number, or a tensor with an element for each i. */
static ld_status tensor_change_at(bind_call *c)
{
    ld_tensor *t = c->in[0].tensor, *by = bind_to_tensor(c->L, 3);
    float number = by ? 0.0f : (float)bind_check_number(c->L, 3);
    return c->kind ? ld_tensor_mul_at(t, c->in[1].index, by, number)
                   : ld_tensor_add_at(t, c->in[1].index, by, number);
}

static ld_status tensor_copy_rows(bind_call *c)
{
    return ld_tensor_copy_rows(c->in[0].tensor, c->in[1].index, c->in[2].tensor);
}

static ld_status tensor_add_window(bind_call *c)
{
    return ld_spmm_window(c->in[0].tensor, c->in[1].matrix, c->in[2].tensor, c->in[3].integer - 1,
                          c->in[4].tensor);
}

static const bind_function methods[] = {
    {"fill_", tensor_fill, "t:fill_(value: number) -> t", .changes = "t"},
    {"copy_", tensor_copy, "t:copy_(u) -> t\nCopies u's elements; the same shape.", .changes = "t"},
    {"normal_", tensor_normal,
     "t:normal_(deviation: number, rng) -> t\nFills with normal numbers of mean 0.",
     .changes = "t"},
    {"uniform_", tensor_uniform,
     "t:uniform_(low: number, high: number, rng) -> t\n"
     "Fills with uniform numbers between low and high.",
     .changes = "t"},
    {"add_at_", tensor_change_at,
     "t:add_at_(idx, v: Tensor | number) -> t\n"
     "Adds v (a number, or a vector as long as idx) to elements idx of a\n"
     "vector, one after the other: repeated positions add up.",
     .changes = "t"},
    {"mul_at_", tensor_change_at,
     "t:mul_at_(idx, v: Tensor | number) -> t\n"
     "Multiplies elements idx of a vector by v, as add_at_ adds.",
     .changes = "t", .kind = 1},
    {"copy_rows_", tensor_copy_rows,
     "t:copy_rows_(idx, rows: Tensor) -> t\nRow idx[i] becomes row i of `rows`.", .changes = "t"},
    {"add_window_", tensor_add_window,
     "t:add_window_(A: Matrix, x: Tensor, first: integer [, b: Tensor]) -> t\n"
     "A part of t = A X + b: adds what rows first, first + 1, ... of X give, which are those of x.\n"
     "To be called for all rows of X in order, some at a time: first = 1 begins with sums of 0, and\n"
     "the call that has X's last row ends the product, which has the bits of A:matmul(X, b). The\n"
     "columns of each row of A must ascend.",
     .changes = "t"},
    {NULL, NULL, NULL},
};

const bind_subject bind_subject_change = {.extends = {{&bind_tensor_class, methods}}};

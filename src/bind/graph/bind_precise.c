/* Matrix: products that are rounded once, to measure the error of others by. They pass no
 * gradient. */
#include "state/bind.h"
#include "tensor/bind_tensor.h"
#include "tensor/matmul.h"

static ld_status tensor_matmul_precise(bind_call *c)
{
    return ld_matmul_precise(c->out[0].tensor, c->in[0].tensor, false, c->in[1].tensor,
                             c->in[3].flag);
}

static ld_status tensor_matmul_t_precise(bind_call *c)
{
    return ld_matmul_precise(c->out[0].tensor, c->in[0].tensor, true, c->in[1].tensor, false);
}

/* Multiplies by the matrix or, where `kind` is 1, by its transpose. */
static ld_status matrix_matmul_precise(bind_call *c)
{
    return ld_spmm_precise(c->out[0].tensor, c->in[0].matrix, c->kind, c->in[1].tensor);
}

static const bind_function tensor_methods[] = {
    {"matmul_precise", tensor_matmul_precise,
     "a:matmul_precise(b: Tensor [, {transpose_b = false}]) -> Tensor\n"
     "The product of two matrices, or of a and b's transpose: products and sums in double, and each\n"
     "element rounded once. For exact values to measure others by. An error when a or b carries a\n"
     "gradient."},
    {"matmul_t_precise", tensor_matmul_t_precise,
     "a:matmul_t_precise(b: Tensor) -> Tensor\n"
     "The product of a's transpose and b, as matmul_precise."},
    {NULL, NULL, NULL},
};

static const bind_function matrix_methods[] = {
    {"matmul_precise", matrix_matmul_precise,
     "A:matmul_precise(x) -> Tensor\n"
     "The product with a dense matrix: products, with A's scales, and sums in double, and each\n"
     "element rounded once. For exact values to measure others by. An error when A or x carries a\n"
     "gradient."},
    {"matmul_t_precise", matrix_matmul_precise,
     "A:matmul_t_precise(x) -> Tensor\nThe product of A's transpose and x, as matmul_precise.",
     .kind = 1},
    {NULL, NULL, NULL},
};

const bind_subject bind_subject_precise = {
    .extends = {{&bind_tensor_class, tensor_methods}, {&bind_matrix_class, matrix_methods}}};

/* Products with one rounding: for exact values to measure others by. No gradient passes them. */
#include "state/bind.h"
#include "tensor/blas.h"

static int tensor_matmul_precise(lua_State *L)
{
    static const char *const names[] = {"transpose_b", NULL};
    ld_tensor *a = bind_tensor(L, 1), *b = bind_tensor(L, 2);
    bind_check_options(L, 3, "matmul_precise", names);
    bool transpose_b = bind_option_boolean(L, 3, "transpose_b", false);
    bind_check(L, ld_matmul_precise(bind_new_tensor(L), a, false, b, transpose_b));
    return 1;
}

static int tensor_matmul_t_precise(lua_State *L)
{
    ld_tensor *a = bind_tensor(L, 1), *b = bind_tensor(L, 2);
    bind_check(L, ld_matmul_precise(bind_new_tensor(L), a, true, b, false));
    return 1;
}

static int sparse_product(lua_State *L, bool transpose)
{
    ld_csr *a = bind_matrix(L, 1);
    ld_tensor *x = bind_tensor(L, 2);
    bind_check(L, ld_spmm_precise(bind_new_tensor(L), a, transpose, x));
    return 1;
}

static int matrix_matmul_precise(lua_State *L)
{
    return sparse_product(L, false);
}

static int matrix_matmul_t_precise(lua_State *L)
{
    return sparse_product(L, true);
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
    {"matmul_t_precise", matrix_matmul_t_precise,
     "A:matmul_t_precise(x) -> Tensor\nThe product of A's transpose and x, as matmul_precise."},
    {NULL, NULL, NULL},
};

void bind_open_precise(lua_State *L)
{
    bind_methods(L, BIND_TENSOR, tensor_methods);
    bind_methods(L, BIND_MATRIX, matrix_methods);
}

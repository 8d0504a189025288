/* Matrix: products and sums of two matrices. */
#include "graph/csr.h"
#include "state/bind.h"

static ld_status matrix_matmul_sparse(bind_call *c)
{
    return ld_csr_multiply(c->out[0].matrix, c->in[0].matrix, c->in[1].matrix);
}

/* The sum or, where `kind` is 1, the difference. */
static ld_status matrix_add(bind_call *c)
{
    return ld_csr_add(c->out[0].matrix, bind_matrix(c->L, 1), bind_matrix(c->L, 2), c->kind);
}

static const bind_function methods[] = {
    {"matmul_sparse", matrix_matmul_sparse,
     "A:matmul_sparse(B: Matrix) -> Matrix\n"
     "The product of two sparse matrices, as a sparse one: of A with itself, walks of two steps. It\n"
     "has an entry wherever an entry of A meets one of B, even if their sum is 0. Summed in double.\n"
     "Both must be constants."},
    {NULL, NULL, NULL},
};

static const bind_function operators[] = {
    {"__add", matrix_add,
     "A + B -> Matrix\n"
     "The sum of two sparse matrices of one shape, with the entries of both: an entry without a value\n"
     "counts as 1, and so as 2 where both have it (A:symmetrize() takes the larger of two). Both must\n"
     "be constants."},
    {"__sub", matrix_add, "A - B -> Matrix\nThe difference, as A + B; what cancels stays as a 0.",
     .kind = 1},
    {NULL, NULL, NULL},
};

const bind_subject bind_subject_algebra = {.extends = {{&bind_matrix_class, methods, operators}}};

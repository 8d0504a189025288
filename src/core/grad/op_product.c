#include <inttypes.h>

#include "grad/broadcast.h"
#include "grad/nonzero_rows.h"
#include "grad/op.h"
#include "kernel/gather.h"
#include "tensor/matmul.h"

enum {
    ENTRY = 32,         /* elements copied, as costly as a row read where it lies */
    ROWS_AT_ONCE = 1024 /* rows that are copied to be multiplied while they are in a cache */
};

/* Adds the terms of dA and dB from these rows of dC; a_grad or b_grad is NULL where it is not
 * needed. */
static ld_status matmul_rows_backward(const ld_node *n, ld_tensor *a_grad, ld_tensor *b_grad,
                                      ld_index *rows)
{
    ld_tensor *a = n->in[0];
    LD_OWN(ld_tensor) *g = NULL;
    LD_OWN(ld_tensor) *part = NULL;
    LD_CHECK(ld_op_gather(NULL, &g, n->out->grad, rows));
    if (b_grad) {
        LD_CHECK(ld_op_gather(NULL, &part, a, rows));
        LD_CHECK(ld_matmul(b_grad, part, true, g, false, true));
    }
    if (a_grad) {
        if (!part)
            LD_CHECK(ld_tensor_new(&part, 2, rows->size, a->n_cols));
        LD_CHECK(ld_matmul(part, g, false, n->in[1], true, false));
        LD_CHECK(
            ld_scatter_rows(a_grad->data, part->data, rows->data, rows->size, a->n_cols, true));
    }
    return LD_OK;
}

/* Computes the gradients of A and B where dC is zero but for `rows`. */
static ld_status matmul_few_backward(const ld_node *n, const ld_index *rows)
{
    ld_tensor *a = n->in[0], *b = n->in[1], *a_grad = NULL, *b_grad = NULL;
    if (ld_wants_grad(a))
        LD_CHECK(ld_grad_zeroed(a, &a_grad));
    if (ld_wants_grad(b))
        LD_CHECK(ld_grad_zeroed(b, &b_grad));
    for (int64_t first = 0; first < rows->size; first += ROWS_AT_ONCE) {
        int64_t rest = rows->size - first;
        LD_OWN(ld_index) *some = NULL;
        LD_CHECK(ld_index_slice(&some, rows, first, rest < ROWS_AT_ONCE ? rest : ROWS_AT_ONCE));
        LD_CHECK(matmul_rows_backward(n, a_grad, b_grad, some));
    }
    return LD_OK;
}

/* Backward of C = A * B: dA += dC * B^T, dB += A^T * dC. */
static ld_status matmul_backward(ld_node *n)
{
    ld_tensor *a = n->in[0], *b = n->in[1], *grad, *g = n->out->grad;
    LD_OWN(ld_index) *rows = NULL;
    bool accumulate;
    LD_CHECK(ld_nonzero_rows(&rows, g, ld_wants_grad(b) ? a : NULL, ld_wants_grad(a) ? b : NULL));
    if (rows) {
        return matmul_few_backward(n, rows);
    }
    if (ld_wants_grad(a)) {
        LD_CHECK(ld_grad_target(a, &grad, &accumulate));
        LD_CHECK(ld_matmul(grad, g, false, b, true, accumulate));
    }
    if (ld_wants_grad(b)) {
        LD_CHECK(ld_grad_target(b, &grad, &accumulate));
        LD_CHECK(ld_matmul(grad, a, true, g, false, accumulate));
    }
    return LD_OK;
}

ld_status ld_op_matmul(ld_tape *tape, ld_tensor **out, ld_tensor *a, ld_tensor *b)
{
    LD_OWN(ld_tensor) *c = NULL;
    ld_node node = {.name = "matmul", .backward = matmul_backward, .unread = LD_OUT, .in = {a, b}};
    LD_CHECK(ld_tensor_new(&c, 2, a->n_rows, b->n_cols));
    LD_CHECK(ld_matmul(c, a, false, b, false, false));
    return ld_tape_finish(tape, out, c, &node);
}

/* Adds the sum of dY's rows to the gradient of a bias. */
static ld_status bias_backward(const ld_node *n, ld_tensor *b)
{
    ld_operand bias = {.col = 1};
    return ld_wants_grad(b) ? ld_grad_add_broadcast(b, &bias, n->out->grad, NULL) : LD_OK;
}

static ld_status linear_backward(ld_node *n)
{
    LD_CHECK(matmul_backward(n));
    return bias_backward(n, n->in[2]);
}

static ld_status check_bias(const char *where, const ld_tensor *b, int64_t n_cols)
{
    if (b && (b->ndim != 1 || b->n_rows != n_cols))
        return ld_fail(LD_SHAPE, "%s: the bias is %s, %" PRId64 " expected", where,
                       ld_tensor_shape(b), n_cols);
    return LD_OK;
}

ld_status ld_op_linear(ld_tape *tape, ld_tensor **out, ld_tensor *x, ld_tensor *w, ld_tensor *b)
{
    LD_OWN(ld_tensor) *y = NULL;
    ld_node node = {
        .name = "linear", .backward = linear_backward, .unread = LD_IN2 | LD_OUT, .in = {x, w, b}};
    LD_CHECK(check_bias("linear", b, w->n_cols));
    LD_CHECK(ld_tensor_new(&y, 2, x->n_rows, w->n_cols));
    LD_CHECK(ld_matmul_bias(y, x, w, b));
    return ld_tape_finish(tape, out, y, &node);
}

/* Computes the gradients of a sparse matrix's factors for its product, or its transpose's, with
 * in[0]. Those of its entries are dot products of rows of `left` and `right`. */
static ld_status factors_backward(ld_node *n, const ld_tensor *left, const ld_tensor *right)
{
    LD_OWN(ld_tensor) *entries = NULL;
    if (!ld_csr_wants_grad(n->matrix))
        return LD_OK;
    LD_CHECK(ld_tensor_new(&entries, 1, n->matrix->s->nnz, 1));
    LD_CHECK(ld_sddmm(entries, n->matrix, left, right));
    return ld_entries_backward(n->matrix, entries->data);
}

/* Backward of Y = A X + bias: dX += A^T dY; the gradient of entry (r, c) is row r of dY . row c of
 * X. in[4] is the bias. */
static ld_status spmm_backward(ld_node *n)
{
    ld_tensor *x = n->in[0], *grad, *g = n->out->grad;
    bool accumulate;
    if (ld_wants_grad(x)) {
        LD_CHECK(ld_grad_target(x, &grad, &accumulate));
        LD_CHECK(ld_spmm_t(grad, n->matrix, g, accumulate));
    }
    LD_CHECK(factors_backward(n, g, x));
    return bias_backward(n, n->in[4]);
}

/* Computes a * x + b, or a * x[rows] + b. With `rows` neither x nor a needs a gradient: backward
 * does not read x. */
static ld_status spmm(ld_tape *tape, ld_tensor **out, ld_csr *a, ld_tensor *x, const ld_index *rows,
                      ld_tensor *b)
{
    LD_OWN(ld_tensor) *y = NULL;
    ld_node node = {
        .name = "matmul",
        .backward = spmm_backward,
        .unread = LD_IN4 | LD_OUT,
        .in = {rows ? NULL : x, a->values, a->row_scale, a->col_scale, b},
        .matrix = a,
    };
    LD_CHECK(check_bias("matmul", b, x->n_cols));
    LD_CHECK(ld_tensor_new(&y, x->ndim, a->s->n_rows, x->n_cols));
    LD_CHECK(ld_spmm_bias(y, a, x, rows, b));
    return ld_tape_finish(tape, out, y, &node);
}

ld_status ld_op_spmm(ld_tape *tape, ld_tensor **out, ld_csr *a, ld_tensor *x, ld_tensor *b)
{
    return spmm(tape, out, a, x, NULL, b);
}

/* Returns true when a copy of x's rows costs less than reading them where they lie. They lie
 * farther apart than those of a copy, which each entry pays for, while a copy is made once. */
static bool copy_pays(const ld_csr *a, const ld_tensor *x)
{
    return x->storage->room || a->s->nnz * ENTRY > a->s->n_cols * x->n_cols;
}

ld_status ld_op_spmm_rows(ld_tape *tape, ld_tensor **out, ld_csr *a, ld_tensor *x, ld_index *rows,
                          ld_tensor *b)
{
    LD_OWN(ld_tensor) *picked = NULL;
    if (rows->size != a->s->n_cols)
        return ld_fail(LD_SHAPE, "matmul: %" PRId64 " rows for a matrix of %" PRId64 " columns",
                       rows->size, a->s->n_cols);
    LD_CHECK(ld_index_check(rows, 0, x->n_rows, "matmul: row"));
    bool recorded = ld_tape_records(tape) && (ld_wants_grad(x) || ld_csr_wants_grad(a));
    if (recorded || copy_pays(a, x)) {
        LD_CHECK(ld_op_gather(tape, &picked, x, rows));
        LD_CHECK(spmm(tape, out, a, picked, NULL, b));
    } else {
        LD_CHECK(spmm(tape, out, a, x, rows, b));
    }
    return LD_OK;
}

/* Backward of Y = A^T X: dX += A dY; the gradient of entry (r, c) is row r of X . row c of dY. */
static ld_status spmm_t_backward(ld_node *n)
{
    ld_tensor *x = n->in[0], *grad, *g = n->out->grad;
    bool accumulate;
    if (ld_wants_grad(x)) {
        LD_CHECK(ld_grad_target(x, &grad, &accumulate));
        LD_CHECK(ld_spmm(grad, n->matrix, g, accumulate));
    }
    return factors_backward(n, x, g);
}

ld_status ld_op_spmm_t(ld_tape *tape, ld_tensor **out, ld_csr *a, ld_tensor *x)
{
    LD_OWN(ld_tensor) *y = NULL;
    ld_node node = {
        .name = "matmul_t",
        .backward = spmm_t_backward,
        .unread = LD_OUT,
        .in = {x, a->values, a->row_scale, a->col_scale},
        .matrix = a,
    };
    LD_CHECK(ld_tensor_new(&y, x->ndim, a->s->n_cols, x->n_cols));
    LD_CHECK(ld_spmm_t(y, a, x, false));
    return ld_tape_finish(tape, out, y, &node);
}

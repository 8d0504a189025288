/* The differentiable operations. Forward and backward of each stand side by side in op_*.c.
 *
 * Each stores its result in *out with one reference. `tape` may be NULL: then the operation only
 * computes. Shapes that do not fit fail with LD_SHAPE and a message that names the operation. */
#ifndef LD_GRAD_OP_H
#define LD_GRAD_OP_H

#include "base/rng.h"
#include "grad/tape.h"

/* --- products (op_product.c) ------------------------------------------------------------------ */
ld_status ld_op_matmul(ld_tape *tape, ld_tensor **out, ld_tensor *a, ld_tensor *b);
/* x * w + b for every row; b may be NULL. x: n x inputs, w: inputs x outputs, b: outputs. */
ld_status ld_op_linear(ld_tape *tape, ld_tensor **out, ld_tensor *x, ld_tensor *w, ld_tensor *b);
/* a * x + b for every row, and a^T * x, for a sparse a; b may be NULL. Gradients go to x and b, and to
 * a's values and scales. */
ld_status ld_op_spmm(ld_tape *tape, ld_tensor **out, ld_csr *a, ld_tensor *x, ld_tensor *b);
/* The same with the rows `rows` of x, one for each column of a, which are not copied unless a gradient
 * flows through x or a, x lies in a temporary file or a copy is quicker. LD_RANGE. */
ld_status ld_op_spmm_rows(ld_tape *tape, ld_tensor **out, ld_csr *a, ld_tensor *x, ld_index *rows,
                          ld_tensor *b);
ld_status ld_op_spmm_t(ld_tape *tape, ld_tensor **out, ld_csr *a, ld_tensor *x);

/* --- rows (op_rows.c) ------------------------------------------------------------------------- */
/* to[rows[i]] += from[i], in rows of n_cols elements: by all threads where no row comes twice, which
 * `distinct` says, otherwise one after the other. With the failures of ld_parallel_for. */
ld_status ld_add_to_rows(float *to, const float *from, const ld_index *rows, int64_t n_cols,
                         bool distinct);
/* Row rows[i] of x as row i. */
ld_status ld_op_gather(ld_tape *tape, ld_tensor **out, ld_tensor *x, ld_index *rows);
/* n_rows rows of zeros, to which row i of x is added at row rows[i]. */
ld_status ld_op_scatter_add(ld_tape *tape, ld_tensor **out, ld_tensor *x, ld_index *rows,
                            int64_t n_rows);
/* Columns of x followed by those of y. */
ld_status ld_op_concat(ld_tape *tape, ld_tensor **out, ld_tensor *x, ld_tensor *y);

/* x with another shape, and its rows first .. first + count - 1; both share x's storage. */
ld_status ld_op_reshape(ld_tape *tape, ld_tensor **out, ld_tensor *x, int ndim, int64_t n_rows,
                        int64_t n_cols);
ld_status ld_op_slice(ld_tape *tape, ld_tensor **out, ld_tensor *x, int64_t first, int64_t count);
/* A copy of x with storage of its own, and one of its element `position`, counted along the rows, as
 * a vector of one. */
ld_status ld_op_clone(ld_tape *tape, ld_tensor **out, ld_tensor *x);
ld_status ld_op_element(ld_tape *tape, ld_tensor **out, ld_tensor *x, int64_t position);

/* --- columns (op_cols.c) ---------------------------------------------------------------------- */
/* A copy of x's columns first .. first + count - 1, and x's transpose. */
ld_status ld_op_slice_cols(ld_tape *tape, ld_tensor **out, ld_tensor *x, int64_t first,
                           int64_t count);
ld_status ld_op_transpose(ld_tape *tape, ld_tensor **out, ld_tensor *x);

/* --- arithmetic (op_arith.c) ------------------------------------------------------------------ */
/* Elementwise; shapes meet as broadcast.h says. */
typedef enum { LD_ADD, LD_SUB, LD_MUL, LD_DIV, LD_POW } ld_arith;
ld_status ld_op_arith(ld_tape *tape, ld_tensor **out, ld_arith kind, ld_tensor *a, ld_tensor *b);
/* scale * x + shift. */
ld_status ld_op_affine(ld_tape *tape, ld_tensor **out, ld_tensor *x, double scale, double shift);

/* --- a multiple plus rows (op_mul_add.c) ------------------------------------------------------- */
/* x * factor + y[rows] in one pass, either way: factor has one element, and is `number` where it is
 * NULL; without rows y has x's shape. With done the result may take x's memory; x is released then. */
ld_status ld_op_mul_add(ld_tape *tape, ld_tensor **out, ld_tensor *x, ld_tensor *factor,
                        double number, ld_tensor *y, ld_index *rows, bool done);

/* --- comparing and choosing (op_where.c) ------------------------------------------------------- */
/* 1 where the comparison of a with b holds, 0 elsewhere; shapes meet as broadcast.h says. A constant
 * outside of any step: its derivative is zero. */
ld_status ld_compare(ld_tensor **out, ld_comparison kind, ld_tensor *a, ld_tensor *b);
/* a where the mask is not 0 and b elsewhere, elementwise; the gradient goes where the element came
 * from, and none to the mask. */
ld_status ld_op_where(ld_tape *tape, ld_tensor **out, ld_tensor *mask, ld_tensor *a, ld_tensor *b);

/* --- functions of one element (op_unary.c) ---------------------------------------------------- */
typedef enum {
    LD_RELU,       /* max(x, 0) */
    LD_LEAKY_RELU, /* x > 0 ? x : parameter * x */
    LD_ELU,        /* x > 0 ? x : parameter * (exp(x) - 1) */
    LD_SIGMOID,
    LD_TANH,
    LD_EXP,
    LD_LOG,
    LD_SQRT,
    LD_SQUARE,
    LD_ABS,        /* its derivative at 0 is taken for 0 */
    LD_RECIPROCAL, /* parameter / x */
    LD_CLAMP,      /* of ld_op_clamp */
} ld_unary;
ld_status ld_op_unary(ld_tape *tape, ld_tensor **out, ld_unary kind, ld_tensor *x,
                      double parameter);
/* min(max(x, low), high); the gradient passes where x is within the two. */
ld_status ld_op_clamp(ld_tape *tape, ld_tensor **out, ld_tensor *x, double low, double high);

/* --- dropout (op_dropout.c) ------------------------------------------------------------------- */
/* Each element is zeroed with probability p (rounded to a multiple of 2^-16), the others are
 * divided by 1 - p; 0 <= p < 1. With relu it is max(x, 0) whose elements are. With done the result may
 * take x's memory; x is released then. Of a matrix, the entries that are zeroed are left out. */
ld_status ld_op_dropout(ld_tape *tape, ld_tensor **out, ld_tensor *x, double p, bool relu,
                        bool done, ld_rng *rng);
ld_status ld_op_csr_dropout(ld_tape *tape, ld_csr **out, ld_csr *a, double p, ld_rng *rng);

/* --- normalisation of columns (op_batch_norm.c) ------------------------------------------------ */
/* (x - mean) / sqrt(variance + eps) * gain + bias over each column (Ioffe and Szegedy 2015, algorithm
 * 1). *mean and *variance get those of the columns, the latter over n_rows, as constants outside of
 * any step. */
ld_status ld_op_batch_norm(ld_tape *tape, ld_tensor **out, ld_tensor **mean, ld_tensor **variance,
                           ld_tensor *x, ld_tensor *gain, ld_tensor *bias, double eps);

/* --- normalisation of rows (op_norm.c) -------------------------------------------------------- */
/* (x - mean) / sqrt(variance + eps) * gain + bias over each row (Ba et al. 2016). */
ld_status ld_op_layer_norm(ld_tape *tape, ld_tensor **out, ld_tensor *x, ld_tensor *gain,
                           ld_tensor *bias, double eps);
/* Each row divided by its Euclidean length; zero rows stay zero. */
ld_status ld_op_normalize_rows(ld_tape *tape, ld_tensor **out, ld_tensor *x);

/* --- sums and other numbers of a tensor (op_reduce.c) ----------------------------------------- */
/* scale times the sum of all elements, as a vector of one. */
ld_status ld_op_sum(ld_tape *tape, ld_tensor **out, ld_tensor *x, double scale);
/* scale times the sums of the first or second powers in each column (dim 0: over the rows) or in each
 * row (dim 1), as a vector; and the largest (sign > 0) or smallest elements. */
ld_status ld_op_sums(ld_tape *tape, ld_tensor **out, ld_tensor *x, int dim, int power,
                     double scale);
ld_status ld_op_extremes(ld_tape *tape, ld_tensor **out, ld_tensor *x, int dim, int sign);
/* The Euclidean norm of all elements, as a vector of one; its derivative at 0 is taken for 0. */
ld_status ld_op_norm(ld_tape *tape, ld_tensor **out, ld_tensor *x);
/* Each element and those before it in its column (dim 0) or row (dim 1), summed in double. */
ld_status ld_op_cumsum(ld_tape *tape, ld_tensor **out, ld_tensor *x, int dim);

/* --- softmax (op_softmax.c) ------------------------------------------------------------------- */
/* exp(x) / sum(exp(x)) over each row, and its logarithm. */
ld_status ld_op_softmax(ld_tape *tape, ld_tensor **out, ld_tensor *x);
ld_status ld_op_log_softmax(ld_tape *tape, ld_tensor **out, ld_tensor *x);
/* The latter as a constant; `where` begins messages. */
ld_status ld_log_softmax(ld_tensor **out, const ld_tensor *x, const char *where);

/* --- losses (op_loss.c) ----------------------------------------------------------------------- */
/* Softmax cross-entropy of logits (n x classes) against labels 0 .. classes - 1: the mean without
 * weights (class weights make it a weighted mean), the weighted sum with them. */
ld_status ld_op_cross_entropy(ld_tape *tape, ld_tensor **out, ld_tensor *logits, ld_index *labels,
                              ld_tensor *weights, ld_tensor *class_weights);
/* Sigmoid cross-entropy of logits against targets in [0, 1] of the same shape: the mean over all
 * elements without weights, the sum of row means times row weights with them. */
ld_status ld_op_binary_cross_entropy(ld_tape *tape, ld_tensor **out, ld_tensor *logits,
                                     ld_tensor *targets, ld_tensor *weights);

/* --- the entries of a matrix (op_entries.c) --------------------------------------------------- */
/* A vector of all; the sums of each row or column of their first or second powers; the diagonal, 0
 * where there is no entry; a dense tensor. The result belongs to no step when a is constant. */
ld_status ld_op_entries(ld_tape *tape, ld_tensor **out, ld_csr *a);
ld_status ld_op_entry_row_sums(ld_tape *tape, ld_tensor **out, ld_csr *a, int power);
ld_status ld_op_entry_col_sums(ld_tape *tape, ld_tensor **out, ld_csr *a, int power);
ld_status ld_op_diagonal_values(ld_tape *tape, ld_tensor **out, ld_csr *a);
ld_status ld_op_to_dense(ld_tape *tape, ld_tensor **out, ld_csr *a);

/* For the backward of an operation on a: adds to the gradients of its values and scales what
 * follows from those of its entries. */
ld_status ld_entries_backward(const ld_csr *a, const float *g);

/* --- largest ones (op_max.c) ------------------------------------------------------------------- */
/* The largest entry of each row, or of each column; 0 where there is none. The result belongs to no
 * step when a is constant. */
ld_status ld_op_entry_max(ld_tape *tape, ld_tensor **out, ld_csr *a, bool of_columns);
/* Element (v, j) is the largest x_uj of the columns u that row v of a has entries in, 0 where it has
 * none; a's values and scales do not matter. */
ld_status ld_op_neighbour_max(ld_tape *tape, ld_tensor **out, ld_csr *a, ld_tensor *x);

/* --- matrices (op_matrix.c) ------------------------------------------------------------------- */
/* Each is the function of graph/csr.h with its name, for matrices and vectors that may carry
 * gradients. The result belongs to the step if one does, otherwise to none. Where nothing is recorded
 * all of it is constant, what it shares with an operand that carries a gradient too. */
ld_status ld_op_csr_transpose(ld_tape *tape, ld_csr **out, ld_csr *a);
ld_status ld_op_csr_scale_rows(ld_tape *tape, ld_csr **out, ld_csr *a, ld_tensor *w);
ld_status ld_op_csr_scale_cols(ld_tape *tape, ld_csr **out, ld_csr *a, ld_tensor *w);
ld_status ld_op_csr_scale_entries(ld_tape *tape, ld_csr **out, ld_csr *a, ld_tensor *w);
ld_status ld_op_csr_add_diag(ld_tape *tape, ld_csr **out, ld_csr *a, float v);
ld_status ld_op_csr_add_diagonal(ld_tape *tape, ld_csr **out, ld_csr *a, ld_tensor *v);
ld_status ld_op_csr_set_loops(ld_tape *tape, ld_csr **out, ld_csr *a, bool loops);

ld_status ld_op_csr_pick_entries(ld_tape *tape, ld_csr **out, ld_csr *a, ld_index *positions);

/* *part, which a function of graph/ or sample/ made of a's rows `rows` and columns `cols` (NULL:
 * all), becomes the same with a's gradients. */
ld_status ld_op_csr_part(ld_tape *tape, ld_csr **part, ld_csr *a, ld_index *rows, ld_index *cols);

/* Every row divided by its sum; a row of sum zero stays as it is. */
ld_status ld_op_csr_row_normalize(ld_tape *tape, ld_csr **out, ld_csr *a);

/* D^-1/2 A D^-1/2 (LD_SYM), D^-1 A (LD_ROW) with D the row sums, or A itself (LD_NONE), after the
 * diagonal has been set to ones when self_loops. Rows of sum zero stay zero; negative row sums fail
 * for LD_SYM. Kipf and Welling 2017, eq. 2; LADIES (Zou et al. 2019), section 2. */
typedef enum { LD_SYM, LD_ROW, LD_NONE } ld_normalization;
ld_status ld_op_csr_normalize(ld_tape *tape, ld_csr **out, ld_csr *a, ld_normalization kind,
                              bool self_loops);

/* What it multiplies rows (and with `root` columns) of these sums by: their inverses, or with `root`
 * those of their roots, 0 for 0. Nothing is recorded. */
ld_status ld_normalization_factors(ld_tensor **out, ld_tensor *sums, bool root);

/* a with its values and scales as constants outside of any step; parameters are copied, all else
 * shares its storage. */
ld_status ld_csr_detach(ld_csr **out, ld_csr *a);

/* *made, a new matrix, becomes constant where it carries a gradient: it would be that of the factors
 * that it shares with an operand, and not of those that were made of them. */
ld_status ld_csr_settle(ld_csr **made);

/* --- values on the entries of a matrix (op_edge.c) -------------------------------------------- */
/* Softmax of the scores (nnz or nnz x k, each column alone) over the entries of each row; one of
 * -inf gets 0, where all are so too. */
ld_status ld_op_edge_softmax(ld_tape *tape, ld_tensor **out, ld_csr *a, ld_tensor *scores);
/* Entry (v, u) gets x_v . y_u. */
ld_status ld_op_dot_edges(ld_tape *tape, ld_tensor **out, ld_csr *a, ld_tensor *x, ld_tensor *y);
/* Entry (v, u) gets x_v + y_u, for vectors x (n_rows) and y (n_cols), or matrices of k columns. */
ld_status ld_op_add_edges(ld_tape *tape, ld_tensor **out, ld_csr *a, ld_tensor *x, ld_tensor *y);
/* a's structure with column h of w (nnz x heads) as values times the columns of x that are head h's,
 * for each head; see graph/heads.h. */
ld_status ld_op_matmul_heads(ld_tape *tape, ld_tensor **out, ld_csr *a, ld_tensor *w, ld_tensor *x);

#endif

/* The differentiable operations. Forward and backward of each stand side by side in op_*.c. The
 * comment of a backward function says which field of the node (grad/tape.h) holds what.
 *
 * Each operation stores its result in *out with one reference. `tape` may be NULL: then it only
 * computes. Shapes that do not fit fail with LD_SHAPE and a message that names the operation. */
#ifndef LD_GRAD_OP_H
#define LD_GRAD_OP_H

#include "grad/tape.h"
#include "kernel/map.h"
#include "random/rng.h"

/* --- products (op_product.c) ------------------------------------------------------------------ */
ld_status ld_op_matmul(ld_tape *tape, ld_tensor **out, ld_tensor *a, ld_tensor *b);
/* Computes x * w + b for every row; b may be NULL. x: n x inputs, w: inputs x outputs, b:
 * outputs. */
ld_status ld_op_linear(ld_tape *tape, ld_tensor **out, ld_tensor *x, ld_tensor *w, ld_tensor *b);
/* Compute a * x + b for every row, and a^T * x, for a sparse a; b may be NULL. Gradients go to x
 * and b, and to a's values and scales. */
ld_status ld_op_spmm(ld_tape *tape, ld_tensor **out, ld_csr *a, ld_tensor *x, ld_tensor *b);
/* Computes a * x[rows] + b with one row of x for each column of a. These rows are not copied unless
 * a gradient flows through x or a, x lies in a temporary file, or a copy is quicker. Fails with
 * LD_RANGE. */
ld_status ld_op_spmm_rows(ld_tape *tape, ld_tensor **out, ld_csr *a, ld_tensor *x, ld_index *rows,
                          ld_tensor *b);
ld_status ld_op_spmm_t(ld_tape *tape, ld_tensor **out, ld_csr *a, ld_tensor *x);

/* --- rows (op_rows.c) ------------------------------------------------------------------------- */
/* Gathers rows: row i of the result is row rows[i] of x. */
ld_status ld_op_gather(ld_tape *tape, ld_tensor **out, ld_tensor *x, ld_index *rows);
/* Adds row i of x to row rows[i] of n_rows rows of zeros. */
ld_status ld_op_scatter_add(ld_tape *tape, ld_tensor **out, ld_tensor *x, ld_index *rows,
                            int64_t n_rows);
/* Puts the rows of n > 0 tensors one after the other, or the elements of vectors. */
ld_status ld_op_concat_rows(ld_tape *tape, ld_tensor **out, ld_tensor *const *parts, int64_t n);
/* Gives the k smallest or, descending, the k largest elements of a vector or of each row of a
 * matrix, in order, and where they are: see ld_tensor_order. */
ld_status ld_op_order(ld_tape *tape, ld_tensor **out, ld_index **at, ld_tensor *x, int64_t k,
                      bool descending);
/* Puts the columns of y behind those of x. */
ld_status ld_op_concat(ld_tape *tape, ld_tensor **out, ld_tensor *x, ld_tensor *y);

/* Give x another shape, and rows first .. first + count - 1 of it; both share x's storage. */
ld_status ld_op_reshape(ld_tape *tape, ld_tensor **out, ld_tensor *x, int ndim, int64_t n_rows,
                        int64_t n_cols);
ld_status ld_op_slice(ld_tape *tape, ld_tensor **out, ld_tensor *x, int64_t first, int64_t count);
/* Copy x, and one of its elements, the one at `position` along the rows, as a vector of one. */
ld_status ld_op_clone(ld_tape *tape, ld_tensor **out, ld_tensor *x);
ld_status ld_op_element(ld_tape *tape, ld_tensor **out, ld_tensor *x, int64_t position);

/* --- columns (op_rows.c) ---------------------------------------------------------------------- */
/* Copy columns first .. first + count - 1 of x, and the transpose of x. */
ld_status ld_op_slice_cols(ld_tape *tape, ld_tensor **out, ld_tensor *x, int64_t first,
                           int64_t count);
ld_status ld_op_transpose(ld_tape *tape, ld_tensor **out, ld_tensor *x);

/* --- arithmetic (op_elementwise.c) ------------------------------------------------------------ */
/* Combines a and b elementwise; shapes meet as broadcast.h says. */
ld_status ld_op_arith(ld_tape *tape, ld_tensor **out, ld_arith kind, ld_tensor *a, ld_tensor *b);
/* Computes scale * x + shift. */
ld_status ld_op_affine(ld_tape *tape, ld_tensor **out, ld_tensor *x, double scale, double shift);

/* --- a multiple plus rows (op_mul_add.c) ------------------------------------------------------ */
/* Computes x * factor + y[rows] in one pass, in both directions. `factor` has one element, or is
 * NULL, and then `number` takes its place; without `rows` y has x's shape. With `done` the result
 * may take x's memory; x is released then. */
ld_status ld_op_mul_add(ld_tape *tape, ld_tensor **out, ld_tensor *x, ld_tensor *factor,
                        double number, ld_tensor *y, ld_index *rows, bool done);

/* --- comparing and choosing (op_elementwise.c) ------------------------------------------------ */
/* Compares a with b: 1 where the comparison holds, 0 elsewhere; shapes meet as broadcast.h says.
 * The result is a constant outside of any step, since its derivative is zero. */
ld_status ld_compare(ld_tensor **out, ld_comparison kind, ld_tensor *a, ld_tensor *b);
/* Chooses elements: a where the mask is not 0, and b elsewhere. The gradient goes where the element
 * came from, and none to the mask. */
ld_status ld_op_where(ld_tape *tape, ld_tensor **out, ld_tensor *mask, ld_tensor *a, ld_tensor *b);

/* --- functions of one element (op_elementwise.c) ---------------------------------------------- */
/* Computes a function of each element, with the parameter c of kernel/map.h. */
ld_status ld_op_unary(ld_tape *tape, ld_tensor **out, ld_unary kind, ld_tensor *x,
                      double parameter);
/* Computes min(max(x, low), high); the gradient passes where x is within the two. */
ld_status ld_op_clamp(ld_tape *tape, ld_tensor **out, ld_tensor *x, double low, double high);

/* --- dropout (op_dropout.c) ------------------------------------------------------------------- */
/* Dropout: zeroes each element with probability p (rounded to a multiple of 2^-16) and divides the
 * others by 1 - p; 0 <= p < 1. With `relu` it does so to max(x, 0). With `done` the caller needs x
 * no more: the result may take its memory, and x is released. A matrix loses the entries that are
 * zeroed. */
ld_status ld_op_dropout(ld_tape *tape, ld_tensor **out, ld_tensor *x, double p, bool relu,
                        bool done, ld_rng *rng);
ld_status ld_op_csr_dropout(ld_tape *tape, ld_csr **out, ld_csr *a, double p, ld_rng *rng);

/* --- normalisation of columns (op_norm.c) ----------------------------------------------------- */
/* Batch norm: (x - mean) / sqrt(variance + eps) * gain + bias over each column (Ioffe and Szegedy
 * 2015, algorithm 1). *mean and *variance get those of the columns, the latter over n_rows, as
 * constants outside of any step. */
ld_status ld_op_batch_norm(ld_tape *tape, ld_tensor **out, ld_tensor **mean, ld_tensor **variance,
                           ld_tensor *x, ld_tensor *gain, ld_tensor *bias, double eps);

/* --- normalisation of rows (op_norm.c) -------------------------------------------------------- */
/* Layer norm: (x - mean) / sqrt(variance + eps) * gain + bias over each row (Ba et al. 2016). */
ld_status ld_op_layer_norm(ld_tape *tape, ld_tensor **out, ld_tensor *x, ld_tensor *gain,
                           ld_tensor *bias, double eps);
/* Divides each row by its Euclidean length; zero rows stay zero. */
ld_status ld_op_normalize_rows(ld_tape *tape, ld_tensor **out, ld_tensor *x);

/* --- sums and other numbers of a tensor (op_reduce.c) ----------------------------------------- */
/* Computes scale times the sum of all elements, as a vector of one. */
ld_status ld_op_sum(ld_tape *tape, ld_tensor **out, ld_tensor *x, double scale);
/* Compute scale times the sums of the first or second powers in each column (dim 0: over the rows)
 * or in each row (dim 1), as a vector, and the largest (sign > 0) or smallest elements. */
ld_status ld_op_sums(ld_tape *tape, ld_tensor **out, ld_tensor *x, int dim, int power,
                     double scale);
ld_status ld_op_extremes(ld_tape *tape, ld_tensor **out, ld_tensor *x, int dim, int sign);
/* Computes the Euclidean norm of all elements, as a vector of one; its derivative at 0 is taken for
 * 0. */
ld_status ld_op_norm(ld_tape *tape, ld_tensor **out, ld_tensor *x);
/* Variances, or with `root` standard deviations, of each column (dim 0) or each row (dim 1), or of
 * all elements (-1): the sum of the squares of x - mean, divided by the number of elements less
 * `correction`. The derivative of the root at 0 is taken for 0. Fails with LD_SHAPE unless that
 * number is above 0. */
ld_status ld_op_variance(ld_tape *tape, ld_tensor **out, ld_tensor *x, int dim, double correction,
                         bool root);
/* Cumulative sums: each element plus all before it in its column (dim 0) or row (dim 1), in
 * double. */
ld_status ld_op_cumsum(ld_tape *tape, ld_tensor **out, ld_tensor *x, int dim);

/* --- softmax (op_softmax.c) ------------------------------------------------------------------- */
/* Compute exp(x) / sum(exp(x)) over each row, and its logarithm. */
ld_status ld_op_softmax(ld_tape *tape, ld_tensor **out, ld_tensor *x);
ld_status ld_op_log_softmax(ld_tape *tape, ld_tensor **out, ld_tensor *x);
/* Computes the logarithm as a constant; `where` begins messages. */
ld_status ld_log_softmax_of(ld_tensor **out, const ld_tensor *x, const char *where);

/* --- losses (op_loss.c) ----------------------------------------------------------------------- */
/* Computes the softmax cross-entropy of logits (n x classes) against labels 0 .. classes - 1: the
 * mean without weights (class weights make it a weighted mean), the weighted sum with them. */
ld_status ld_op_cross_entropy(ld_tape *tape, ld_tensor **out, ld_tensor *logits, ld_index *labels,
                              ld_tensor *weights, ld_tensor *class_weights);
/* Computes the sigmoid cross-entropy of logits against targets in [0, 1] of the same shape: the
 * mean over all elements without weights, the sum of row means times row weights with them. */
ld_status ld_op_binary_cross_entropy(ld_tape *tape, ld_tensor **out, ld_tensor *logits,
                                     ld_tensor *targets, ld_tensor *weights);

/* --- the entries of a matrix (op_entries.c) --------------------------------------------------- */
/* Read the entries of a matrix: all of them as a vector; the sums of each row or column of their
 * first or second powers; the diagonal, 0 where there is no entry; a dense tensor. The result
 * belongs to no step when a is constant. */
ld_status ld_op_entries(ld_tape *tape, ld_tensor **out, ld_csr *a);
ld_status ld_op_entry_row_sums(ld_tape *tape, ld_tensor **out, ld_csr *a, int power);
ld_status ld_op_entry_col_sums(ld_tape *tape, ld_tensor **out, ld_csr *a, int power);
ld_status ld_op_diagonal_values(ld_tape *tape, ld_tensor **out, ld_csr *a);
ld_status ld_op_to_dense(ld_tape *tape, ld_tensor **out, ld_csr *a);

/* Ends the backward of an operation on a: given the gradients g of a's entries, adds those of its
 * values and scales. */
ld_status ld_entries_backward(const ld_csr *a, const float *g);

/* --- largest ones (op_max.c) ------------------------------------------------------------------ */
/* Finds the largest entry of each row, or of each column; 0 where there is none. The result belongs
 * to no step when a is constant. */
ld_status ld_op_entry_max(ld_tape *tape, ld_tensor **out, ld_csr *a, bool of_columns);

/* --- neighbours (op_neighbour.c) -------------------------------------------------------------- */
/* Combine the neighbours of each node: row v of the result is made of the rows u of x that row v of
 * a has entries for, each column on its own. It is their mean, their largest, or their standard
 * deviation (over n); 0 where there are none. a's values and scales are not used. */
ld_status ld_op_neighbour_mean(ld_tape *tape, ld_tensor **out, ld_csr *a, ld_tensor *x);
ld_status ld_op_neighbour_max(ld_tape *tape, ld_tensor **out, ld_csr *a, ld_tensor *x);
ld_status ld_op_neighbour_std(ld_tape *tape, ld_tensor **out, ld_csr *a, ld_tensor *x);

/* --- neighbours and edges (op_relu_sums.c) ---------------------------------------------------- */
/* Sums over the entries e of each row of a, in column u, v_e relu(x_u + f_e w + b), without storing
 * the terms: v has a weight for each entry, f a row of features, and b may be NULL. x is a tensor or,
 * where it is NULL, `sparse`, a constant. a's values and scales are not used. */
ld_status ld_op_relu_sums(ld_tape *tape, ld_tensor **out, ld_csr *a, ld_tensor *v, ld_tensor *x,
                          ld_csr *sparse, ld_tensor *f, ld_tensor *w, ld_tensor *b);

/* --- matrices (op_matrix.c) ------------------------------------------------------------------- */
/* The functions of graph/csr.h with these names, for matrices and vectors that may carry gradients.
 * The result belongs to the step if one of them does, otherwise to none. Where nothing is recorded
 * all of it is constant, even the parts that it shares with an operand that carries a gradient. */
ld_status ld_op_csr_transpose(ld_tape *tape, ld_csr **out, ld_csr *a);
ld_status ld_op_csr_scale_rows(ld_tape *tape, ld_csr **out, ld_csr *a, ld_tensor *w);
ld_status ld_op_csr_scale_cols(ld_tape *tape, ld_csr **out, ld_csr *a, ld_tensor *w);
ld_status ld_op_csr_scale_entries(ld_tape *tape, ld_csr **out, ld_csr *a, ld_tensor *w);
ld_status ld_op_csr_add_diag(ld_tape *tape, ld_csr **out, ld_csr *a, float v);
ld_status ld_op_csr_add_diagonal(ld_tape *tape, ld_csr **out, ld_csr *a, ld_tensor *v);
ld_status ld_op_csr_set_loops(ld_tape *tape, ld_csr **out, ld_csr *a, bool loops);

ld_status ld_op_csr_pick_entries(ld_tape *tape, ld_csr **out, ld_csr *a, ld_index *positions);

/* Slice a[rows, cols] with a's gradients; NULL stands for all rows or columns. Only rows of which
 * all columns are taken may repeat. The second slices a[rows, src] with the columns that are
 * touched, as ld_csr_slice does. */
ld_status ld_op_csr_slice(ld_tape *tape, ld_csr **out, ld_csr *a, ld_index *rows, ld_index *cols);
ld_status ld_op_csr_slice_touched(ld_tape *tape, ld_csr **out, ld_index **src, ld_csr *a,
                                  ld_index *rows, const ld_index *first);

/* Passes gradients from *part on to a. A function of graph/ or sample/ has made *part of a's rows
 * `rows` and columns `cols` (NULL: all); it is replaced by the same matrix with a's gradients. */
ld_status ld_op_csr_part(ld_tape *tape, ld_csr **part, ld_csr *a, ld_index *rows, ld_index *cols);

/* Divides every row by its sum; a row of sum zero stays as it is. */
ld_status ld_op_csr_row_normalize(ld_tape *tape, ld_csr **out, ld_csr *a);

/* D^-1/2 A D^-1/2 (LD_SYM), D^-1 A (LD_ROW) with D the row sums, or A itself (LD_NONE), after the
 * diagonal has been set to ones when self_loops. Rows of sum zero stay zero; negative row sums fail
 * for LD_SYM. Kipf and Welling 2017, eq. 2; LADIES (Zou et al. 2019), section 2. */
typedef enum { LD_SYM, LD_ROW, LD_NONE } ld_normalization;
ld_status ld_op_csr_normalize(ld_tape *tape, ld_csr **out, ld_csr *a, ld_normalization kind,
                              bool self_loops);

/* Computes the factors by which ld_op_csr_normalize multiplies rows (and with `root` columns) of
 * these sums: the inverses of the sums, or with `root` those of their roots, 0 for 0. Nothing is
 * recorded. */
ld_status ld_normalization_factors(ld_tensor **out, ld_tensor *sums, bool root);

/* Makes a copy of a whose values and scales are constants outside of any step. Parameters are
 * copied; all else shares its storage. */
ld_status ld_csr_detach(ld_csr **out, ld_csr *a);

/* Makes *made, a new matrix, constant where it carries a gradient. That gradient would only reach
 * the factors that it shares with an operand, not those that were made anew without a record. */
ld_status ld_csr_settle(ld_csr **made);

/* --- values on the entries of a matrix (op_edge.c) -------------------------------------------- */
/* Computes the softmax of the scores (nnz or nnz x k, each column alone) over the entries of each
 * row. A score of -inf gets 0, even where all of them are so. */
ld_status ld_op_edge_softmax(ld_tape *tape, ld_tensor **out, ld_csr *a, ld_tensor *scores);
/* Gives entry (v, u) the dot product x_v . y_u. */
ld_status ld_op_dot_edges(ld_tape *tape, ld_tensor **out, ld_csr *a, ld_tensor *x, ld_tensor *y);
/* Gives entry (v, u) the sum x_v + y_u, for vectors x (n_rows) and y (n_cols), or matrices of k
 * columns. */
ld_status ld_op_add_edges(ld_tape *tape, ld_tensor **out, ld_csr *a, ld_tensor *x, ld_tensor *y);
/* Multiplies by a matrix for each head: a's structure with column h of w (nnz x heads) as values
 * times the columns of x that are head h's; see ld_spmm_heads. */
ld_status ld_op_matmul_heads(ld_tape *tape, ld_tensor **out, ld_csr *a, ld_tensor *w, ld_tensor *x);

#endif

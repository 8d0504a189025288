/* Operations that make matrices of matrices. Values and scales are tensors of the tape like any
 * others: a matrix whose factors were made by operations is differentiable in the tensors they were
 * made of, and needs no backward of its own. Where no gradient flows, the functions of graph/csr.h
 * do the work. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "grad/op.h"

/* --- constants -------------------------------------------------------------------------------- */

/* Detaches a factor. A parameter is copied, since an optimizer changes its numbers, while the
 * matrix must stay as it is. */
static ld_status detached(ld_tensor **out, ld_tensor *t)
{
    *out = NULL;
    if (!t)
        return LD_OK;
    return t->requires_grad ? ld_tensor_clone(out, t) : ld_tape_detach(out, t);
}

ld_status ld_csr_detach(ld_csr **out, ld_csr *a)
{
    LD_OWN(ld_tensor) *values = NULL;
    LD_OWN(ld_tensor) *row_scale = NULL;
    LD_OWN(ld_tensor) *col_scale = NULL;
    LD_CHECK(detached(&values, a->values));
    LD_CHECK(detached(&row_scale, a->row_scale));
    LD_CHECK(detached(&col_scale, a->col_scale));
    return ld_csr_new(out, a->s, values, row_scale, col_scale);
}

ld_status ld_csr_settle(ld_csr **made)
{
    ld_csr *constant = NULL;
    if (!ld_csr_wants_grad(*made))
        return LD_OK;
    LD_CHECK(ld_csr_detach(&constant, *made));
    ld_csr_unref(*made);
    *made = constant;
    return LD_OK;
}

/* --- parts and transposes --------------------------------------------------------------------- */

/* Picks x's elements at `positions`: x itself without positions, and NULL for NULL. */
static ld_status pick(ld_tape *tape, ld_tensor **out, ld_tensor *x, ld_index *positions)
{
    if (x && positions)
        return ld_op_gather(tape, out, x, positions);
    *out = ld_tensor_ref(x);
    return LD_OK;
}

ld_status ld_op_csr_part(ld_tape *tape, ld_csr **part, ld_csr *a, ld_index *rows, ld_index *cols)
{
    if (!ld_matrix_tape(tape, a))
        return ld_csr_settle(part);
    ld_csr *result = NULL;
    LD_OWN(ld_index) *entries = NULL;
    LD_OWN(ld_tensor) *values = NULL;
    LD_OWN(ld_tensor) *row_scale = NULL;
    LD_OWN(ld_tensor) *col_scale = NULL;
    if (a->values)
        LD_CHECK(ld_csr_positions(&entries, a, *part, rows, cols));
    LD_CHECK(pick(tape, &values, a->values, entries));
    LD_CHECK(pick(tape, &row_scale, a->row_scale, rows));
    LD_CHECK(pick(tape, &col_scale, a->col_scale, cols));
    LD_CHECK(ld_csr_new(&result, (*part)->s, values, row_scale, col_scale));
    ld_csr_unref(*part);
    *part = result;
    return LD_OK;
}

ld_status ld_op_csr_slice(ld_tape *tape, ld_csr **out, ld_csr *a, ld_index *rows, ld_index *cols)
{
    ld_status st = rows && cols ? ld_csr_slice_cols(out, a, rows, cols)
                   : rows       ? ld_csr_rows(out, a, rows)
                                : ld_csr_pick_cols(out, a, cols);
    return st == LD_OK ? ld_op_csr_part(tape, out, a, rows, cols) : st;
}

ld_status ld_op_csr_slice_touched(ld_tape *tape, ld_csr **out, ld_index **src, ld_csr *a,
                                  ld_index *rows, const ld_index *first)
{
    LD_CHECK(ld_csr_slice(out, src, a, rows, first));
    return ld_op_csr_part(tape, out, a, rows, *src);
}

ld_status ld_op_csr_pick_entries(ld_tape *tape, ld_csr **out, ld_csr *a, ld_index *positions)
{
    LD_OWN(ld_csr) *part = NULL;
    LD_OWN(ld_tensor) *values = NULL;
    LD_CHECK(ld_csr_pick_entries(&part, a, positions));
    if (!ld_matrix_tape(tape, a)) {
        LD_CHECK(ld_csr_settle(&part));
        *out = ld_csr_ref(part);
        return LD_OK;
    }
    LD_CHECK(pick(tape, &values, a->values, positions));
    return ld_csr_new(out, part->s, values, a->row_scale, a->col_scale);
}

ld_status ld_op_csr_transpose(ld_tape *tape, ld_csr **out, ld_csr *a)
{
    ld_structure *t;
    LD_OWN(ld_index) *source = NULL;
    LD_OWN(ld_tensor) *values = NULL;
    if (!ld_matrix_tape(tape, a)) {
        LD_CHECK(ld_csr_transpose(out, a));
        return ld_csr_settle(out);
    }
    LD_CHECK(ld_structure_transpose(&t, a->s));
    LD_CHECK(ld_index_new(&source, t->nnz));
    if (t->nnz > 0)
        memcpy(source->data, t->source, (size_t)t->nnz * sizeof *t->source);
    LD_CHECK(pick(tape, &values, a->values, source));
    return ld_csr_new(out, t, values, a->col_scale, a->row_scale);
}

/* --- scaling ---------------------------------------------------------------------------------- */

typedef enum { VALUES, ROW_SCALE, COL_SCALE } factor;

/* Multiplies one of a's factors by w, a vector of n. That is on the tape where a gradient flows
 * through it. The factor is made anew in any case, so that the matrix stays what it is when w is
 * changed in place. */
static ld_status scale(ld_tape *tape, ld_csr **out, ld_csr *a, factor which, ld_tensor *w,
                       int64_t n, const char *where)
{
    ld_tensor *factors[] = {a->values, a->row_scale, a->col_scale}, *old = factors[which];
    LD_OWN(ld_tensor) *product = NULL;
    bool records = ld_tape_records(tape);
    if (w->ndim != 1 || w->n_rows != n)
        return ld_fail(LD_SHAPE, "%s: a vector of %" PRId64 " expected, got %s", where, n,
                       ld_tensor_shape(w));
    if (!ld_wants_grad(old) && !ld_wants_grad(w))
        tape = NULL;
    if (old)
        LD_CHECK(ld_op_arith(tape, &product, LD_MUL, old, w));
    else
        LD_CHECK(ld_op_clone(tape, &product, w));
    factors[which] = product;
    LD_CHECK(ld_csr_new(out, a->s, factors[VALUES], factors[ROW_SCALE], factors[COL_SCALE]));
    return records ? LD_OK : ld_csr_settle(out);
}

ld_status ld_op_csr_scale_rows(ld_tape *tape, ld_csr **out, ld_csr *a, ld_tensor *w)
{
    return scale(tape, out, a, ROW_SCALE, w, a->s->n_rows, "scale_rows");
}

ld_status ld_op_csr_scale_cols(ld_tape *tape, ld_csr **out, ld_csr *a, ld_tensor *w)
{
    return scale(tape, out, a, COL_SCALE, w, a->s->n_cols, "scale_cols");
}

ld_status ld_op_csr_scale_entries(ld_tape *tape, ld_csr **out, ld_csr *a, ld_tensor *w)
{
    return scale(tape, out, a, VALUES, w, a->s->nnz, "scale_entries");
}

/* --- the diagonal ----------------------------------------------------------------------------- */

/* Puts the entries of `of` at their positions in `in`, which has them all. */
static ld_status place_entries(ld_tape *tape, ld_tensor **out, const ld_csr *in, ld_csr *of)
{
    LD_OWN(ld_tensor) *entries = NULL;
    LD_OWN(ld_index) *positions = NULL;
    LD_CHECK(ld_op_entries(tape, &entries, of));
    LD_CHECK(ld_csr_positions(&positions, in, of, NULL, NULL));
    return ld_op_scatter_add(tape, out, entries, positions, in->s->nnz);
}

/* Gives the positions of a's entries on the diagonal, which has all of them. */
static ld_status diagonal_positions(ld_index **out, const ld_csr *a)
{
    LD_CHECK(ld_structure_check_positions(a->s, "add_diag"));
    LD_CHECK(ld_csr_diagonal(out, a));
    for (int64_t r = 0; r < a->s->n_rows; r++)
        (*out)->data[r] += (int32_t)a->s->offsets[r];
    return LD_OK;
}

ld_status ld_op_csr_add_diagonal(ld_tape *tape, ld_csr **out, ld_csr *a, ld_tensor *v)
{
    LD_OWN(ld_csr) *sum = NULL;
    LD_OWN(ld_index) *diagonal = NULL;
    LD_OWN(ld_tensor) *entries = NULL;
    LD_OWN(ld_tensor) *added = NULL;
    LD_OWN(ld_tensor) *values = NULL;
    LD_CHECK(ld_csr_add_diagonal(&sum, a, v));
    if (ld_matrix_tape(tape, a) || (ld_tape_records(tape) && ld_wants_grad(v))) {
        LD_CHECK(place_entries(tape, &entries, sum, a));
        LD_CHECK(diagonal_positions(&diagonal, sum));
        LD_CHECK(ld_op_scatter_add(tape, &added, v, diagonal, sum->s->nnz));
        LD_CHECK(ld_op_arith(tape, &values, LD_ADD, added, entries));
        LD_CHECK(ld_csr_new(out, sum->s, values, NULL, NULL));
    } else {
        *out = ld_csr_ref(sum);
    }
    return LD_OK;
}

ld_status ld_op_csr_add_diag(ld_tape *tape, ld_csr **out, ld_csr *a, float v)
{
    LD_OWN(ld_tensor) *all = NULL;
    LD_CHECK(ld_tensor_full(&all, 1, a->s->n_rows, 1, v));
    return ld_op_csr_add_diagonal(tape, out, a, all);
}

ld_status ld_op_csr_set_loops(ld_tape *tape, ld_csr **out, ld_csr *a, bool loops)
{
    LD_OWN(ld_csr) *without = NULL;
    if (!ld_matrix_tape(tape, a)) {
        LD_CHECK(ld_csr_set_loops(out, a, loops));
        return ld_csr_settle(out);
    }
    LD_CHECK(ld_csr_set_loops(&without, a, false));
    LD_CHECK(ld_op_csr_part(tape, &without, a, NULL, NULL));
    if (loops)
        LD_CHECK(ld_op_csr_add_diag(tape, out, without, 1.0f));
    else
        *out = ld_csr_ref(without);
    return LD_OK;
}

/* --- normalisation ---------------------------------------------------------------------------- */

/* Backward of y = x^p for p = -1 or -1/2, a constant where x is 0: dx = p y^(1 - 1/p) dy. */
static ld_status inverse_backward(ld_node *n)
{
    const ld_tensor *x = n->in[0], *y = n->out;
    bool root = n->variant;
    ld_tensor *grad;
    LD_CHECK(ld_grad_zeroed(n->in[0], &grad));
    for (int64_t i = 0; i < x->n_rows; i++) {
        double v = y->data[i];
        if (x->data[i] != 0)
            grad->data[i] -= (float)(y->grad->data[i] * (root ? v * v * v / 2 : v * v));
    }
    return LD_OK;
}

/* Computes x^-1 or, with `root`, x^-1/2. Fails with LD_VALUE for sums whose inverse float32 does
 * not hold: they would make rows of zeros or infinities. */
static ld_status inverse(ld_tape *tape, ld_tensor **out, ld_tensor *x, bool root, float at_zero,
                         const char *where)
{
    LD_OWN(ld_tensor) *y = NULL;
    ld_node node = {.name = "normalize", .backward = inverse_backward, .in = {x}, .variant = root};
    LD_CHECK(ld_tensor_like(&y, x));
    for (int64_t i = 0; i < x->n_rows; i++) {
        double d = x->data[i];
        y->data[i] = d == 0 ? at_zero : (float)(1.0 / (root ? sqrt(d) : d));
        if (!isfinite(d) || !isfinite(y->data[i]))
            return ld_fail(LD_VALUE,
                           "%s: row %" PRId64 " has the sum %g, by which float32 cannot divide; "
                           "scale the weights before",
                           where, i + 1, d);
    }
    return ld_tape_finish(tape, out, y, &node);
}

ld_status ld_op_csr_row_normalize(ld_tape *tape, ld_csr **out, ld_csr *a)
{
    LD_OWN(ld_tensor) *sums = NULL;
    LD_OWN(ld_tensor) *w = NULL;
    tape = ld_matrix_tape(tape, a);
    LD_CHECK(ld_op_entry_row_sums(tape, &sums, a, 1));
    LD_CHECK(inverse(tape, &w, sums, false, 1.0f, "row_normalize"));
    return ld_op_csr_scale_rows(tape, out, a, w);
}

static ld_status check_sums(const ld_tensor *sums)
{
    for (int64_t r = 0; r < sums->n_rows; r++)
        if (!(sums->data[r] >= 0))
            return ld_fail(LD_VALUE,
                           "normalize: row %" PRId64 " has the sum %g; \"sym\" needs sums "
                           "of zero or more, \"none\" takes any",
                           r + 1, sums->data[r]);
    return LD_OK;
}

ld_status ld_normalization_factors(ld_tensor **out, ld_tensor *sums, bool root)
{
    ld_status st = root ? check_sums(sums) : LD_OK;
    return st == LD_OK ? inverse(NULL, out, sums, root, 0.0f, "normalize") : st;
}

ld_status ld_op_csr_normalize(ld_tape *tape, ld_csr **out, ld_csr *given, ld_normalization kind,
                              bool self_loops)
{
    LD_OWN(ld_csr) *a = NULL;
    LD_OWN(ld_csr) *half = NULL;
    LD_OWN(ld_tensor) *sums = NULL;
    LD_OWN(ld_tensor) *w = NULL;
    bool symmetric = kind == LD_SYM;
    LD_CHECK(ld_structure_check_square(given->s, "normalize"));
    if (symmetric && given->s->from.row_ids)
        return ld_fail(LD_STATE,
                       "normalize: these are rows of a graph whose other rows are elsewhere, "
                       "and \"sym\" takes the sums of all of them in their order");
    tape = ld_matrix_tape(tape, given);
    if (self_loops)
        LD_CHECK(ld_op_csr_set_loops(tape, &a, given, true));
    else
        a = ld_csr_ref(given);
    if (kind == LD_NONE) {
        *out = ld_csr_ref(a);
        return tape ? LD_OK : ld_csr_settle(out);
    }
    LD_CHECK(ld_op_entry_row_sums(tape, &sums, a, 1));
    if (symmetric)
        LD_CHECK(check_sums(sums));
    LD_CHECK(inverse(tape, &w, sums, symmetric, 0.0f, "normalize"));
    if (symmetric) {
        LD_CHECK(ld_op_csr_scale_rows(tape, &half, a, w));
        LD_CHECK(ld_op_csr_scale_cols(tape, out, half, w));
    } else {
        LD_CHECK(ld_op_csr_scale_rows(tape, out, a, w));
    }
    return LD_OK;
}

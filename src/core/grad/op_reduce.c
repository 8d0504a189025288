/* Operations that reduce a tensor to sums, extremes, norms and moments: of all elements, or of
 * those of each row or column. */
#include <inttypes.h>
#include <math.h>

#include "grad/op.h"
#include "kernel/moments.h"
#include "kernel/reduce.h"
#include "memory/memory.h"

/* Adds `scale`, or scale times x where x is not NULL, to the gradient of every element. */
static ld_status pass_multiple(ld_tensor *t, const float *x, double scale)
{
    ld_tensor *grad;
    bool accumulate;
    LD_CHECK(ld_grad_target(t, &grad, &accumulate));
    return ld_multiple(grad->data, x, ld_tensor_size(t), scale, accumulate);
}

static ld_status sum_backward(ld_node *n)
{
    return pass_multiple(n->in[0], NULL, n->out->grad->data[0] * n->number);
}

ld_status ld_op_sum(ld_tape *tape, ld_tensor **out, ld_tensor *x, double scale)
{
    LD_OWN(ld_tensor) *y = NULL;
    double sum;
    ld_node node = {.name = "sum",
                    .backward = sum_backward,
                    .unread = LD_IN0 | LD_OUT,
                    .in = {x},
                    .number = scale};
    LD_CHECK(ld_tensor_new(&y, 1, 1, 1));
    LD_CHECK(ld_row_sums(&sum, x->data, NULL, LD_VALUES, 1, ld_tensor_size(x)));
    y->data[0] = (float)(sum * scale);
    return ld_tape_finish(tape, out, y, &node);
}

/* Backward of sums. The node's variant holds the dimension, and if squares were summed; its number
 * is the scale. */
enum { DIMENSION = 1, SQUARES = 2 };

static ld_status sums_backward(ld_node *n)
{
    const bool by_row = n->variant & DIMENSION;
    const ld_operand g = {n->out->grad->data, by_row, !by_row};
    ld_tensor *x = n->in[0], *grad;
    bool accumulate;
    LD_CHECK(ld_grad_target(x, &grad, &accumulate));
    return ld_spread(grad->data, g, n->variant & SQUARES ? x->data : NULL, x->n_rows, x->n_cols,
                     (float)n->number, accumulate);
}

ld_status ld_op_sums(ld_tape *tape, ld_tensor **out, ld_tensor *x, int dim, int power, double scale)
{
    LD_OWN(ld_tensor) *y = NULL;
    ld_node node = {.name = dim == 0 ? "col_sums" : "row_sums",
                    .backward = sums_backward,
                    .unread = power == 1 ? LD_IN0 | LD_OUT : LD_OUT,
                    .in = {x},
                    .number = scale,
                    .variant = dim | (power == 2 ? SQUARES : 0)};
    const ld_terms terms = power == 2 ? LD_PRODUCTS : LD_VALUES;
    int64_t size = dim == 0 ? x->n_cols : x->n_rows;
    LD_FREED double *sums = ld_alloc_array(size, sizeof *sums, LD_MEM_SCRATCH);
    if (!sums)
        return LD_NOMEM;
    LD_CHECK(ld_tensor_new(&y, 1, size, 1));
    LD_CHECK((dim == 0 ? ld_col_sums : ld_row_sums)(sums, x->data, x->data, terms, x->n_rows,
                                                    x->n_cols));
    for (int64_t k = 0; k < size; k++)
        y->data[k] = (float)(sums[k] * scale);
    return ld_tape_finish(tape, out, y, &node);
}

/* Backward of extremes. The node's index has the other coordinate of each element that was
 * taken. */
static ld_status extremes_backward(ld_node *n)
{
    const ld_tensor *g = n->out->grad;
    ld_tensor *grad;
    LD_CHECK(ld_grad_zeroed(n->in[0], &grad));
    for (int64_t k = 0; k < n->index->size; k++) {
        int64_t other = n->index->data[k];
        grad->data[n->variant == 0 ? other * grad->n_cols + k : k * grad->n_cols + other] +=
            g->data[k];
    }
    return LD_OK;
}

ld_status ld_op_extremes(ld_tape *tape, ld_tensor **out, ld_tensor *x, int dim, int sign)
{
    LD_OWN(ld_tensor) *y = NULL;
    LD_OWN(ld_index) *best = NULL;
    ld_node node = {.name = sign > 0 ? "max" : "min",
                    .backward = extremes_backward,
                    .unread = LD_IN0 | LD_OUT,
                    .in = {x},
                    .variant = dim};
    int64_t size = dim == 0 ? x->n_cols : x->n_rows;
    if (size > 0 && ld_tensor_size(x) == 0)
        return ld_fail(LD_SHAPE, "%s: nothing to choose from in %s", node.name, ld_tensor_shape(x));
    LD_CHECK(ld_tensor_new(&y, 1, size, 1));
    LD_CHECK(ld_index_new(&best, size));
    LD_CHECK(ld_extremes(y->data, best->data, x->data, x->n_rows, x->n_cols, dim == 0, sign));
    node.index = best;
    return ld_tape_finish(tape, out, y, &node);
}

/* Backward of the norm: dx = dy x / y, and zeros at 0. */
static ld_status norm_backward(ld_node *n)
{
    double y = n->out->data[0], dy = n->out->grad->data[0];
    return pass_multiple(n->in[0], n->in[0]->data, y == 0 ? 0 : dy / y);
}

ld_status ld_op_norm(ld_tape *tape, ld_tensor **out, ld_tensor *x)
{
    LD_OWN(ld_tensor) *y = NULL;
    ld_node node = {.name = "norm", .backward = norm_backward, .in = {x}};
    LD_CHECK(ld_tensor_new(&y, 1, 1, 1));
    y->data[0] = (float)ld_tensor_norm(x);
    return ld_tape_finish(tape, out, y, &node);
}

static ld_status cumsum_backward(ld_node *n)
{
    const ld_tensor *g = n->out->grad;
    ld_tensor *grad;
    bool accumulate;
    LD_CHECK(ld_grad_target(n->in[0], &grad, &accumulate));
    return ld_running_sums(grad->data, g->data, g->n_rows, g->n_cols, n->variant == 0, true,
                           accumulate);
}

ld_status ld_op_cumsum(ld_tape *tape, ld_tensor **out, ld_tensor *x, int dim)
{
    LD_OWN(ld_tensor) *y = NULL;
    ld_node node = {.name = "cumsum",
                    .backward = cumsum_backward,
                    .unread = LD_IN0 | LD_OUT,
                    .in = {x},
                    .variant = dim};
    LD_CHECK(ld_tensor_like(&y, x));
    LD_CHECK(ld_running_sums(y->data, x->data, x->n_rows, x->n_cols, dim == 0, false, false));
    return ld_tape_finish(tape, out, y, &node);
}

/* --- variances -------------------------------------------------------------------------------- */

/* The rows or columns that variances are taken of. All elements together are a single row. */
typedef struct {
    int64_t n_rows, n_cols, lines, length;
    bool of_rows;
} moment_lines;

static moment_lines lines_of(const ld_tensor *x, int dim)
{
    if (dim < 0)
        return (moment_lines){1, ld_tensor_size(x), 1, ld_tensor_size(x), true};
    return (moment_lines){x->n_rows, x->n_cols, dim ? x->n_rows : x->n_cols,
                          dim ? x->n_cols : x->n_rows, dim == 1};
}

static ld_status moments_of(double *mean, double *variance, const ld_tensor *x, moment_lines l)
{
    return (l.of_rows ? ld_row_moments : ld_column_moments)(mean, variance, x->data, l.n_rows,
                                                            l.n_cols);
}

/* variant: the dimension plus 1, and plus ROOT for the root; number: what the sums were divided
 * by */
enum { ROOT = 3 };

/* dx = g 2 (x - mean) / number, or with the root g (x - mean) / (number * y) */
static ld_status variance_backward(ld_node *n)
{
    const float *g = n->out->grad->data, *y = n->out->data;
    const bool root = n->variant >= ROOT;
    const moment_lines l = lines_of(n->in[0], n->variant % ROOT - 1);
    LD_FREED double *mean = ld_alloc_array(2 * l.lines, sizeof *mean, LD_MEM_SCRATCH);
    ld_tensor *x = n->in[0], *grad;
    bool accumulate;
    if (!mean)
        return LD_NOMEM;
    double *factor = mean + l.lines;
    LD_CHECK(moments_of(mean, factor, x, l));
    for (int64_t i = 0; i < l.lines; i++) {
        double divisor = root ? n->number * y[i] : n->number / 2;
        factor[i] = divisor == 0 ? 0 : g[i] / divisor;
    }
    LD_CHECK(ld_grad_target(x, &grad, &accumulate));
    return ld_moments_backward(grad->data, x->data, factor, mean, l.n_rows, l.n_cols, l.of_rows,
                               accumulate);
}

ld_status ld_op_variance(ld_tape *tape, ld_tensor **out, ld_tensor *x, int dim, double correction,
                         bool root)
{
    LD_OWN(ld_tensor) *y = NULL;
    ld_node node = {.name = root ? "std" : "variance",
                    .backward = variance_backward,
                    .unread = root ? 0 : LD_OUT,
                    .in = {x},
                    .variant = dim + 1 + (root ? ROOT : 0)};
    const moment_lines l = lines_of(x, dim);
    LD_FREED double *mean = NULL;
    node.number = (double)l.length - correction;
    if (!(node.number > 0))
        return ld_fail(LD_SHAPE, "%s: %" PRId64 " elements with a correction of %g", node.name,
                       l.length, correction);
    if (!(mean = ld_alloc_array(2 * l.lines, sizeof *mean, LD_MEM_SCRATCH)))
        return LD_NOMEM;
    double *variance = mean + l.lines;
    LD_CHECK(ld_tensor_new(&y, 1, l.lines, 1));
    LD_CHECK(moments_of(mean, variance, x, l));
    for (int64_t i = 0; i < l.lines; i++) {
        double v = variance[i] * (double)l.length / node.number;
        y->data[i] = (float)(root ? sqrt(v) : v);
    }
    return ld_tape_finish(tape, out, y, &node);
}

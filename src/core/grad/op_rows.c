/* Operations on rows and columns of dense tensors: picking, adding and joining them, and other
 * shapes. */
#include <inttypes.h>

#include "grad/op.h"
#include "kernel/gather.h"
#include "memory/memory.h"

/* --- rows by their positions ---------------------------------------------------------------- */

static ld_status gather_backward(ld_node *n)
{
    const ld_tensor *g = n->out->grad;
    ld_tensor *grad;
    LD_CHECK(ld_grad_zeroed(n->in[0], &grad));
    return ld_scatter_rows(grad->data, g->data, n->index->data, n->index->size, grad->n_cols,
                           false);
}

ld_status ld_op_gather(ld_tape *tape, ld_tensor **out, ld_tensor *x, ld_index *rows)
{
    LD_OWN(ld_tensor) *y = NULL;
    ld_node node = {.name = "gather",
                    .backward = gather_backward,
                    .unread = LD_IN0 | LD_OUT,
                    .in = {x},
                    .index = rows};
    LD_CHECK(ld_index_check(rows, 0, x->n_rows, "gather: row"));
    LD_CHECK(ld_tensor_new(&y, x->ndim, rows->size, x->n_cols));
    LD_CHECK(ld_gather_rows(y->data, x->data, rows->data, rows->size, x->n_cols, false));
    return ld_tape_finish(tape, out, y, &node);
}

static ld_status scatter_backward(ld_node *n)
{
    const ld_tensor *g = n->out->grad;
    ld_tensor *grad;
    bool accumulate;
    LD_CHECK(ld_grad_target(n->in[0], &grad, &accumulate));
    return ld_gather_rows(grad->data, g->data, n->index->data, n->index->size, grad->n_cols,
                          accumulate);
}

ld_status ld_op_scatter_add(ld_tape *tape, ld_tensor **out, ld_tensor *x, ld_index *rows,
                            int64_t n_rows)
{
    LD_OWN(ld_tensor) *y = NULL;
    ld_node node = {.name = "scatter_add",
                    .backward = scatter_backward,
                    .unread = LD_IN0 | LD_OUT,
                    .in = {x},
                    .index = rows};
    if (rows->size != x->n_rows)
        return ld_fail(LD_SHAPE, "scatter_add: %" PRId64 " positions for %" PRId64 " rows",
                       rows->size, x->n_rows);
    LD_CHECK(ld_index_check(rows, 0, n_rows, "scatter_add: row"));
    LD_CHECK(ld_tensor_full(&y, x->ndim, n_rows, x->n_cols, 0.0f));
    LD_CHECK(ld_scatter_rows(y->data, x->data, rows->data, rows->size, x->n_cols, false));
    return ld_tape_finish(tape, out, y, &node);
}

/* --- rows one after the other ----------------------------------------------------------------- */

static ld_status concat_rows_backward(ld_node *n)
{
    const float *g = n->out->grad->data;
    for (int i = 0; i < LD_NODE_INPUTS && n->in[i]; i++) {
        ld_tensor *x = n->in[i], *grad;
        bool accumulate;
        if (ld_wants_grad(x)) {
            LD_CHECK(ld_grad_target(x, &grad, &accumulate));
            LD_CHECK(ld_copy_block(grad->data, x->n_cols, g, x->n_cols, x->n_rows, x->n_cols,
                                   accumulate));
        }
        g += ld_tensor_size(x);
    }
    return LD_OK;
}

/* Joins n parts in one node. The node names its inputs where there are no more than fit, and
 * otherwise is not recorded. */
static ld_status concat_some(ld_tape *tape, ld_tensor **out, ld_tensor *const *parts, int64_t n)
{
    unsigned unread = LD_OUT;
    int64_t n_rows = 0;
    LD_OWN(ld_tensor) *y = NULL;
    ld_node node = {.name = "concat_rows", .backward = concat_rows_backward};
    for (int64_t i = 0; i < n; i++) {
        if (parts[i]->ndim != parts[0]->ndim || parts[i]->n_cols != parts[0]->n_cols)
            return ld_fail(LD_SHAPE, "concat_rows: %s and, as number %" PRId64 ", %s",
                           ld_tensor_shape(parts[0]), i + 1, ld_tensor_shape(parts[i]));
        n_rows += parts[i]->n_rows;
        if (n <= LD_NODE_INPUTS) {
            node.in[i] = parts[i];
            unread |= (unsigned)LD_IN0 << i;
        }
    }
    node.unread = unread;
    LD_CHECK(ld_tensor_new(&y, parts[0]->ndim, n_rows, parts[0]->n_cols));
    n_rows = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t k = parts[i]->n_cols;
        LD_CHECK(
            ld_copy_block(y->data + n_rows * k, k, parts[i]->data, k, parts[i]->n_rows, k, false));
        n_rows += parts[i]->n_rows;
    }
    return ld_tape_finish(tape, out, y, &node);
}

/* Joins n parts. Where gradients are recorded it joins a few at a time, as in a tree, since a node
 * has only so many inputs. */
ld_status ld_op_concat_rows(ld_tape *tape, ld_tensor **out, ld_tensor *const *parts, int64_t n)
{
    bool recorded = false;
    if (n == 0)
        return ld_fail(LD_VALUE, "concat_rows: no tensors");
    for (int64_t i = 0; i < n; i++)
        recorded |= ld_tape_records(tape) && ld_wants_grad(parts[i]);
    if (!recorded || n <= LD_NODE_INPUTS)
        return concat_some(tape, out, parts, n);
    int64_t groups = (n + LD_NODE_INPUTS - 1) / LD_NODE_INPUTS, made = 0;
    ld_tensor **joined = ld_alloc_array(groups, sizeof *joined, LD_MEM_SCRATCH);
    ld_status st = joined ? LD_OK : LD_NOMEM;
    for (; st == LD_OK && made < groups; made += st == LD_OK) {
        int64_t first = made * LD_NODE_INPUTS, rest = n - first;
        st = concat_some(tape, &joined[made], parts + first,
                         rest < LD_NODE_INPUTS ? rest : LD_NODE_INPUTS);
    }
    if (st == LD_OK)
        st = ld_op_concat_rows(tape, out, joined, groups);
    while (made-- > 0)
        ld_tensor_unref(joined[made]);
    ld_free(joined);
    return st;
}

/* --- in order --------------------------------------------------------------------------------- */

ld_status ld_op_order(ld_tape *tape, ld_tensor **out, ld_index **at, ld_tensor *x, int64_t k,
                      bool descending)
{
    LD_OWN(ld_index) *columns = NULL, *positions = NULL;
    LD_OWN(ld_tensor) *all = NULL, *chosen = NULL;
    LD_CHECK(ld_tensor_order(&columns, x, k, descending));
    if (x->ndim == 1) {
        LD_CHECK(ld_op_gather(tape, out, x, columns));
    } else {
        if (ld_tensor_size(x) > INT32_MAX)
            return ld_fail(LD_SHAPE, "topk: a tensor of %s has more than %d elements",
                           ld_tensor_shape(x), INT32_MAX);
        LD_CHECK(ld_index_new(&positions, columns->size));
        for (int64_t i = 0; i < columns->size; i++)
            positions->data[i] = (int32_t)(i / k * x->n_cols + columns->data[i]);
        LD_CHECK(ld_op_reshape(tape, &all, x, 1, ld_tensor_size(x), 1));
        LD_CHECK(ld_op_gather(tape, &chosen, all, positions));
        LD_CHECK(ld_op_reshape(tape, out, chosen, 2, x->n_rows, k));
    }
    *at = ld_take(&columns);
    return LD_OK;
}

/* --- columns ---------------------------------------------------------------------------------- */

/* Adds columns first .. first + part->n_cols - 1 of `whole` to the gradient of part. */
static ld_status take_columns(ld_tensor *part, const ld_tensor *whole, int64_t first)
{
    ld_tensor *grad;
    bool accumulate;
    LD_CHECK(ld_grad_target(part, &grad, &accumulate));
    return ld_copy_block(grad->data, grad->n_cols, whole->data + first, whole->n_cols, grad->n_rows,
                         grad->n_cols, accumulate);
}

static ld_status concat_backward(ld_node *n)
{
    ld_tensor *x = n->in[0], *y = n->in[1];
    if (ld_wants_grad(x))
        LD_CHECK(take_columns(x, n->out->grad, 0));
    if (ld_wants_grad(y))
        LD_CHECK(take_columns(y, n->out->grad, x->n_cols));
    return LD_OK;
}

ld_status ld_op_concat(ld_tape *tape, ld_tensor **out, ld_tensor *x, ld_tensor *y)
{
    if (x->n_rows != y->n_rows)
        return ld_fail(LD_SHAPE, "concat: %s beside %s", ld_tensor_shape(x), ld_tensor_shape(y));
    LD_OWN(ld_tensor) *z = NULL;
    ld_node node = {.name = "concat",
                    .backward = concat_backward,
                    .unread = LD_IN0 | LD_IN1 | LD_OUT,
                    .in = {x, y}};
    LD_CHECK(ld_tensor_new(&z, 2, x->n_rows, x->n_cols + y->n_cols));
    LD_CHECK(ld_join_columns(z->data, x->data, x->n_cols, y->data, y->n_cols, z->n_rows));
    return ld_tape_finish(tape, out, z, &node);
}

/* Backward of slice_cols. The node's number is the first column. */
static ld_status slice_cols_backward(ld_node *n)
{
    const ld_tensor *g = n->out->grad;
    ld_tensor *grad;
    LD_CHECK(ld_grad_zeroed(n->in[0], &grad));
    return ld_copy_block(grad->data + (int64_t)n->number, grad->n_cols, g->data, g->n_cols,
                         g->n_rows, g->n_cols, true);
}

ld_status ld_op_slice_cols(ld_tape *tape, ld_tensor **out, ld_tensor *x, int64_t first,
                           int64_t count)
{
    LD_OWN(ld_tensor) *y = NULL;
    ld_node node = {.name = "slice_cols",
                    .backward = slice_cols_backward,
                    .unread = LD_IN0 | LD_OUT,
                    .in = {x},
                    .number = (double)first};
    if (x->ndim != 2)
        return ld_fail(LD_SHAPE, "slice_cols: a matrix expected, got %s", ld_tensor_shape(x));
    if (first < 0 || count < 0 || first > x->n_cols - count)
        return ld_fail(LD_RANGE, "slice_cols: columns %" PRId64 "..%" PRId64 " of a tensor of %s",
                       first + 1, first + count, ld_tensor_shape(x));
    LD_CHECK(ld_tensor_new(&y, 2, x->n_rows, count));
    LD_CHECK(ld_copy_block(y->data, count, x->data + first, x->n_cols, x->n_rows, count, false));
    return ld_tape_finish(tape, out, y, &node);
}

static ld_status transpose_backward(ld_node *n)
{
    const ld_tensor *g = n->out->grad;
    ld_tensor *grad;
    bool accumulate;
    LD_CHECK(ld_grad_target(n->in[0], &grad, &accumulate));
    return ld_transpose(grad->data, g->data, g->n_rows, g->n_cols, accumulate);
}

ld_status ld_op_transpose(ld_tape *tape, ld_tensor **out, ld_tensor *x)
{
    LD_OWN(ld_tensor) *y = NULL;
    ld_node node = {
        .name = "transpose", .backward = transpose_backward, .unread = LD_IN0 | LD_OUT, .in = {x}};
    if (x->ndim != 2)
        return ld_fail(LD_SHAPE, "transpose: a matrix expected, got %s", ld_tensor_shape(x));
    LD_CHECK(ld_tensor_new(&y, 2, x->n_cols, x->n_rows));
    LD_CHECK(ld_transpose(y->data, x->data, x->n_rows, x->n_cols, false));
    return ld_tape_finish(tape, out, y, &node);
}

/* --- views and copies ----------------------------------------------------------------------- */

/* Backward of views and copies. The node's number is the element of x at which they begin. */
static ld_status view_backward(ld_node *n)
{
    const ld_tensor *g = n->out->grad;
    ld_tensor *x = n->in[0], *grad;
    bool accumulate;
    if (ld_tensor_size(g) == ld_tensor_size(x))
        return ld_grad_pass_all(n, x);
    LD_CHECK(ld_grad_target(x, &grad, &accumulate));
    if (!accumulate)
        LD_CHECK(ld_fill(grad->data, ld_tensor_size(grad), 0));
    return ld_copy_block(grad->data + (int64_t)n->number, g->n_cols, g->data, g->n_cols, g->n_rows,
                         g->n_cols, accumulate);
}

ld_status ld_op_reshape(ld_tape *tape, ld_tensor **out, ld_tensor *x, int ndim, int64_t n_rows,
                        int64_t n_cols)
{
    LD_OWN(ld_tensor) *y = NULL;
    ld_node node = {
        .name = "reshape", .backward = view_backward, .unread = LD_IN0 | LD_OUT, .in = {x}};
    LD_CHECK(ld_tensor_view(&y, x, ndim, n_rows, n_cols));
    return ld_tape_finish(tape, out, y, &node);
}

ld_status ld_op_slice(ld_tape *tape, ld_tensor **out, ld_tensor *x, int64_t first, int64_t count)
{
    LD_OWN(ld_tensor) *y = NULL;
    ld_node node = {.name = "slice",
                    .backward = view_backward,
                    .unread = LD_IN0 | LD_OUT,
                    .in = {x},
                    .number = (double)(first * x->n_cols)};
    LD_CHECK(ld_tensor_slice(&y, x, first, count));
    return ld_tape_finish(tape, out, y, &node);
}

ld_status ld_op_clone(ld_tape *tape, ld_tensor **out, ld_tensor *x)
{
    LD_OWN(ld_tensor) *y = NULL;
    ld_node node = {
        .name = "clone", .backward = view_backward, .unread = LD_IN0 | LD_OUT, .in = {x}};
    LD_CHECK(ld_tensor_clone(&y, x));
    return ld_tape_finish(tape, out, y, &node);
}

ld_status ld_op_element(ld_tape *tape, ld_tensor **out, ld_tensor *x, int64_t position)
{
    LD_OWN(ld_tensor) *y = NULL;
    ld_node node = {.name = "element",
                    .backward = view_backward,
                    .unread = LD_IN0 | LD_OUT,
                    .in = {x},
                    .number = (double)position};
    LD_CHECK(ld_tensor_full(&y, 1, 1, 1, x->data[position]));
    return ld_tape_finish(tape, out, y, &node);
}

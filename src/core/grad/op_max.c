/* Largest ones: of the entries of a row or a column, and of the rows of x that a row of a matrix has
 * entries for. A gradient goes to the one that was taken: the first of equal ones. The first nan
 * counts as the largest. Where there is nothing to choose from the result is 0, and no gradient goes
 * on. */
#include <inttypes.h>

#include "base/threads.h"
#include "grad/op.h"

enum { ROW_GRAIN = 64 };

static bool is_larger(float v, float top)
{
    return v > top || (v != v && top == top);
}

/* index: for each element of the result the entry that it is, or -1 */
static ld_status entry_max_backward(ld_node *n)
{
    const float *g = n->out->grad->data;
    ld_tensor *entries = NULL;
    ld_status st;
    LD_TRY(ld_tensor_full(&entries, 1, n->matrix->s->nnz, 1, 0));
    for (int64_t i = 0; i < n->index->size; i++)
        if (n->index->data[i] >= 0)
            entries->data[n->index->data[i]] = g[i];
    LD_TRY(ld_entries_backward(n->matrix, entries->data));
done:
    ld_tensor_unref(entries);
    return st;
}

ld_status ld_op_entry_max(ld_tape *tape, ld_tensor **out, ld_csr *a, bool of_columns)
{
    const ld_structure *s = a->s;
    int64_t size = of_columns ? s->n_cols : s->n_rows;
    ld_tensor *y = NULL;
    ld_index *best = NULL;
    ld_node node = {.name = of_columns ? "col_max" : "row_max",
                    .backward = entry_max_backward,
                    .unread = LD_OUT,
                    .in = {a->values, a->row_scale, a->col_scale},
                    .matrix = a};
    ld_status st;
    LD_TRY(ld_structure_check_positions(s, node.name));
    LD_TRY(ld_tensor_full(&y, 1, size, 1, 0));
    LD_TRY(ld_index_new(&best, size));
    for (int64_t i = 0; i < size; i++)
        best->data[i] = -1;
    for (int64_t r = 0; r < s->n_rows; r++)
        for (int64_t e = s->offsets[r]; e < s->offsets[r + 1]; e++) {
            int64_t i = of_columns ? s->columns[e] : r;
            float v = ld_csr_value(a, r, e);
            if (best->data[i] < 0 || is_larger(v, y->data[i])) {
                y->data[i] = v;
                best->data[i] = (int32_t)e;
            }
        }
    node.index = best;
done:
    st = ld_tape_finish(ld_matrix_tape(tape, a), out, y, &node, st);
    ld_index_unref(best);
    return st;
}

/* index: for each element of the result the row of x that it is of, or -1 */
static ld_status neighbour_max_backward(ld_node *n)
{
    const ld_tensor *g = n->out->grad;
    ld_tensor *grad;
    ld_status st = ld_grad_zeroed(n->in[0], &grad);
    for (int64_t i = 0; st == LD_OK && i < n->index->size; i++)
        if (n->index->data[i] >= 0)
            grad->data[n->index->data[i] * g->n_cols + i % g->n_cols] += g->data[i];
    return st;
}

typedef struct {
    const ld_structure *s;
    const ld_tensor *x;
    float *y;      /* n_rows x k */
    int32_t *best; /* the same */
} neighbour_max;

static void max_rows(void *ctx, int64_t begin, int64_t end)
{
    const neighbour_max *p = ctx;
    int64_t k = p->x->n_cols;
    for (int64_t r = begin; r < end; r++) {
        float *y = p->y + r * k;
        int32_t *best = p->best + r * k;
        for (int64_t j = 0; j < k; j++)
            best[j] = -1;
        for (int64_t e = p->s->offsets[r]; e < p->s->offsets[r + 1]; e++) {
            int32_t u = p->s->columns[e];
            const float *x = p->x->data + u * k;
            for (int64_t j = 0; j < k; j++)
                if (best[j] < 0 || is_larger(x[j], y[j])) {
                    y[j] = x[j];
                    best[j] = u;
                }
        }
    }
}

ld_status ld_op_neighbour_max(ld_tape *tape, ld_tensor **out, ld_csr *a, ld_tensor *x)
{
    ld_tensor *y = NULL;
    ld_index *best = NULL;
    ld_node node = {.name = "neighbour_max",
                    .backward = neighbour_max_backward,
                    .unread = LD_IN0 | LD_OUT,
                    .in = {x}};
    ld_status st;
    if (x->n_rows != a->s->n_cols)
        return ld_fail(LD_SHAPE,
                       "neighbour_max: %s for the columns of a %" PRId64 " x %" PRId64 " matrix",
                       ld_tensor_shape(x), a->s->n_rows, a->s->n_cols);
    LD_TRY(ld_tensor_full(&y, x->ndim, a->s->n_rows, x->n_cols, 0));
    LD_TRY(ld_index_new(&best, ld_tensor_size(y)));
    neighbour_max job = {a->s, x, y->data, best->data};
    LD_TRY(ld_parallel_for(a->s->n_rows, ROW_GRAIN, max_rows, &job));
    node.index = best;
done:
    st = ld_tape_finish(tape, out, y, &node, st);
    ld_index_unref(best);
    return st;
}

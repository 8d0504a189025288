/* The largest entry of each row or column. The gradient goes to the entry that was taken, the first
 * of equal ones; the first nan counts as the largest. Where there is nothing to choose from the
 * result is 0, and no gradient goes on. */
#include "grad/op.h"

static bool is_larger(float v, float top)
{
    return v > top || (v != v && top == top);
}

/* Backward of the largest entries. The node's index has the entry that each element of the result
 * is, or -1. */
static ld_status entry_max_backward(ld_node *n)
{
    const float *g = n->out->grad->data;
    LD_OWN(ld_tensor) *entries = NULL;
    LD_CHECK(ld_tensor_full(&entries, 1, n->matrix->s->nnz, 1, 0));
    for (int64_t i = 0; i < n->index->size; i++)
        if (n->index->data[i] >= 0)
            entries->data[n->index->data[i]] = g[i];
    return ld_entries_backward(n->matrix, entries->data);
}

ld_status ld_op_entry_max(ld_tape *tape, ld_tensor **out, ld_csr *a, bool of_columns)
{
    const ld_structure *s = a->s;
    int64_t size = of_columns ? s->n_cols : s->n_rows;
    LD_OWN(ld_tensor) *y = NULL;
    LD_OWN(ld_index) *best = NULL;
    ld_node node = {.name = of_columns ? "col_max" : "row_max",
                    .backward = entry_max_backward,
                    .unread = LD_OUT,
                    .in = {a->values, a->row_scale, a->col_scale},
                    .matrix = a};
    LD_CHECK(ld_structure_check_positions(s, node.name));
    LD_CHECK(ld_tensor_full(&y, 1, size, 1, 0));
    LD_CHECK(ld_index_new(&best, size));
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
    return ld_tape_finish(ld_matrix_tape(tape, a), out, y, &node);
}

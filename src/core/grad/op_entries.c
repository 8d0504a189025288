/* Operations that read the entries of a matrix: one by one, summed, or into a dense tensor. Every
 * entry is added to one element of the result, or to none. So backward is the same for all: an
 * entry's gradient is that of its element, and goes on to the matrix's factors. */
#include "grad/op.h"

ld_status ld_entries_backward(const ld_csr *a, const float *g)
{
    const ld_structure *s = a->s;
    ld_tensor *values = NULL, *rows = NULL, *cols = NULL;
    if (ld_wants_grad(a->values))
        LD_CHECK(ld_grad_zeroed(a->values, &values));
    if (ld_wants_grad(a->row_scale))
        LD_CHECK(ld_grad_zeroed(a->row_scale, &rows));
    if (ld_wants_grad(a->col_scale))
        LD_CHECK(ld_grad_zeroed(a->col_scale, &cols));
    for (int64_t r = 0; r < s->n_rows; r++) {
        float row_scale = a->row_scale ? a->row_scale->data[r] : 1.0f;
        double sum = 0;
        for (int64_t e = s->offsets[r]; e < s->offsets[r + 1]; e++) {
            int32_t c = s->columns[e];
            float value = a->values ? a->values->data[e] : 1.0f;
            float col_scale = a->col_scale ? a->col_scale->data[c] : 1.0f;
            if (values)
                values->data[e] += g[e] * row_scale * col_scale;
            if (cols)
                cols->data[c] += g[e] * row_scale * value;
            sum += (double)g[e] * value * col_scale;
        }
        if (rows)
            rows->data[r] += (float)sum;
    }
    return LD_OK;
}

/* The element of the result that an entry is added to. */
typedef enum { ITS_OWN, OF_ITS_ROW, OF_ITS_COLUMN, OF_THE_DIAGONAL, OF_BOTH } element;

static int64_t element_of(element kind, const ld_structure *s, int64_t r, int64_t e)
{
    switch (kind) {
    case ITS_OWN: return e;
    case OF_ITS_ROW: return r;
    case OF_ITS_COLUMN: return s->columns[e];
    case OF_THE_DIAGONAL: return s->columns[e] == ld_structure_row_id(s, r) ? r : -1;
    case OF_BOTH: break;
    }
    return r * s->n_cols + s->columns[e];
}

/* Backward of reading. The node's variant is the kind of element, its number the power to which
 * entries are raised, 1 or 2. */
static ld_status read_backward(ld_node *n)
{
    const ld_csr *a = n->matrix;
    const ld_structure *s = a->s;
    const float *g = n->out->grad->data;
    LD_OWN(ld_tensor) *entries = NULL;
    LD_CHECK(ld_tensor_new(&entries, 1, s->nnz, 1));
    for (int64_t r = 0; r < s->n_rows; r++) {
        for (int64_t e = s->offsets[r]; e < s->offsets[r + 1]; e++) {
            int64_t i = element_of((element)n->variant, s, r, e);
            float slope = n->number == 2 ? 2 * ld_csr_value(a, r, e) : 1.0f;
            entries->data[e] = i >= 0 ? slope * g[i] : 0.0f;
        }
    }
    return ld_entries_backward(a, entries->data);
}

/* Ends the reading of a into y. */
static ld_status finish(ld_tape *tape, ld_tensor **out, ld_tensor *y, ld_csr *a, element kind,
                        int power)
{
    static const char *const names[] = {
        [ITS_OWN] = "entry_values",   [OF_ITS_ROW] = "row_sums",
        [OF_ITS_COLUMN] = "col_sums", [OF_THE_DIAGONAL] = "diagonal_values",
        [OF_BOTH] = "to_dense",
    };
    ld_node node = {.name = names[kind],
                    .backward = read_backward,
                    .unread = LD_OUT,
                    .in = {a->values, a->row_scale, a->col_scale},
                    .matrix = a,
                    .variant = (int)kind,
                    .number = power};
    return ld_tape_finish(ld_matrix_tape(tape, a), out, y, &node);
}

ld_status ld_op_entries(ld_tape *tape, ld_tensor **out, ld_csr *a)
{
    LD_OWN(ld_tensor) *y = NULL;
    LD_CHECK(ld_csr_entries(&y, a));
    return finish(tape, out, y, a, ITS_OWN, 1);
}

ld_status ld_op_entry_row_sums(ld_tape *tape, ld_tensor **out, ld_csr *a, int power)
{
    LD_OWN(ld_tensor) *y = NULL;
    LD_CHECK(ld_csr_row_sums(&y, a, power));
    return finish(tape, out, y, a, OF_ITS_ROW, power);
}

ld_status ld_op_entry_col_sums(ld_tape *tape, ld_tensor **out, ld_csr *a, int power)
{
    LD_OWN(ld_tensor) *y = NULL;
    LD_CHECK(ld_csr_col_sums(&y, a, power));
    return finish(tape, out, y, a, OF_ITS_COLUMN, power);
}

ld_status ld_op_diagonal_values(ld_tape *tape, ld_tensor **out, ld_csr *a)
{
    LD_OWN(ld_tensor) *y = NULL;
    LD_CHECK(ld_csr_diagonal_values(&y, a));
    return finish(tape, out, y, a, OF_THE_DIAGONAL, 1);
}

ld_status ld_op_to_dense(ld_tape *tape, ld_tensor **out, ld_csr *a)
{
    LD_OWN(ld_tensor) *y = NULL;
    LD_CHECK(ld_csr_to_dense(&y, a));
    return finish(tape, out, y, a, OF_BOTH, 1);
}

/* The diagonal: where it is, what is on it, and matrices with another one. */
#include <inttypes.h>

#include "graph/csr.h"

int64_t ld_csr_loops(const ld_csr *a)
{
    const ld_structure *s = a->s;
    int64_t loops = 0;
    for (int64_t r = 0; r < s->n_rows; r++)
        for (int64_t e = s->offsets[r]; e < s->offsets[r + 1]; e++)
            loops += s->columns[e] == ld_structure_row_id(s, r);
    return loops;
}

ld_status ld_csr_diagonal(ld_index **out, const ld_csr *a)
{
    const ld_structure *s = a->s;
    ld_status st = ld_index_new(out, s->n_rows);
    ld_structure_advise(s, LD_ACCESS_SEQUENTIAL);
    for (int64_t r = 0; st == LD_OK && r < s->n_rows; r++) {
        (*out)->data[r] = -1;
        for (int64_t e = s->offsets[r]; e < s->offsets[r + 1]; e++)
            if (s->columns[e] == ld_structure_row_id(s, r))
                (*out)->data[r] = (int32_t)(e - s->offsets[r]);
    }
    ld_structure_advise(s, LD_ACCESS_RANDOM);
    return st;
}

typedef enum { DROP, SET_ONE, ADD } diagonal_change;

enum { FORGOTTEN = 1 << 20 /* entries at a time */ };

/* Copies a with its diagonal changed; v[step * r] is what ADD adds in row r. Of a graph in a file what
 * has been copied takes no memory: it is the copy that will be worked with. */
static ld_status change_diagonal(ld_csr **out, ld_csr *given, diagonal_change change,
                                 const float *v, int64_t step)
{
    if (given->s->n_rows != given->s->n_cols)
        return ld_fail(LD_SHAPE, "diagonal: a square matrix expected, got %" PRId64 " x %" PRId64,
                       given->s->n_rows, given->s->n_cols);
    ld_csr *a = NULL;
    ld_structure *s = NULL;
    ld_tensor *values = NULL;
    int64_t n_rows = given->s->n_rows, present = 0, e = 0, forgotten = 0;
    ld_status st;
    LD_TRY(ld_csr_canonical(&a, given));
    present = ld_csr_loops(a);
    LD_TRY(ld_structure_new(&s, n_rows, n_rows, a->s->nnz - present + (change == DROP ? 0 : n_rows),
                            false));
    s->symmetric = a->s->symmetric;
    s->canonical = true;
    s->row_ids = ld_index_ref(a->s->row_ids);
    if (a->values || a->row_scale || a->col_scale || change == ADD)
        LD_TRY(ld_tensor_new(&values, 1, s->nnz, 1));
    for (int64_t r = 0; r < n_rows; r++) {
        LD_TRY(ld_poll_at(r));
        bool placed = change == DROP;
        float diagonal = change == ADD ? v[step * r] : 1.0f;
        int32_t own = (int32_t)ld_structure_row_id(a->s, r);
        for (int64_t i = a->s->offsets[r]; i <= a->s->offsets[r + 1]; i++) {
            bool end = i == a->s->offsets[r + 1];
            int32_t c = end ? INT32_MAX : a->s->columns[i];
            if (!placed && c >= own) {
                if (c == own && change == ADD)
                    diagonal += ld_csr_value(a, r, i);
                if (values)
                    values->data[e] = diagonal;
                s->columns[e++] = own;
                placed = true;
            }
            if (end || c == own)
                continue;
            if (values)
                values->data[e] = ld_csr_value(a, r, i);
            s->columns[e++] = c;
        }
        s->offsets[r + 1] = e;
        if (a->s->offsets[r + 1] - forgotten >= FORGOTTEN || r == n_rows - 1) {
            ld_structure_forget(a->s, forgotten, a->s->offsets[r + 1]);
            forgotten = a->s->offsets[r + 1];
        }
    }
    LD_TRY(ld_csr_new(out, s, values, NULL, NULL));
done:
    ld_csr_unref(a);
    ld_structure_unref(s);
    ld_tensor_unref(values);
    return st;
}

ld_status ld_csr_add_diag(ld_csr **out, ld_csr *a, float v)
{
    return change_diagonal(out, a, ADD, &v, 0);
}

ld_status ld_csr_add_diagonal(ld_csr **out, ld_csr *a, const ld_tensor *v)
{
    if (v->ndim != 1 || v->n_rows != a->s->n_rows)
        return ld_fail(LD_SHAPE, "add_diag: a vector of %" PRId64 " expected, got %s", a->s->n_rows,
                       ld_tensor_shape(v));
    return change_diagonal(out, a, ADD, v->data, 1);
}

/* A graph whose nodes all have their loops already is not copied. */
ld_status ld_csr_set_loops(ld_csr **out, ld_csr *a, bool loops)
{
    bool ones = !a->values && !a->row_scale && !a->col_scale;
    if (loops && ones && a->s->looped && a->s->n_rows == a->s->n_cols) {
        *out = ld_csr_ref(a);
        return LD_OK;
    }
    return change_diagonal(out, a, loops ? SET_ONE : DROP, NULL, 0);
}

ld_status ld_csr_diagonal_values(ld_tensor **out, const ld_csr *a)
{
    const ld_structure *s = a->s;
    if (s->n_rows != s->n_cols)
        return ld_fail(LD_SHAPE,
                       "diagonal_values: a square matrix expected, got %" PRId64 " x %" PRId64,
                       s->n_rows, s->n_cols);
    ld_status st = ld_tensor_new(out, 1, s->n_rows, 1);
    for (int64_t r = 0; st == LD_OK && r < s->n_rows; r++) {
        (*out)->data[r] = 0;
        for (int64_t e = s->offsets[r]; e < s->offsets[r + 1]; e++)
            if (s->columns[e] == ld_structure_row_id(s, r))
                (*out)->data[r] = ld_csr_value(a, r, e);
    }
    return st;
}

/* Reads the diagonal of matrices, and makes copies whose diagonal is replaced. */
#include <inttypes.h>

#include "graph/csr.h"
#include "graph/edge_list.h"

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
    LD_CHECK(ld_index_new(out, s->n_rows));
    ld_structure_advise(s, LD_ACCESS_SEQUENTIAL);
    for (int64_t r = 0; r < s->n_rows; r++) {
        (*out)->data[r] = -1;
        for (int64_t e = s->offsets[r]; e < s->offsets[r + 1]; e++)
            if (s->columns[e] == ld_structure_row_id(s, r))
                (*out)->data[r] = (int32_t)(e - s->offsets[r]);
    }
    ld_structure_advise(s, LD_ACCESS_RANDOM);
    return LD_OK;
}

typedef enum { DROP, SET_ONE, ADD } diagonal_change;

enum { FORGOTTEN = 1 << 20 /* entries of a file that are let go at a time */ };

/* Copies a matrix with its diagonal changed; v[r] is added in row r by ADD. What was copied from a
 * file no longer needs memory, since only the copy will be used. */
static ld_status change_diagonal(ld_csr **out, ld_csr *given, diagonal_change change,
                                 const float *v)
{
    LD_CHECK(ld_structure_check_square(given->s, "diagonal"));
    LD_OWN(ld_csr) *a = NULL;
    LD_OWN(ld_structure) *s = NULL;
    LD_OWN(ld_tensor) *values = NULL;
    int64_t n_rows = given->s->n_rows, present = 0, e = 0, forgotten = 0;
    LD_CHECK(ld_csr_ordered(&a, given));
    present = ld_csr_loops(a);
    LD_CHECK(ld_structure_new(&s, n_rows, n_rows,
                              a->s->nnz - present + (change == DROP ? 0 : n_rows), false));
    s->symmetric = a->s->symmetric;
    s->canonical = a->s->canonical;
    s->from.row_ids = ld_index_ref(a->s->from.row_ids);
    if (ld_csr_is_valued(a) || change == ADD)
        LD_CHECK(ld_tensor_new(&values, 1, s->nnz, 1));
    for (int64_t r = 0; r < n_rows; r++) {
        LD_CHECK(ld_poll_at(r));
        bool placed = change == DROP;
        float diagonal = change == ADD ? v[r] : 1.0f;
        int32_t own = (int32_t)ld_structure_row_id(a->s, r);
        for (int64_t i = a->s->offsets[r]; i <= a->s->offsets[r + 1]; i++) {
            bool end = i == a->s->offsets[r + 1];
            int32_t c = end ? INT32_MAX : a->s->columns[i];
            if (!placed && c >= own) {
                for (int64_t j = i;
                     change == ADD && j < a->s->offsets[r + 1] && a->s->columns[j] == own; j++)
                    diagonal += ld_csr_value(a, r, j);
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
    return ld_csr_new(out, s, values, NULL, NULL);
}

ld_status ld_csr_add_diagonal(ld_csr **out, ld_csr *a, const ld_tensor *v)
{
    if (v->ndim != 1 || v->n_rows != a->s->n_rows)
        return ld_fail(LD_SHAPE, "add_diag: a vector of %" PRId64 " expected, got %s", a->s->n_rows,
                       ld_tensor_shape(v));
    return change_diagonal(out, a, ADD, v->data);
}

/* Gives a graph whose nodes all have their loops already without a copy. */
ld_status ld_csr_set_loops(ld_csr **out, ld_csr *a, bool loops)
{
    if (loops && !ld_csr_is_valued(a) && a->s->looped && a->s->n_rows == a->s->n_cols) {
        *out = ld_csr_ref(a);
        return LD_OK;
    }
    return change_diagonal(out, a, loops ? SET_ONE : DROP, NULL);
}

ld_status ld_csr_diagonal_values(ld_tensor **out, const ld_csr *a)
{
    const ld_structure *s = a->s;
    LD_CHECK(ld_structure_check_square(s, "diagonal_values"));
    LD_CHECK(ld_tensor_new(out, 1, s->n_rows, 1));
    for (int64_t r = 0; r < s->n_rows; r++) {
        (*out)->data[r] = 0;
        for (int64_t e = s->offsets[r]; e < s->offsets[r + 1]; e++)
            if (s->columns[e] == ld_structure_row_id(s, r))
                (*out)->data[r] += ld_csr_value(a, r, e);
    }
    return LD_OK;
}

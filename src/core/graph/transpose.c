/* Transposes, symmetry, and the diagonal. A transpose is one counting sort of the entries by column;
 * the structure's is made once and kept with it. */
#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "graph/csr.h"

static ld_status transpose_structure(ld_structure **out, const ld_structure *s)
{
    ld_structure *t;
    ld_status st = ld_structure_new(&t, s->n_cols, s->n_rows, s->nnz, false);
    if (st != LD_OK)
        return st;
    t->symmetric = s->symmetric;
    t->source = ld_alloc_array(s->nnz, sizeof *t->source, LD_MEM_MATRIX);
    if (!t->source) {
        ld_structure_unref(t);
        return LD_NOMEM;
    }
    memset(t->offsets, 0, (size_t)(t->n_rows + 1) * sizeof *t->offsets);
    for (int64_t e = 0; e < s->nnz; e++)
        t->offsets[s->columns[e] + 1]++;
    for (int64_t r = 0; r < t->n_rows; r++)
        t->offsets[r + 1] += t->offsets[r];
    for (int64_t r = 0; r < s->n_rows; r++) {
        for (int64_t e = s->offsets[r]; e < s->offsets[r + 1]; e++) {
            int64_t at = t->offsets[s->columns[e]]++;
            t->columns[at] = (int32_t)r;
            t->source[at] = (int32_t)e;
        }
    }
    for (int64_t r = t->n_rows; r > 0; r--)
        t->offsets[r] = t->offsets[r - 1];
    t->offsets[0] = 0;
    *out = t;
    return LD_OK;
}

ld_status ld_structure_transpose(ld_structure **out, ld_structure *s)
{
    ld_structure *t = atomic_load(&s->transpose);
    if (!t) {
        ld_status st = transpose_structure(&t, s);
        if (st != LD_OK)
            return st;
        ld_structure *other = NULL; /* made by another thread in the meantime */
        if (!atomic_compare_exchange_strong(&s->transpose, &other, t)) {
            ld_structure_unref(t);
            t = other;
        }
    }
    *out = t;
    return LD_OK;
}

/* The values of a in the order of its transpose's entries, or NULL when a has none. */
static ld_status transpose_values(ld_tensor **out, const ld_csr *a, const ld_structure *t)
{
    *out = NULL;
    if (!a->values)
        return LD_OK;
    ld_status st = ld_tensor_new(out, 1, t->nnz, 1);
    if (st == LD_OK)
        for (int64_t e = 0; e < t->nnz; e++)
            (*out)->data[e] = a->values->data[t->source[e]];
    return st;
}

ld_status ld_csr_transpose(ld_csr **out, ld_csr *a)
{
    ld_structure *t = NULL;
    ld_tensor *values = NULL;
    ld_status st;
    LD_TRY(ld_structure_transpose(&t, a->s));
    LD_TRY(transpose_values(&values, a, t));
    LD_TRY(ld_csr_new(out, t, values, a->col_scale, a->row_scale));
done:
    ld_tensor_unref(values);
    return st;
}

/* What ld_csr_value gives for entry e of row r, taken from the transpose: the scales come in the
 * other order, and products of floats depend on it. */
static float transposed_value(const ld_csr *a, int64_t r, int64_t e)
{
    float v = a->values ? a->values->data[e] : 1.0f;
    if (a->col_scale)
        v *= a->col_scale->data[a->s->columns[e]];
    if (a->row_scale)
        v *= a->row_scale->data[r];
    return v;
}

/* Rows are visited in ascending order, so the entries (c, r) of row c come up in the order in which
 * its columns are sorted: next[c] is where the next of them must be. */
ld_status ld_csr_is_symmetric(bool *out, ld_csr *given)
{
    ld_csr *a = NULL;
    int64_t *next = NULL;
    ld_status st;
    *out = false;
    if (given->s->n_rows != given->s->n_cols)
        return LD_OK;
    LD_TRY(ld_csr_canonical(&a, given));
    ld_structure *s = a->s;
    st = LD_NOMEM;
    if (!(next = ld_alloc_array(s->n_rows, sizeof *next, LD_MEM_SCRATCH)))
        goto done;
    st = LD_OK;
    if (s->n_rows > 0)
        memcpy(next, s->offsets, (size_t)s->n_rows * sizeof *next);
    bool values = true;
    for (int64_t r = 0; r < s->n_rows; r++) {
        for (int64_t e = s->offsets[r]; e < s->offsets[r + 1]; e++) {
            int32_t c = s->columns[e];
            int64_t mirrored = next[c]++;
            if (mirrored == s->offsets[c + 1] || s->columns[mirrored] != r)
                goto done;
            values = values && ld_csr_value(a, r, e) == transposed_value(a, c, mirrored);
        }
    }
    s->symmetric = true;
    *out = values;
done:
    ld_free(next);
    ld_csr_unref(a);
    return st;
}

/* --- union with the transpose ----------------------------------------------------------------- */

/* Merges row r of a and of t into columns and values (when not NULL); returns the length. */
static int64_t merge_row(int32_t *columns, float *values, const ld_csr *a, const ld_csr *t,
                         int64_t r)
{
    int64_t i = a->s->offsets[r], i_end = a->s->offsets[r + 1];
    int64_t j = t->s->offsets[r], j_end = t->s->offsets[r + 1], n = 0;
    while (i < i_end || j < j_end) {
        int32_t ci = i < i_end ? a->s->columns[i] : INT32_MAX;
        int32_t cj = j < j_end ? t->s->columns[j] : INT32_MAX;
        if (columns)
            columns[n] = ci < cj ? ci : cj;
        if (values) {
            float vi = ci <= cj ? ld_csr_value(a, r, i) : 0,
                  vj = cj <= ci ? ld_csr_value(t, r, j) : 0;
            values[n] = ci < cj ? vi : cj < ci ? vj : vi > vj ? vi : vj;
        }
        i += ci <= cj;
        j += cj <= ci;
        n++;
    }
    return n;
}

ld_status ld_csr_symmetrize(ld_csr **out, ld_csr *a)
{
    if (a->s->n_rows != a->s->n_cols)
        return ld_fail(LD_SHAPE, "symmetrize: a square matrix expected, got %" PRId64 " x %" PRId64,
                       a->s->n_rows, a->s->n_cols);
    ld_csr *sorted = NULL, *t = NULL;
    ld_structure *s = NULL;
    ld_tensor *values = NULL;
    int64_t nnz = 0, n_rows = a->s->n_rows;
    ld_status st;
    LD_TRY(ld_csr_canonical(&sorted, a));
    LD_TRY(ld_csr_transpose(&t, sorted));
    for (int64_t r = 0; r < n_rows; r++)
        nnz += merge_row(NULL, NULL, sorted, t, r);
    LD_TRY(ld_structure_new(&s, n_rows, n_rows, nnz, false));
    if (a->values || a->row_scale || a->col_scale)
        LD_TRY(ld_tensor_new(&values, 1, nnz, 1));
    for (int64_t r = 0; r < n_rows; r++) {
        int64_t e = s->offsets[r];
        s->offsets[r + 1] =
            e + merge_row(s->columns + e, values ? values->data + e : NULL, sorted, t, r);
    }
    s->symmetric = true;
    LD_TRY(ld_csr_new(out, s, values, NULL, NULL));
done:
    ld_csr_unref(sorted);
    ld_csr_unref(t);
    ld_structure_unref(s);
    ld_tensor_unref(values);
    return st;
}

/* --- the diagonal ------------------------------------------------------------------------------ */

typedef enum { DROP, SET_ONE, ADD } diagonal_change;

/* Copies a with its diagonal changed; v[step * r] is what ADD adds in row r. */
static ld_status change_diagonal(ld_csr **out, ld_csr *given, diagonal_change change,
                                 const float *v, int64_t step)
{
    if (given->s->n_rows != given->s->n_cols)
        return ld_fail(LD_SHAPE, "diagonal: a square matrix expected, got %" PRId64 " x %" PRId64,
                       given->s->n_rows, given->s->n_cols);
    ld_csr *a = NULL;
    ld_structure *s = NULL;
    ld_tensor *values = NULL;
    int64_t n_rows = given->s->n_rows, present = 0, e = 0;
    ld_status st;
    LD_TRY(ld_csr_canonical(&a, given));
    for (int64_t r = 0; r < n_rows; r++)
        for (int64_t i = a->s->offsets[r]; i < a->s->offsets[r + 1]; i++)
            present += a->s->columns[i] == r;
    LD_TRY(ld_structure_new(&s, n_rows, n_rows, a->s->nnz - present + (change == DROP ? 0 : n_rows),
                            false));
    s->symmetric = a->s->symmetric;
    if (a->values || a->row_scale || a->col_scale || change == ADD)
        LD_TRY(ld_tensor_new(&values, 1, s->nnz, 1));
    for (int64_t r = 0; r < n_rows; r++) {
        bool placed = change == DROP;
        float diagonal = change == ADD ? v[step * r] : 1.0f;
        for (int64_t i = a->s->offsets[r]; i <= a->s->offsets[r + 1]; i++) {
            bool end = i == a->s->offsets[r + 1];
            int32_t c = end ? INT32_MAX : a->s->columns[i];
            if (!placed && c >= r) {
                if (c == r && change == ADD)
                    diagonal += ld_csr_value(a, r, i);
                if (values)
                    values->data[e] = diagonal;
                s->columns[e++] = (int32_t)r;
                placed = true;
            }
            if (end || c == r)
                continue;
            if (values)
                values->data[e] = ld_csr_value(a, r, i);
            s->columns[e++] = c;
        }
        s->offsets[r + 1] = e;
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

ld_status ld_csr_set_loops(ld_csr **out, ld_csr *a, bool loops)
{
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
            if (s->columns[e] == r)
                (*out)->data[r] = ld_csr_value(a, r, e);
    }
    return st;
}

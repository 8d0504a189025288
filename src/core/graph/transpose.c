/* Transposes, symmetry, and the diagonal. A transpose is one counting sort of the entries by column;
 * the structure's is made once and kept with it. */
#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "graph/csr.h"

/* Fills in t, whose arrays have room for s. */
static ld_status fill_transpose(ld_structure *t, const ld_structure *s)
{
    ld_status st;
    memset(t->offsets, 0, (size_t)(t->n_rows + 1) * sizeof *t->offsets);
    for (int64_t e = 0; e < s->nnz; e++) {
        LD_TRY(ld_poll_at(e));
        t->offsets[s->columns[e] + 1]++;
    }
    for (int64_t r = 0; r < t->n_rows; r++)
        t->offsets[r + 1] += t->offsets[r];
    for (int64_t r = 0; r < s->n_rows; r++) {
        LD_TRY(ld_poll_at(r));
        for (int64_t e = s->offsets[r]; e < s->offsets[r + 1]; e++) {
            int64_t at = t->offsets[s->columns[e]]++;
            t->columns[at] = (int32_t)r;
            t->source[at] = (int32_t)e;
        }
    }
    for (int64_t r = t->n_rows; r > 0; r--)
        t->offsets[r] = t->offsets[r - 1];
    t->offsets[0] = 0;
    st = LD_OK;
done:
    return st;
}

static ld_status transpose_structure(ld_structure **out, const ld_structure *s)
{
    ld_structure *t;
    ld_status st = ld_structure_new(&t, s->n_cols, s->n_rows, s->nnz, false);
    if (st != LD_OK)
        return st;
    t->symmetric = s->symmetric;
    t->source = ld_alloc_array(s->nnz, sizeof *t->source, LD_MEM_MATRIX);
    st = t->source ? fill_transpose(t, s) : LD_NOMEM;
    if (st == LD_OK)
        *out = t;
    else
        ld_structure_unref(t);
    return st;
}

ld_status ld_structure_transpose(ld_structure **out, ld_structure *s)
{
    ld_structure *t = atomic_load(&s->transpose);
    ld_status st = LD_OK;
    if (!t) {
        if ((st = ld_hold(&s->transposing)) != LD_OK)
            return st;
        t = atomic_load(&s->transpose); /* made by another thread in the meantime? */
        if (!t && (st = transpose_structure(&t, s)) == LD_OK)
            atomic_store(&s->transpose, t);
        ld_unhold(&s->transposing);
    }
    *out = t;
    return st;
}

/* The values of a in the order of its transpose's entries, or NULL when a has none. */
static ld_status transpose_values(ld_tensor **out, const ld_csr *a, const ld_structure *t)
{
    *out = NULL;
    if (!a->values)
        return LD_OK;
    ld_status st = ld_tensor_new(out, 1, t->nnz, 1);
    for (int64_t e = 0; st == LD_OK && e < t->nnz; e++) {
        (*out)->data[e] = a->values->data[t->source[e]];
        st = ld_poll_at(e);
    }
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
        LD_TRY(ld_poll_at(r));
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

/* Finds out whether s equals its transpose; s->symmetric says so then. */
static ld_status find_symmetry(ld_structure *s)
{
    ld_csr *pattern = NULL;
    bool symmetric;
    ld_status st;
    LD_TRY(ld_csr_new(&pattern, s, NULL, NULL, NULL));
    LD_TRY(ld_csr_is_symmetric(&symmetric, pattern));
done:
    ld_csr_unref(pattern);
    return st;
}

ld_status ld_structure_by_cols(const ld_structure **out, ld_structure *s, bool make)
{
    ld_structure *t = atomic_load(&s->transpose);
    ld_status st = LD_OK;
    *out = NULL;
    if (s->origin || s->origin_row) /* a slice */
        return st;
    if (make && !t && !s->symmetric)
        LD_TRY(find_symmetry(s));
    if (make && !t && !s->symmetric)
        LD_TRY(ld_structure_transpose(&t, s));
    *out = s->symmetric ? s : t;
done:
    return st;
}

/* --- union with the transpose ----------------------------------------------------------------- */

/* Rows are visited in ascending order, so the entries (r, c) arrive at row c in the order in which
 * its columns are sorted: row c of the union is its own entries, merged with those. Beside a and the
 * union only a position in each row is held.
 *
 * Passes own[c] over the entries of row c before column r; whether the next is in column r. */
static bool has_mirror(const ld_structure *s, int64_t *own, int32_t c, int64_t r)
{
    while (own[c] < s->offsets[c + 1] && s->columns[own[c]] < r)
        own[c]++;
    return own[c] < s->offsets[c + 1] && s->columns[own[c]] == r;
}

/* offsets[r + 1] := entries of row r of the union; *equal: whether that is a itself, which has
 * values only and comes from no other graph. */
static ld_status count_union(const ld_csr *a, int64_t *offsets, int64_t *own, bool *equal)
{
    const ld_structure *s = a->s;
    ld_status st = LD_OK;
    *equal = !s->origin && !s->origin_row && !a->row_scale && !a->col_scale;
    for (int64_t r = 0; r < s->n_rows; r++)
        offsets[r + 1] = s->offsets[r + 1] - s->offsets[r];
    for (int64_t r = 0; r < s->n_rows; r++) {
        LD_TRY(ld_poll_at(r));
        for (int64_t e = s->offsets[r]; e < s->offsets[r + 1]; e++) {
            int32_t c = s->columns[e];
            bool mirrored = has_mirror(s, own, c, r);
            offsets[c + 1] += !mirrored;
            *equal = *equal && mirrored && ld_csr_value(a, r, e) == ld_csr_value(a, c, own[c]);
        }
    }
done:
    return st;
}

typedef struct {
    const ld_csr *a;
    int64_t *own; /* of each row: its next entry in a */
    int64_t *at;  /* and where its next one in the union comes */
    int32_t *columns;
    float *values; /* NULL when all are ones */
} merger;

static void put(merger *m, int64_t r, int32_t column, float value)
{
    if (m->values)
        m->values[m->at[r]] = value;
    m->columns[m->at[r]++] = column;
}

/* Row r's own entries before a column. */
static void put_own(merger *m, int64_t r, int64_t column)
{
    const ld_structure *s = m->a->s;
    for (int64_t *e = &m->own[r]; *e < s->offsets[r + 1] && s->columns[*e] < column; ++*e)
        put(m, r, s->columns[*e], ld_csr_value(m->a, r, *e));
}

static ld_status fill_union(merger *m)
{
    const ld_structure *s = m->a->s;
    ld_status st = LD_OK;
    for (int64_t r = 0; r < s->n_rows; r++) {
        LD_TRY(ld_poll_at(r));
        for (int64_t e = s->offsets[r]; e < s->offsets[r + 1]; e++) {
            int32_t c = s->columns[e];
            float value = ld_csr_value(m->a, r, e), mirrored;
            put_own(m, c, r);
            if (m->own[c] < s->offsets[c + 1] && s->columns[m->own[c]] == r) {
                mirrored = ld_csr_value(m->a, c, m->own[c]++);
                value = value > mirrored ? value : mirrored;
            }
            put(m, c, (int32_t)r, value);
        }
    }
    for (int64_t r = 0; r < s->n_rows; r++)
        put_own(m, r, INT64_MAX);
done:
    return st;
}

static void start_rows(int64_t *own, const ld_structure *s)
{
    if (s->n_rows > 0)
        memcpy(own, s->offsets, (size_t)s->n_rows * sizeof *own);
}

/* The union of a with its transpose, where each row r has offsets[r + 1] entries. */
static ld_status make_union(ld_csr **out, const ld_csr *a, int64_t *offsets, int64_t *own)
{
    ld_structure *s = NULL;
    ld_tensor *values = NULL;
    int64_t n_rows = a->s->n_rows;
    ld_status st;
    offsets[0] = 0;
    for (int64_t r = 0; r < n_rows; r++)
        offsets[r + 1] += offsets[r];
    LD_TRY(ld_structure_new(&s, n_rows, n_rows, offsets[n_rows], false));
    if (a->values || a->row_scale || a->col_scale)
        LD_TRY(ld_tensor_new(&values, 1, s->nnz, 1));
    memcpy(s->offsets, offsets, (size_t)(n_rows + 1) * sizeof *offsets);
    start_rows(own, a->s);
    LD_TRY(fill_union(&(merger){a, own, offsets, s->columns, values ? values->data : NULL}));
    s->symmetric = true;
    LD_TRY(ld_csr_new(out, s, values, NULL, NULL));
done:
    ld_structure_unref(s);
    ld_tensor_unref(values);
    return st;
}

ld_status ld_csr_symmetrize(ld_csr **out, ld_csr *given)
{
    int64_t n_rows = given->s->n_rows;
    if (n_rows != given->s->n_cols)
        return ld_fail(LD_SHAPE, "symmetrize: a square matrix expected, got %" PRId64 " x %" PRId64,
                       n_rows, given->s->n_cols);
    ld_csr *a = NULL;
    int64_t *own = NULL, *offsets = NULL;
    bool equal;
    ld_status st;
    LD_TRY(ld_csr_canonical(&a, given));
    if (!(own = ld_alloc_array(n_rows, sizeof *own, LD_MEM_SCRATCH)) ||
        !(offsets = ld_alloc_array(n_rows + 1, sizeof *offsets, LD_MEM_SCRATCH))) {
        st = LD_NOMEM;
        goto done;
    }
    start_rows(own, a->s);
    LD_TRY(count_union(a, offsets, own, &equal));
    if (equal) {
        a->s->symmetric = true;
        *out = ld_csr_ref(a);
    } else {
        st = make_union(out, a, offsets, own);
    }
done:
    ld_csr_unref(a);
    ld_free(own);
    ld_free(offsets);
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
    present = ld_csr_loops(a);
    LD_TRY(ld_structure_new(&s, n_rows, n_rows, a->s->nnz - present + (change == DROP ? 0 : n_rows),
                            false));
    s->symmetric = a->s->symmetric;
    if (a->values || a->row_scale || a->col_scale || change == ADD)
        LD_TRY(ld_tensor_new(&values, 1, s->nnz, 1));
    for (int64_t r = 0; r < n_rows; r++) {
        LD_TRY(ld_poll_at(r));
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

/* Transposes and symmetry. A transpose is one counting sort of the entries by column;
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

/* Matrices from coordinates, arrays and dense tensors.
 *
 * Sorting is counting sort: ordering entries by column and then, stably, by row gives sorted rows in
 * O(entries + rows + columns). */
#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "graph/csr.h"

/* order := positions 0 .. n-1 of `key` in stable ascending order of key[before[i]] (before NULL:
 * of key[i]); starts (n_keys + 1) := where each key's run begins. */
static ld_status counting_sort(int32_t *order, int64_t *starts, const int32_t *key, int64_t n,
                               int64_t n_keys, const int32_t *before)
{
    ld_status st;
    memset(starts, 0, (size_t)(n_keys + 1) * sizeof *starts);
    for (int64_t i = 0; i < n; i++) {
        LD_TRY(ld_poll_at(i));
        starts[key[i] + 1]++;
    }
    for (int64_t k = 0; k < n_keys; k++)
        starts[k + 1] += starts[k];
    for (int64_t i = 0; i < n; i++) {
        LD_TRY(ld_poll_at(i));
        int32_t at = before ? before[i] : (int32_t)i;
        order[starts[key[at]]++] = at;
    }
    for (int64_t k = n_keys; k > 0; k--) /* each start has moved on to the next one's place */
        starts[k] = starts[k - 1];
    starts[0] = 0;
    st = LD_OK;
done:
    return st;
}

/* Entries in sorted order (order[i] = position in cols and values) with the rows' runs given by
 * starts; merges those that share a column. */
static ld_status coalesce(ld_csr **out, int64_t n_rows, int64_t n_cols, const int64_t *starts,
                          const int32_t *order, const int32_t *cols, const float *values)
{
    ld_structure *s = NULL;
    ld_tensor *merged = NULL;
    int64_t nnz = 0;
    ld_status st;
    for (int64_t r = 0; r < n_rows; r++) {
        LD_TRY(ld_poll_at(r));
        for (int64_t i = starts[r]; i < starts[r + 1]; i++)
            nnz += i == starts[r] || cols[order[i]] != cols[order[i - 1]];
    }
    LD_TRY(ld_structure_new(&s, n_rows, n_cols, nnz, false));
    if (values)
        LD_TRY(ld_tensor_new(&merged, 1, nnz, 1));
    int64_t e = 0;
    for (int64_t r = 0; r < n_rows; r++) {
        LD_TRY(ld_poll_at(r));
        for (int64_t i = starts[r]; i < starts[r + 1];) {
            int32_t c = cols[order[i]];
            double sum = 0;
            for (; i < starts[r + 1] && cols[order[i]] == c; i++)
                sum += values ? values[order[i]] : 0;
            if (merged)
                merged->data[e] = (float)sum;
            s->columns[e++] = c;
        }
        s->offsets[r + 1] = e;
    }
    LD_TRY(ld_csr_new(out, s, merged, NULL, NULL));
done:
    ld_structure_unref(s);
    ld_tensor_unref(merged);
    return st;
}

ld_status ld_csr_from_coo(ld_csr **out, int64_t n_rows, int64_t n_cols, const ld_index *rows,
                          const ld_index *cols, ld_tensor *values)
{
    int64_t n = rows->size;
    int32_t *by_col = NULL, *order = NULL;
    int64_t *starts = NULL;
    ld_status st;
    if (cols->size != n || (values && (values->ndim != 1 || values->n_rows != n)))
        return ld_fail(LD_SHAPE, "matrix: %" PRId64 " rows, %" PRId64 " columns and %s values", n,
                       cols->size, values ? ld_tensor_shape(values) : "no");
    LD_TRY(ld_structure_check(n_rows, n_cols, 0));
    LD_TRY(ld_index_check(rows, 0, n_rows, "matrix: row"));
    LD_TRY(ld_index_check(cols, 0, n_cols, "matrix: column"));
    st = LD_NOMEM;
    if (!(by_col = ld_alloc_array(n, sizeof *by_col, LD_MEM_SCRATCH)) ||
        !(order = ld_alloc_array(n, sizeof *order, LD_MEM_SCRATCH)) ||
        !(starts = ld_alloc_array((n_rows > n_cols ? n_rows : n_cols) + 1, sizeof *starts,
                                  LD_MEM_SCRATCH)))
        goto done;
    LD_TRY(counting_sort(by_col, starts, cols->data, n, n_cols, NULL));
    LD_TRY(counting_sort(order, starts, rows->data, n, n_rows, by_col));
    LD_TRY(coalesce(out, n_rows, n_cols, starts, order, cols->data, values ? values->data : NULL));
done:
    ld_free(by_col);
    ld_free(order);
    ld_free(starts);
    return st;
}

static ld_status check_offsets(const ld_index *offsets, int64_t n_rows, int64_t nnz)
{
    if (offsets->size != n_rows + 1)
        return ld_fail(LD_SHAPE,
                       "csr: %" PRId64 " offsets for %" PRId64 " rows; one more than "
                       "rows expected",
                       offsets->size, n_rows);
    if (offsets->data[0] != 0 || offsets->data[n_rows] != nnz)
        return ld_fail(LD_RANGE,
                       "csr: the offsets run from %" PRId64 " to %" PRId64 "; from 1 to %" PRId64
                       ", one past the columns given, expected",
                       (int64_t)offsets->data[0] + 1, (int64_t)offsets->data[n_rows] + 1, nnz + 1);
    for (int64_t r = 0; r < n_rows; r++)
        if (offsets->data[r + 1] < offsets->data[r])
            return ld_fail(LD_RANGE,
                           "csr: the offsets fall from %" PRId64 " to %" PRId64
                           " behind position %" PRId64,
                           (int64_t)offsets->data[r] + 1, (int64_t)offsets->data[r + 1] + 1, r + 1);
    return LD_OK;
}

static bool is_canonical(const ld_structure *s)
{
    for (int64_t r = 0; r < s->n_rows; r++)
        for (int64_t e = s->offsets[r] + 1; e < s->offsets[r + 1]; e++)
            if (s->columns[e] <= s->columns[e - 1])
                return false;
    return true;
}

ld_status ld_csr_canonical(ld_csr **out, ld_csr *a)
{
    if (is_canonical(a->s)) {
        *out = ld_csr_ref(a);
        return LD_OK;
    }
    ld_index *rows = NULL, *cols = NULL;
    ld_tensor *values = NULL;
    ld_status st;
    LD_TRY(ld_csr_row_of(&rows, a));
    LD_TRY(ld_csr_col_of(&cols, a));
    if (a->values || a->row_scale || a->col_scale)
        LD_TRY(ld_csr_entries(&values, a));
    LD_TRY(ld_csr_from_coo(out, a->s->n_rows, a->s->n_cols, rows, cols, values));
done:
    ld_index_unref(rows);
    ld_index_unref(cols);
    ld_tensor_unref(values);
    return st;
}

ld_status ld_csr_from_arrays(ld_csr **out, int64_t n_rows, int64_t n_cols, const ld_index *offsets,
                             ld_index *columns, ld_tensor *values)
{
    ld_structure *s = NULL;
    ld_tensor *copy = NULL;
    ld_csr *a = NULL;
    ld_status st;
    if (values && (values->ndim != 1 || values->n_rows != columns->size))
        return ld_fail(LD_SHAPE, "csr: values of %s for %" PRId64 " columns",
                       ld_tensor_shape(values), columns->size);
    LD_TRY(ld_structure_check(n_rows, n_cols, columns->size));
    LD_TRY(check_offsets(offsets, n_rows, columns->size));
    LD_TRY(ld_index_check(columns, 0, n_cols, "csr: column"));
    LD_TRY(ld_structure_over(&s, n_rows, n_cols, columns));
    for (int64_t r = 0; r <= n_rows; r++)
        s->offsets[r] = offsets->data[r];
    if (values)
        LD_TRY(ld_tensor_clone(&copy, values));
    LD_TRY(ld_csr_new(&a, s, copy, NULL, NULL));
    LD_TRY(ld_csr_canonical(out, a));
done:
    ld_structure_unref(s);
    ld_tensor_unref(copy);
    ld_csr_unref(a);
    return st;
}

ld_status ld_csr_from_dense(ld_csr **out, const ld_tensor *t)
{
    ld_structure *s = NULL;
    ld_tensor *values = NULL;
    int64_t nnz = 0, e = 0;
    ld_status st;
    for (int64_t i = 0, n = ld_tensor_size(t); i < n; i++)
        nnz += t->data[i] != 0;
    LD_TRY(ld_structure_new(&s, t->n_rows, t->n_cols, nnz, false));
    LD_TRY(ld_tensor_new(&values, 1, nnz, 1));
    for (int64_t r = 0; r < t->n_rows; r++) {
        LD_TRY(ld_poll_at(r));
        for (int64_t c = 0; c < t->n_cols; c++) {
            float v = t->data[r * t->n_cols + c];
            if (v != 0) {
                values->data[e] = v;
                s->columns[e++] = (int32_t)c;
            }
        }
        s->offsets[r + 1] = e;
    }
    LD_TRY(ld_csr_new(out, s, values, NULL, NULL));
done:
    ld_structure_unref(s);
    ld_tensor_unref(values);
    return st;
}

/* Builds matrices from coordinates, CSR arrays and dense tensors. entries.c brings entries without
 * an order into rows. */
#include <inttypes.h>
#include <string.h>

#include "graph/csr.h"
#include "memory/memory.h"

ld_status ld_csr_from_coo(ld_csr **out, int64_t n_rows, int64_t n_cols, const ld_index *rows,
                          const ld_index *cols, ld_tensor *values)
{
    int64_t n = rows->size;
    LD_OWN(ld_structure) *s = NULL;
    LD_OWN(ld_tensor) *copy = NULL;
    LD_FREED int32_t *row_of = NULL;
    if (cols->size != n || (values && (values->ndim != 1 || values->n_rows != n)))
        return ld_fail(LD_SHAPE, "matrix: %" PRId64 " rows, %" PRId64 " columns and %s values", n,
                       cols->size, values ? ld_tensor_shape(values) : "no");
    LD_CHECK(ld_structure_check(n_rows, n_cols, 0));
    LD_CHECK(ld_index_check(rows, 0, n_rows, "matrix: row"));
    LD_CHECK(ld_index_check(cols, 0, n_cols, "matrix: column"));
    LD_CHECK(ld_structure_new(&s, n_rows, n_cols, n, false));
    if (values)
        LD_CHECK(ld_tensor_clone(&copy, values));
    if (!(row_of = ld_alloc_array(n, sizeof *row_of, LD_MEM_SCRATCH)))
        return LD_NOMEM;
    memcpy(s->columns, cols->data, (size_t)n * sizeof *s->columns);
    memcpy(row_of, rows->data, (size_t)n * sizeof *row_of);
    return ld_csr_from_entries(out, s, row_of, copy);
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

ld_status ld_csr_canonical(ld_csr **out, ld_csr *a)
{
    if (ld_structure_is_canonical(a->s)) {
        *out = ld_csr_ref(a);
        return LD_OK;
    }
    const ld_structure *given = a->s;
    LD_OWN(ld_structure) *s = NULL;
    LD_OWN(ld_tensor) *values = NULL;
    LD_CHECK(ld_structure_new(&s, given->n_rows, given->n_cols, given->nnz, false));
    memcpy(s->offsets, given->offsets, (size_t)(given->n_rows + 1) * sizeof *s->offsets);
    memcpy(s->columns, given->columns, (size_t)given->nnz * sizeof *s->columns);
    if (ld_csr_is_valued(a))
        LD_CHECK(ld_csr_entries(&values, a));
    return ld_csr_from_rows(out, s, values);
}

ld_status ld_csr_from_arrays(ld_csr **out, int64_t n_rows, int64_t n_cols, const ld_index *offsets,
                             ld_index *columns, ld_tensor *values)
{
    LD_OWN(ld_structure) *s = NULL;
    LD_OWN(ld_tensor) *copy = NULL;
    LD_OWN(ld_csr) *a = NULL;
    if (values && (values->ndim != 1 || values->n_rows != columns->size))
        return ld_fail(LD_SHAPE, "csr: values of %s for %" PRId64 " columns",
                       ld_tensor_shape(values), columns->size);
    LD_CHECK(ld_structure_check(n_rows, n_cols, columns->size));
    LD_CHECK(check_offsets(offsets, n_rows, columns->size));
    LD_CHECK(ld_index_check(columns, 0, n_cols, "csr: column"));
    LD_CHECK(ld_structure_over(&s, n_rows, n_cols, columns));
    for (int64_t r = 0; r <= n_rows; r++)
        s->offsets[r] = offsets->data[r];
    if (values && ld_tensor_is_frozen(values))
        LD_CHECK(ld_tensor_view(&copy, values, 1, values->n_rows, 1));
    else if (values)
        LD_CHECK(ld_tensor_clone(&copy, values));
    LD_CHECK(ld_csr_new(&a, s, copy, NULL, NULL));
    return ld_csr_canonical(out, a);
}

ld_status ld_csr_from_dense(ld_csr **out, const ld_tensor *t)
{
    LD_OWN(ld_structure) *s = NULL;
    LD_OWN(ld_tensor) *values = NULL;
    int64_t nnz = 0, e = 0;
    for (int64_t i = 0, n = ld_tensor_size(t); i < n; i++)
        nnz += t->data[i] != 0;
    LD_CHECK(ld_structure_new(&s, t->n_rows, t->n_cols, nnz, false));
    LD_CHECK(ld_tensor_new(&values, 1, nnz, 1));
    for (int64_t r = 0; r < t->n_rows; r++) {
        LD_CHECK(ld_poll_at(r));
        for (int64_t c = 0; c < t->n_cols; c++) {
            float v = t->data[r * t->n_cols + c];
            if (v != 0) {
                values->data[e] = v;
                s->columns[e++] = (int32_t)c;
            }
        }
        s->offsets[r + 1] = e;
    }
    return ld_csr_new(out, s, values, NULL, NULL);
}

/* Block-diagonal matrices: the disjoint union of graphs, such as the mini-batch of several small
 * ones. */
#include <inttypes.h>

#include "graph/csr.h"

/* Adds up the rows, columns and entries of the parts, which must all be slices of one matrix or
 * none a slice. */
static ld_status count(int64_t *n_rows, int64_t *n_cols, int64_t *nnz, bool *valued,
                       ld_csr *const *parts, int64_t n)
{
    *n_rows = *n_cols = *nnz = 0;
    *valued = false;
    for (int64_t i = 0; i < n; i++) {
        const ld_csr *a = parts[i];
        *n_rows += a->s->n_rows;
        *n_cols += a->s->n_cols;
        *nnz += a->s->nnz;
        *valued = *valued || ld_csr_is_valued(a);
        if (a->s->from.root != parts[0]->s->from.root)
            return ld_fail(LD_VALUE,
                           "block_diagonal: matrix %" PRId64 " is no slice of the matrix "
                           "that the first is of, or it is one and the first is not",
                           i + 1);
    }
    return ld_structure_check(*n_rows, *n_cols, *nnz);
}

/* Copies a into s and values, from the given row, column and entry on. */
static void place(ld_structure *s, ld_tensor *values, const ld_csr *a, int64_t row, int64_t column,
                  int64_t entry)
{
    for (int64_t r = 0; r < a->s->n_rows; r++) {
        for (int64_t e = a->s->offsets[r]; e < a->s->offsets[r + 1]; e++) {
            s->columns[entry + e] = (int32_t)(column + a->s->columns[e]);
            if (s->from.places)
                s->from.places[entry + e] = ld_structure_place(a->s, r, e);
            if (values)
                values->data[entry + e] = ld_csr_value(a, r, e);
        }
        if (s->from.places)
            s->from.rows[row + r] = ld_structure_origin(a->s, r);
        s->offsets[row + r + 1] = entry + a->s->offsets[r + 1];
    }
}

ld_status ld_csr_block_diagonal(ld_csr **out, ld_csr *const *parts, int64_t n)
{
    int64_t n_rows, n_cols, nnz, row = 0, column = 0, entry = 0;
    bool valued;
    LD_OWN(ld_structure) *s = NULL;
    LD_OWN(ld_tensor) *values = NULL;
    LD_CHECK(count(&n_rows, &n_cols, &nnz, &valued, parts, n));
    ld_csr *root = n > 0 ? parts[0]->s->from.root : NULL;
    LD_CHECK(ld_structure_new(&s, n_rows, n_cols, nnz, root != NULL));
    if (root)
        ld_structure_sliced(s, root);
    if (valued)
        LD_CHECK(ld_tensor_new(&values, 1, nnz, 1));
    for (int64_t i = 0; i < n; i++) {
        place(s, values, parts[i], row, column, entry);
        row += parts[i]->s->n_rows;
        column += parts[i]->s->n_cols;
        entry += parts[i]->s->nnz;
    }
    return ld_csr_new(out, s, values, NULL, NULL);
}

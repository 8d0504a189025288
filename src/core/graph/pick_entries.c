/* Some entries of a matrix, its rows and columns as they are. */
#include <inttypes.h>

#include "graph/csr.h"

static ld_status check_ascending(const ld_index *positions)
{
    for (int64_t i = 1; i < positions->size; i++)
        if (positions->data[i] <= positions->data[i - 1])
            return ld_fail(LD_VALUE,
                           "pick_entries: position %" PRId64 ", the %" PRId64
                           "th, does not lie after %" PRId64 " before it; ascending ones expected",
                           (int64_t)positions->data[i] + 1, i + 1,
                           (int64_t)positions->data[i - 1] + 1);
    return LD_OK;
}

ld_status ld_csr_pick_entries(ld_csr **out, ld_csr *a, const ld_index *positions)
{
    const ld_structure *p = a->s;
    ld_structure *s = NULL;
    ld_tensor *values = NULL;
    int64_t n = 0;
    ld_status st;
    LD_TRY(ld_index_check(positions, 0, p->nnz, "pick_entries: position"));
    LD_TRY(check_ascending(positions));
    LD_TRY(ld_structure_new(&s, p->n_rows, p->n_cols, positions->size, true));
    ld_structure_sliced(s, a);
    for (int64_t r = 0; r < p->n_rows; r++) {
        s->origin_row[r] = ld_structure_origin(p, r);
        for (; n < positions->size && positions->data[n] < p->offsets[r + 1]; n++) {
            int32_t at = positions->data[n];
            s->columns[n] = p->columns[at];
            s->origin[n] = p->origin ? p->origin[at] : (int32_t)(at - p->offsets[r]);
        }
        s->offsets[r + 1] = n;
    }
    LD_TRY(ld_tensor_pick(&values, a->values, positions));
    LD_TRY(ld_csr_new(out, s, values, a->row_scale, a->col_scale));
done:
    ld_structure_unref(s);
    ld_tensor_unref(values);
    return st;
}

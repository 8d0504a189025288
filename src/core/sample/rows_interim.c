/* A minimal A:sample_rows, uniform without replacement, until the whole one is there. */
#include <string.h>

#include "base/marker.h"
#include "base/memory.h"
#include "sample/rows_interim.h"

/* k of the n numbers from 0 on, ascending, by Floyd's method; `s` gives fresh bits from `at` on. */
static void choose(int64_t *out, int64_t n, int64_t k, ld_stream s, uint64_t at)
{
    int64_t found = 0;
    for (int64_t j = n - k; j < n; j++) {
        int64_t t = (int64_t)ld_random_below(s, at + (uint64_t)(j - n + k), (uint64_t)j + 1), i = 0;
        while (i < found && out[i] < t)
            i++;
        if (i < found && out[i] == t) {
            t = j; /* greater than all that were chosen */
            i = found;
        }
        memmove(out + i + 1, out + i, (size_t)(found - i) * sizeof *out);
        out[i] = t;
        found++;
    }
}

ld_status ld_sample_rows_interim(ld_csr **out, ld_index **src, ld_csr *a, const ld_index *rows,
                                 int64_t k, const ld_index *first, ld_rng *rng)
{
    const ld_structure *p = a->s;
    ld_stream stream = ld_rng_next(rng);
    ld_index *kept_rows = NULL;
    ld_structure *s = NULL;
    ld_tensor *values = NULL;
    ld_csr *whole = NULL, *few = NULL;
    int64_t *chosen = NULL, nnz = 0;
    ld_status st;
    LD_TRY(ld_index_check_unique(rows, "sample_rows: node"));
    LD_TRY(ld_csr_rows(&whole, a, rows));
    for (int64_t i = 0; i < rows->size; i++) {
        int64_t d = whole->s->offsets[i + 1] - whole->s->offsets[i];
        nnz += d < k ? d : k;
    }
    st = LD_NOMEM;
    if (!(chosen = ld_alloc_array(k + 1, sizeof *chosen, LD_MEM_SCRATCH)))
        goto done;
    LD_TRY(ld_structure_new(&s, rows->size, p->n_cols, nnz, true));
    if (a->values)
        LD_TRY(ld_tensor_new(&values, 1, nnz, 1));
    for (int64_t i = 0, e = 0; i < rows->size; i++) {
        int64_t from = whole->s->offsets[i], d = whole->s->offsets[i + 1] - from, m = d < k ? d : k;
        choose(chosen, d, m, stream, (uint64_t)rows->data[i] * (uint64_t)k);
        for (int64_t j = 0; j < m; j++, e++) {
            s->columns[e] = whole->s->columns[from + chosen[j]];
            s->origin[e] = (int32_t)(p->offsets[rows->data[i]] + chosen[j]);
            if (values)
                values->data[e] = whole->values->data[from + chosen[j]];
        }
        s->offsets[i + 1] = e;
    }
    LD_TRY(ld_csr_new(&few, s, values, whole->row_scale, a->col_scale));
    LD_TRY(ld_index_range(&kept_rows, 0, rows->size));
    LD_TRY(ld_csr_slice(out, src, few, kept_rows, first));
done:
    ld_free(chosen);
    ld_index_unref(kept_rows);
    ld_structure_unref(s);
    ld_tensor_unref(values);
    ld_csr_unref(whole);
    ld_csr_unref(few);
    return st;
}

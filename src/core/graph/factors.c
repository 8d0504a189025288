#include "graph/factors.h"

static const float *data_of(const ld_tensor *t)
{
    return t ? t->data : NULL;
}

ld_status ld_factors_of(ld_factors *out, const ld_csr *a, bool transpose)
{
    ld_structure *s = a->s;
    if (transpose && (!s->symmetric || a->values)) {
        ld_status st = ld_structure_transpose(&s, a->s);
        if (st != LD_OK)
            return st;
    }
    *out = (ld_factors){.n_rows = s->n_rows,
                        .n_cols = s->n_cols,
                        .offsets = s->offsets,
                        .columns = s->columns,
                        .source = s == a->s ? NULL : s->source,
                        .values = data_of(a->values),
                        .row_scale = data_of(transpose ? a->col_scale : a->row_scale),
                        .col_scale = data_of(transpose ? a->row_scale : a->col_scale)};
    return LD_OK;
}

bool ld_factors_sorted(const ld_factors *a)
{
    for (int64_t r = 0; r < a->n_rows; r++)
        for (int64_t e = a->offsets[r] + 1; e < a->offsets[r + 1]; e++)
            if (a->columns[e] < a->columns[e - 1])
                return false;
    return true;
}

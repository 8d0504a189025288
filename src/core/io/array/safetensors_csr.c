/* Matrices over the file that they are in. */
#include <inttypes.h>

#include "io/array/npy_values.h"
#include "io/array/safetensors.h"

static ld_status map(ld_mapping **out, int64_t *count, ld_safetensors *f, const char *name,
                     ld_npy_type type)
{
    char shape[LD_NPY_TEXT];
    ld_npy_header h;
    ld_source *s;
    ld_status st = ld_safetensors_read(&h, &s, f, name);
    if (st == LD_OK && h.ndim != 1)
        st = ld_fail(LD_SHAPE, "%s: its shape is %s, one dimension expected", s->name,
                     ld_npy_shape(shape, &h));
    if (st != LD_OK)
        return st;
    *count = ld_npy_count(&h);
    return ld_npy_map(out, type, &h, s);
}

ld_status ld_safetensors_map_csr(ld_csr **out, ld_safetensors *f, const ld_mapped_csr *given)
{
    static const ld_npy_type int64 = {'i', 8}, int32 = {'i', 4};
    ld_mapping *offsets = NULL, *columns = NULL;
    ld_structure *s = NULL;
    int64_t n_offsets = 0, nnz = 0;
    ld_status st;
    *out = NULL;
    LD_TRY(map(&offsets, &n_offsets, f, given->offsets, int64));
    LD_TRY(map(&columns, &nnz, f, given->columns, int32));
    if (!offsets || !columns)
        goto done;
    if (n_offsets != given->n_rows + 1) {
        st = ld_fail(LD_SHAPE,
                     "%s: \"%.60s\" has %" PRId64 " elements for %" PRId64
                     " rows; one more than rows expected",
                     f->file->label.text, given->offsets, n_offsets, given->n_rows);
        goto done;
    }
    LD_TRY(ld_structure_over_mappings(&s, given->n_rows, given->n_cols, nnz, offsets, columns));
    s->canonical = given->checked;
    s->symmetric = given->symmetric;
    s->looped = given->looped;
    if (!given->checked && (st = ld_structure_verify(s)) == LD_RANGE) {
        char why[200];
        snprintf(why, sizeof why, "%s", ld_message());
        st = ld_fail(LD_RANGE, "%s: %s", f->file->label.text, why);
    }
    if (st == LD_OK)
        st = ld_csr_new(out, s, NULL, NULL, NULL);
done:
    ld_mapping_unref(offsets);
    ld_mapping_unref(columns);
    ld_structure_unref(s);
    return st;
}

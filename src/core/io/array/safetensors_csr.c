/* Makes a sparse matrix whose arrays stay in the mapped file. */
#include <inttypes.h>

#include "io/array/npy_values.h"
#include "io/array/safetensors.h"

static ld_status map(ld_mapping **out, int64_t *count, ld_safetensors *f, const char *name,
                     ld_npy_type type)
{
    char shape[LD_NPY_TEXT];
    ld_npy_header h;
    ld_source *s;
    LD_CHECK(ld_safetensors_read(&h, &s, f, name));
    if (h.ndim != 1)
        return ld_fail(LD_SHAPE, "%s: its shape is %s, one dimension expected", s->name,
                       ld_npy_shape(shape, &h));
    *count = ld_npy_count(&h);
    return ld_npy_map(out, type, &h, s);
}

ld_status ld_safetensors_map_csr(ld_csr **out, ld_safetensors *f, const ld_mapped_csr *given)
{
    static const ld_npy_type int64 = {'i', 8}, int32 = {'i', 4};
    LD_OWN(ld_mapping) *offsets = NULL, *columns = NULL;
    LD_OWN(ld_structure) *s = NULL;
    int64_t n_offsets = 0, nnz = 0;
    *out = NULL;
    LD_CHECK(map(&offsets, &n_offsets, f, given->offsets, int64));
    LD_CHECK(map(&columns, &nnz, f, given->columns, int32));
    if (!offsets || !columns)
        return LD_OK;
    if (n_offsets != given->n_rows + 1)
        return ld_fail(LD_SHAPE,
                       "%s: \"%.60s\" has %" PRId64 " elements for %" PRId64
                       " rows; one more than rows expected",
                       f->file->label.text, given->offsets, n_offsets, given->n_rows);
    LD_CHECK(ld_structure_over_mappings(&s, given->n_rows, given->n_cols, nnz, offsets, columns));
    s->canonical = given->checked;
    s->symmetric = given->symmetric;
    s->looped = given->looped;
    ld_status st = given->checked ? LD_OK : ld_structure_verify(s);
    if (st == LD_RANGE)
        return ld_fail(LD_RANGE, "%s: %s", f->file->label.text, ld_message());
    return st == LD_OK ? ld_csr_new(out, s, NULL, NULL, NULL) : st;
}

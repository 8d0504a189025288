#include <inttypes.h>
#include <string.h>

#include "io/npy_values.h"
#include "io/pickle_machine.h"

/* An attribute; newer versions of SciPy write "_shape" for "shape". */
static const value *attribute(const value *state, const char *name)
{
    for (int64_t i = 0; i + 1 < state->list.count; i += 2)
        if (ld_pickle_is(state->list.items[i], name))
            return state->list.items[i + 1];
    return NULL;
}

static ld_status find_array(const ld_pickle_array **out, const ld_pickle *p, const value *state,
                            const char *name, int64_t *budget)
{
    const value *v = attribute(state, name);
    if (!v || v->kind != LD_PICKLE_ARRAY || !v->array || v->array->header.ndim != 1)
        return ld_fail(LD_FORMAT, "%s: a csr_matrix without the vector \"%s\"", p->name, name);
    *out = v->array;
    *budget -= ld_npy_bytes(&v->array->header);
    if (*budget < 0)
        return ld_fail(LD_FORMAT, "%s: its matrices hold more than the file: they share arrays",
                       p->name);
    return LD_OK;
}

static ld_status find_shape(int64_t sizes[2], const ld_pickle *p, const value *state)
{
    enum { LARGE = 1 << 24 };
    const value *shape = attribute(state, "_shape");
    shape = shape ? shape : attribute(state, "shape");
    bool fits = shape && shape->kind == LD_PICKLE_TUPLE && shape->list.count == 2;
    for (int i = 0; fits && i < 2; i++) {
        const value *size = shape->list.items[i];
        fits = size->kind == LD_PICKLE_INTEGER && size->integer >= 0 && size->integer <= INT32_MAX;
        sizes[i] = fits ? size->integer : 0;
    }
    if (!fits)
        return ld_fail(LD_FORMAT, "%s: a csr_matrix without a shape", p->name);
    if (sizes[1] > LARGE && sizes[1] > p->size) /* sorting takes memory for every column */
        return ld_fail(LD_FORMAT, "%s: a csr_matrix of %" PRId64 " columns is not read", p->name,
                       sizes[1]);
    return LD_OK;
}

static ld_status read_index(ld_index **out, const ld_pickle *p, const ld_pickle_array *a)
{
    ld_memory_source s = ld_memory_source_of(a->data, ld_npy_bytes(&a->header), p->name);
    return ld_npy_read_index(out, &a->header, &s.source);
}

static ld_status read_tensor(ld_tensor **out, const ld_pickle *p, const ld_pickle_array *a)
{
    ld_memory_source s = ld_memory_source_of(a->data, ld_npy_bytes(&a->header), p->name);
    return ld_npy_read_tensor(out, &a->header, &s.source);
}

ld_status ld_pickle_matrix(ld_csr **out, const ld_pickle *p, const ld_pickle_value *v,
                           int64_t *budget)
{
    enum { MANY_ATTRIBUTES = 64 };
    const ld_pickle_array *offsets, *columns, *entries;
    ld_index *offset_index = NULL, *column_index = NULL;
    ld_tensor *values = NULL;
    int64_t sizes[2];
    ld_status st;
    if (!v->state || v->state->list.count > MANY_ATTRIBUTES)
        return ld_fail(LD_FORMAT, "%s: a csr_matrix without its attributes", p->name);
    LD_TRY(find_shape(sizes, p, v->state));
    LD_TRY(find_array(&offsets, p, v->state, "indptr", budget));
    LD_TRY(find_array(&columns, p, v->state, "indices", budget));
    LD_TRY(find_array(&entries, p, v->state, "data", budget));
    LD_TRY(read_index(&offset_index, p, offsets));
    LD_TRY(read_index(&column_index, p, columns));
    LD_TRY(read_tensor(&values, p, entries));
    st = ld_csr_from_arrays(out, sizes[0], sizes[1], offset_index, column_index, values);
    if (st != LD_OK && st != LD_NOMEM && st != LD_CANCELLED) {
        char reason[200];
        strncpy(reason, ld_message(), sizeof reason - 1);
        reason[sizeof reason - 1] = '\0';
        st = ld_fail(st, "%s: %s", p->name, reason);
    }
done:
    ld_index_unref(offset_index);
    ld_index_unref(column_index);
    ld_tensor_unref(values);
    return st;
}

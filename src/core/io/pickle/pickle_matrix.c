#include <inttypes.h>

#include "io/array/npy_values.h"
#include "io/pickle/pickle_machine.h"

/* Returns an attribute; newer versions of SciPy write "_shape" for "shape". */
static const value *attribute(const value *state, const char *name)
{
    for (int64_t i = 0; i + 1 < state->list.count; i += 2)
        if (ld_pickle_is(state->list.items[i], name))
            return state->list.items[i + 1];
    return NULL;
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
        return ld_fail(LD_FORMAT, "%s: a sparse matrix without a shape", p->name);
    if (sizes[1] > LARGE && sizes[1] > p->size) /* sorting takes memory for every column */
        return ld_fail(LD_FORMAT, "%s: a sparse matrix of %" PRId64 " columns is not read", p->name,
                       sizes[1]);
    return LD_OK;
}

/* Fails where the rows of a matrix would take more than the file has. Only a matrix by rows has
 * something in the file for every row, which takes 8 bytes here: the others must have arrays in
 * proportion. */
static ld_status check_rows(const ld_pickle *p, int64_t rows, int64_t bytes)
{
    enum { FREE = 4096, ROWS_OF_BYTE = 16 };
    if (rows <= FREE + ROWS_OF_BYTE * bytes)
        return LD_OK;
    return ld_fail(LD_FORMAT,
                   "%s: a sparse matrix of %" PRId64 " rows is not read: its arrays have %" PRId64
                   " bytes",
                   p->name, rows, bytes);
}

/* Opens an array of the matrix, where `v` is its attribute `name`. */
static ld_status open_array(ld_memory_source *s, const ld_pickle_array **out, const ld_pickle *p,
                            const value *v, const char *name, int64_t *budget)
{
    if (!v || v->kind != LD_PICKLE_ARRAY || !v->array || v->array->header.ndim != 1)
        return ld_fail(LD_FORMAT, "%s: a sparse matrix without the vector \"%s\"", p->name, name);
    *out = v->array;
    int64_t bytes = ld_npy_bytes(&v->array->header);
    *budget -= bytes;
    if (*budget < 0)
        return ld_fail(LD_FORMAT, "%s: its matrices hold more than the file: they share arrays",
                       p->name);
    *s = ld_memory_source_of(v->array->data, bytes, p->name);
    return LD_OK;
}

static ld_status read_index(ld_index **out, const ld_pickle *p, const value *v, const char *name,
                            int64_t *budget)
{
    ld_memory_source s;
    const ld_pickle_array *a;
    LD_CHECK(open_array(&s, &a, p, v, name, budget));
    return ld_npy_read_index(out, &a->header, &s.source);
}

static ld_status read_tensor(ld_tensor **out, const ld_pickle *p, const value *v, const char *name,
                             int64_t *budget)
{
    ld_memory_source s;
    const ld_pickle_array *a;
    LD_CHECK(open_array(&s, &a, p, v, name, budget));
    return ld_npy_read_tensor(out, &a->header, &s.source);
}

/* Finds the two attributes with the places of entries. For a list of entries they are rows and
 * columns, which since SciPy 1.13 are one tuple; otherwise offsets, and the columns or rows behind
 * them. */
static void find_places(const value *places[2], const char *names[2], const value *state,
                        ld_pickle_form form)
{
    bool coo = form == LD_PICKLE_COO;
    names[0] = coo ? "row" : "indptr";
    names[1] = coo ? "col" : "indices";
    const value *both = coo ? attribute(state, "coords") : NULL;
    bool tuple = both && both->kind == LD_PICKLE_TUPLE && both->list.count == 2;
    for (int i = 0; i < 2; i++)
        places[i] = tuple ? both->list.items[i] : attribute(state, names[i]);
}

static ld_status build(ld_csr **out, ld_pickle_form form, const int64_t sizes[2],
                       const ld_index *first, ld_index *second, ld_tensor *values)
{
    if (form == LD_PICKLE_COO)
        return ld_csr_from_coo(out, sizes[0], sizes[1], first, second, values);
    if (form == LD_PICKLE_CSR)
        return ld_csr_from_arrays(out, sizes[0], sizes[1], first, second, values);
    LD_OWN(ld_csr) *transposed = NULL;
    LD_CHECK(ld_csr_from_arrays(&transposed, sizes[1], sizes[0], first, second, values));
    return ld_csr_transpose(out, transposed);
}

ld_status ld_pickle_matrix(ld_csr **out, const ld_pickle *p, const ld_pickle_value *v,
                           int64_t *budget)
{
    enum { MANY_ATTRIBUTES = 64 };
    const value *state = v->matrix.state, *places[2];
    const char *names[2];
    LD_OWN(ld_index) *first = NULL, *second = NULL;
    LD_OWN(ld_tensor) *values = NULL;
    int64_t sizes[2], before = *budget;
    if (!state || state->list.count > MANY_ATTRIBUTES)
        return ld_fail(LD_FORMAT, "%s: a sparse matrix without its attributes", p->name);
    find_places(places, names, state, v->matrix.form);
    LD_CHECK(find_shape(sizes, p, state));
    LD_CHECK(read_index(&first, p, places[0], names[0], budget));
    LD_CHECK(read_index(&second, p, places[1], names[1], budget));
    LD_CHECK(read_tensor(&values, p, attribute(state, "data"), "data", budget));
    if (v->matrix.form != LD_PICKLE_CSR)
        LD_CHECK(check_rows(p, sizes[0], before - *budget));
    ld_status st = build(out, v->matrix.form, sizes, first, second, values);
    if (st != LD_OK && st != LD_NOMEM && st != LD_CANCELLED)
        return ld_fail(st, "%s: %s", p->name, ld_message());
    return st;
}

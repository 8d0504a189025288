/* The classes that a pickle may name, and what calling them builds. */
#include <inttypes.h>
#include <string.h>

#include "io/pickle/pickle_machine.h"

enum {
    BYTES,
    DEFAULTDICT,
    DTYPE,
    ENCODE,
    FACTORY, /* makes elements of a defaultdict; is not called */
    FROM_BUFFER,
    MATRIX_CSR,
    MATRIX_CSC,
    MATRIX_COO,
    NDARRAY,
    OBJECT,
    RECONSTRUCT,
    RECONSTRUCTOR,
    SCALAR,
};

/* Modules were renamed over the years: NumPy 2, SciPy 1.8, Python 3. */
static const struct {
    const char *module, *name;
    int id;
} classes[] = {
    {"numpy.core.multiarray", "_reconstruct", RECONSTRUCT},
    {"numpy._core.multiarray", "_reconstruct", RECONSTRUCT},
    {"numpy.core.numeric", "_frombuffer", FROM_BUFFER}, /* of protocol 5 */
    {"numpy._core.numeric", "_frombuffer", FROM_BUFFER},
    {"numpy.core.multiarray", "scalar", SCALAR},
    {"numpy._core.multiarray", "scalar", SCALAR},
    {"numpy", "ndarray", NDARRAY},
    {"numpy", "dtype", DTYPE},
    {"scipy.sparse.csr", "csr_matrix", MATRIX_CSR},
    {"scipy.sparse._csr", "csr_matrix", MATRIX_CSR},
    {"scipy.sparse", "csr_matrix", MATRIX_CSR},
    {"scipy.sparse._csr", "csr_array", MATRIX_CSR},
    {"scipy.sparse.csc", "csc_matrix", MATRIX_CSC},
    {"scipy.sparse._csc", "csc_matrix", MATRIX_CSC},
    {"scipy.sparse", "csc_matrix", MATRIX_CSC},
    {"scipy.sparse._csc", "csc_array", MATRIX_CSC},
    {"scipy.sparse.coo", "coo_matrix", MATRIX_COO},
    {"scipy.sparse._coo", "coo_matrix", MATRIX_COO},
    {"scipy.sparse", "coo_matrix", MATRIX_COO},
    {"scipy.sparse._coo", "coo_array", MATRIX_COO},
    {"collections", "defaultdict", DEFAULTDICT},
    {"__builtin__", "list", FACTORY},
    {"builtins", "list", FACTORY},
    {"__builtin__", "int", FACTORY},
    {"builtins", "int", FACTORY},
    {"__builtin__", "object", OBJECT},
    {"builtins", "object", OBJECT},
    {"__builtin__", "bytes", BYTES}, /* how Python 3 writes b"" in protocols 0 to 2, */
    {"builtins", "bytes", BYTES},
    {"_codecs", "encode", ENCODE}, /* and other bytes */
    {"copy_reg", "_reconstructor", RECONSTRUCTOR},
    {"copyreg", "_reconstructor", RECONSTRUCTOR},
};

static bool equal(const char *word, const char *text, int64_t size)
{
    return (int64_t)strlen(word) == size && memcmp(word, text, (size_t)size) == 0;
}

ld_status ld_pickle_find_class(value **out, ld_pickle *p, const char *module, int64_t module_size,
                               const char *name, int64_t name_size)
{
    char shown_module[LD_PICKLE_WORD], shown_name[LD_PICKLE_WORD];
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        if (!equal(classes[i].module, module, module_size) ||
            !equal(classes[i].name, name, name_size))
            continue;
        LD_CHECK(ld_pickle_new(out, p, LD_PICKLE_CLASS));
        (*out)->class_id = classes[i].id;
        return LD_OK;
    }
    return ld_fail(LD_FORMAT, "%s: refuses the class \"%s.%s\"", p->name,
                   ld_pickle_word(shown_module, module, module_size),
                   ld_pickle_word(shown_name, name, name_size));
}

static const char *class_name(int id)
{
    size_t i = 0;
    while (classes[i].id != id)
        i++;
    return classes[i].name;
}

static ld_status fail_arguments(const ld_pickle *p, int id)
{
    return ld_fail(LD_FORMAT, "%s: \"%s\" has arguments that are not understood", p->name,
                   class_name(id));
}

/* Returns argument i of a tuple when it is of this kind, else NULL. */
static const value *argument(const value *tuple, int64_t i, ld_pickle_kind kind)
{
    return i < tuple->list.count && tuple->list.items[i]->kind == kind ? tuple->list.items[i]
                                                                       : NULL;
}

static bool is_class(const value *tuple, int64_t i, int id)
{
    const value *v = argument(tuple, i, LD_PICKLE_CLASS);
    return v && v->class_id == id;
}

static bool is_none(const value *tuple, int64_t i)
{
    return argument(tuple, i, LD_PICKLE_NONE) != NULL;
}

/* --- bytes ------------------------------------------------------------------------------------ */

/* Makes the bytes whose values are the characters of a text. */
static ld_status encode(value **out, ld_pickle *p, const value *arguments)
{
    const value *text = argument(arguments, 0, LD_PICKLE_TEXT);
    if (!text || arguments->list.count != 2 || !ld_pickle_is(arguments->list.items[1], "latin1"))
        return fail_arguments(p, ENCODE);
    char *to;
    LD_CHECK(ld_pickle_new(out, p, LD_PICKLE_BYTES));
    LD_CHECK(ld_pickle_room((void **)&to, p, text->bytes.size));
    (*out)->bytes.data = to;
    const unsigned char *from = (const unsigned char *)text->bytes.data;
    for (const unsigned char *end = from + text->bytes.size; from < end; from++) {
        if (*from < 0x80) {
            *to++ = (char)*from;
        } else if ((*from == 0xC2 || *from == 0xC3) && from + 1 < end && from[1] >> 6 == 2) {
            *to++ = (char)(*from << 6 | (from[1] & 0x3F));
            from++;
        } else {
            return fail_arguments(p, ENCODE);
        }
    }
    (*out)->bytes.size = to - (*out)->bytes.data;
    return LD_OK;
}

/* --- NumPy ------------------------------------------------------------------------------------ */

/* Calls dtype("f4", ...). */
static ld_status new_dtype(value **out, ld_pickle *p, const value *arguments)
{
    char word[LD_PICKLE_WORD];
    const value *name = arguments->list.count > 0 ? arguments->list.items[0] : NULL;
    if (!name || (name->kind != LD_PICKLE_BYTES && name->kind != LD_PICKLE_TEXT))
        return fail_arguments(p, DTYPE);
    LD_CHECK(ld_pickle_new(out, p, LD_PICKLE_DTYPE));
    ld_pickle_word(word, name->bytes.data, name->bytes.size);
    if (!ld_npy_type_coded(&(*out)->dtype, word))
        return ld_fail(LD_FORMAT, "%s: the dtype \"%s\" is not read", p->name, word);
    return LD_OK;
}

/* Sets the state of a dtype: (version, byte order, subtype, names, fields, ...). */
static ld_status build_dtype(const ld_pickle *p, const value *state)
{
    if (state->kind != LD_PICKLE_TUPLE || state->list.count < 5)
        return fail_arguments(p, DTYPE);
    const value *order = state->list.items[1];
    if (ld_pickle_is(order, ">"))
        return ld_fail(LD_FORMAT, "%s: an array is big-endian; only little-endian is read",
                       p->name);
    bool known = ld_pickle_is(order, "<") || ld_pickle_is(order, "|") || ld_pickle_is(order, "=");
    bool plain = is_none(state, 2) && is_none(state, 3) && is_none(state, 4);
    return known && plain ? LD_OK : fail_arguments(p, DTYPE);
}

/* Reads the shape of an array from a tuple; false when core has no such arrays. */
static bool parse_shape(ld_npy_header *h, const value *shape)
{
    int64_t sizes[2] = {1, 1}, bytes;
    if (shape->list.count > 2)
        return false;
    for (int64_t i = 0; i < shape->list.count; i++) {
        const value *size = argument(shape, i, LD_PICKLE_INTEGER);
        if (!size || size->integer < 0)
            return false;
        sizes[i] = size->integer;
    }
    h->ndim = (int)shape->list.count;
    h->n_rows = sizes[0];
    h->n_cols = sizes[1];
    return !__builtin_mul_overflow(h->n_rows, h->n_cols, &bytes) &&
           !__builtin_mul_overflow(bytes, h->type.size, &bytes);
}

/* Turns an array of objects into a list. */
static ld_status build_objects(const ld_pickle *p, value *array, const ld_npy_header *h,
                               const value *items)
{
    if (items->kind != LD_PICKLE_LIST || h->ndim > 1 || items->list.count != ld_npy_count(h))
        return ld_fail(LD_FORMAT, "%s: an array of objects must have one dimension at most",
                       p->name);
    array->kind = LD_PICKLE_LIST;
    array->list = items->list;
    array->list.room = items->list.count; /* whoever grows makes a copy */
    return LD_OK;
}

/* Gives an array its elements: the bytes `data` or, of objects, a list. */
static ld_status fill_array(ld_pickle *p, value *array, const value *shape, const value *dtype,
                            bool fortran, const value *data)
{
    ld_npy_header h = {.type = dtype->dtype, .fortran = fortran};
    if (!parse_shape(&h, shape))
        return ld_fail(LD_FORMAT,
                       "%s: an array has a shape that is not read; 0 to 2 dimensions "
                       "are",
                       p->name);
    if (h.type.kind == 'O')
        return build_objects(p, array, &h, data);
    bool has_bytes = data->kind == LD_PICKLE_BYTES;
    if (!has_bytes || data->bytes.size != ld_npy_bytes(&h)) {
        char text[LD_NPY_TEXT], type[LD_NPY_TEXT];
        return ld_fail(LD_FORMAT, "%s: an array of %s of %s has %" PRId64 " bytes", p->name,
                       ld_npy_shape(text, &h), ld_npy_type_name(type, h.type),
                       has_bytes ? data->bytes.size : 0);
    }
    ld_pickle_array *room;
    LD_CHECK(ld_pickle_room((void **)&room, p, sizeof *room));
    *room = (ld_pickle_array){h, data->bytes.data};
    array->array = room;
    return LD_OK;
}

/* Sets the state of an array: (version, shape, dtype, columns together, data). */
static ld_status build_array(ld_pickle *p, value *array, const value *state)
{
    if (array->array || state->kind != LD_PICKLE_TUPLE || state->list.count != 5)
        return fail_arguments(p, NDARRAY);
    const value *shape = argument(state, 1, LD_PICKLE_TUPLE),
                *dtype = argument(state, 2, LD_PICKLE_DTYPE), *fortran = state->list.items[3];
    if (!shape || !dtype)
        return fail_arguments(p, NDARRAY);
    bool by_columns = (fortran->kind == LD_PICKLE_BOOL && fortran->truth) ||
                      (fortran->kind == LD_PICKLE_INTEGER && fortran->integer != 0);
    return fill_array(p, array, shape, dtype, by_columns, state->list.items[4]);
}

/* Calls _frombuffer(data, dtype, shape, "C" or "F"), which makes an array. */
static ld_status new_array_of_bytes(value **out, ld_pickle *p, const value *arguments)
{
    const value *data = argument(arguments, 0, LD_PICKLE_BYTES),
                *dtype = argument(arguments, 1, LD_PICKLE_DTYPE),
                *shape = argument(arguments, 2, LD_PICKLE_TUPLE),
                *order = argument(arguments, 3, LD_PICKLE_TEXT);
    bool by_columns = order && ld_pickle_is(order, "F");
    if (!data || !dtype || dtype->dtype.kind == 'O' || !shape || !order ||
        (!by_columns && !ld_pickle_is(order, "C")))
        return fail_arguments(p, FROM_BUFFER);
    LD_CHECK(ld_pickle_new(out, p, LD_PICKLE_ARRAY));
    return fill_array(p, *out, shape, dtype, by_columns, data);
}

/* Calls scalar(dtype, bytes), which makes an array of one element. */
static ld_status new_scalar(value **out, ld_pickle *p, const value *arguments)
{
    const value *dtype = argument(arguments, 0, LD_PICKLE_DTYPE),
                *data = argument(arguments, 1, LD_PICKLE_BYTES);
    if (!dtype || !data || dtype->dtype.kind == 'O' || data->bytes.size != dtype->dtype.size)
        return fail_arguments(p, SCALAR);
    ld_pickle_array *room;
    LD_CHECK(ld_pickle_new(out, p, LD_PICKLE_ARRAY));
    LD_CHECK(ld_pickle_room((void **)&room, p, sizeof *room));
    *room = (ld_pickle_array){{.type = dtype->dtype, .n_rows = 1, .n_cols = 1}, data->bytes.data};
    (*out)->array = room;
    return LD_OK;
}

/* --- SciPy ------------------------------------------------------------------------------------ */

static bool is_matrix(int id)
{
    return id == MATRIX_CSR || id == MATRIX_CSC || id == MATRIX_COO;
}

static ld_status new_matrix(value **out, ld_pickle *p, int id)
{
    LD_CHECK(ld_pickle_new(out, p, LD_PICKLE_MATRIX));
    (*out)->matrix.form = id == MATRIX_CSR   ? LD_PICKLE_CSR
                          : id == MATRIX_CSC ? LD_PICKLE_CSC
                                             : LD_PICKLE_COO;
    return LD_OK;
}

/* --- calls ------------------------------------------------------------------------------------ */

/* Returns true if a defaultdict may have these arguments: a maker of new elements, or none. */
static bool is_factory(const value *arguments)
{
    return arguments->list.count == 0 ||
           (arguments->list.count == 1 &&
            (is_class(arguments, 0, FACTORY) || is_none(arguments, 0)));
}

ld_status ld_pickle_call(value **out, ld_pickle *p, const value *class, const value *arguments)
{
    switch (class->class_id) {
    case DTYPE: return new_dtype(out, p, arguments);
    case ENCODE: return encode(out, p, arguments);
    case FROM_BUFFER: return new_array_of_bytes(out, p, arguments);
    case SCALAR: return new_scalar(out, p, arguments);
    case BYTES:
        if (arguments->list.count == 0)
            return ld_pickle_new(out, p, LD_PICKLE_BYTES);
        break;
    case DEFAULTDICT:
        if (is_factory(arguments))
            return ld_pickle_new(out, p, LD_PICKLE_DICT);
        break;
    case RECONSTRUCT:
        if (is_class(arguments, 0, NDARRAY))
            return ld_pickle_new(out, p, LD_PICKLE_ARRAY);
        break;
    case RECONSTRUCTOR: {
        const value *made = argument(arguments, 0, LD_PICKLE_CLASS);
        if (made && is_matrix(made->class_id) && is_class(arguments, 1, OBJECT))
            return new_matrix(out, p, made->class_id);
        break;
    }
    default: break;
    }
    return fail_arguments(p, class->class_id);
}

ld_status ld_pickle_make(value **out, ld_pickle *p, const value *class, const value *arguments)
{
    if (is_matrix(class->class_id) && arguments->list.count == 0)
        return new_matrix(out, p, class->class_id);
    return fail_arguments(p, class->class_id);
}

ld_status ld_pickle_build(ld_pickle *p, value *object, const value *state)
{
    switch (object->kind) {
    case LD_PICKLE_DTYPE: return build_dtype(p, state);
    case LD_PICKLE_ARRAY: return build_array(p, object, state);
    case LD_PICKLE_MATRIX:
        if (object->matrix.state || state->kind != LD_PICKLE_DICT)
            return ld_fail(LD_FORMAT, "%s: a sparse matrix has a state that is not understood",
                           p->name);
        object->matrix.state = (value *)state;
        return LD_OK;
    default:
        return ld_fail(LD_FORMAT, "%s: %s cannot have a state", p->name,
                       ld_pickle_kind_name(object->kind));
    }
}

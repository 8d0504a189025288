/* The .npy format of NumPy, versions 1 to 3: one array, after a header that describes it as a
 * Python dictionary (numpy/lib/format.py).
 *
 * The elements that are read are little-endian numbers (f2 f4 f8, i1 to i8, u1 to u8, b1) and texts
 * (U in UTF-32, S in bytes). An array has 0, 1 or 2 dimensions, or more where those before the last
 * two are 1, in C or Fortran order. The elements of an array of objects are one pickle: see
 * io/pickle/pickle.h. */
#ifndef LD_IO_NPY_H
#define LD_IO_NPY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "io/archive/source.h"

/* An element's type by NumPy's letter: 'b' bool, 'i' signed, 'u' unsigned, 'f' floating point,
 * 'U' UTF-32 text, 'S' bytes, 'O' objects; 'B' is bfloat16, which NumPy does not have; and its size
 * in bytes, which for an object is 1. */
typedef struct {
    char kind;
    int64_t size;
} ld_npy_type;

typedef struct {
    ld_npy_type type;
    bool fortran; /* columns lie together, not rows */
    int ndim;
    int64_t n_rows, n_cols; /* the last two dimensions; 1 where there is no such dimension */
    int64_t before; /* elements of the array before these, where they are a part: for messages */
} ld_npy_header;

/* The most dimensions that are read; those before the last two must be 1. */
enum { LD_NPY_DIMENSIONS = 4 };

/* The bytes from which an array is worth mapping. Larger ones are aligned for it when they are
 * written; smaller ones are read. */
enum { LD_NPY_LEAST_MAPPED = 1 << 20 };

/* Room for a type's name or a shape as text. */
enum { LD_NPY_TEXT = 64 };

/* Return the elements and bytes of an array, which do not overflow in a header that was read or
 * checked. */
static inline int64_t ld_npy_count(const ld_npy_header *h)
{
    return h->n_rows * h->n_cols;
}

static inline int64_t ld_npy_bytes(const ld_npy_header *h)
{
    return h->n_rows * h->n_cols * h->type.size;
}

/* Returns true if numbers of this type are floating point. */
static inline bool ld_npy_is_float(ld_npy_type t)
{
    return t.kind == 'f' || t.kind == 'B';
}

/* Writes the type as NumPy prints it, "float32" or "<U12", to `text`, which it returns. */
const char *ld_npy_type_name(char text[LD_NPY_TEXT], ld_npy_type type);

/* Finds the type of this code: "f4", "U12", "O8"; false when it is not read. */
bool ld_npy_type_coded(ld_npy_type *type, const char *code);

/* Sets the shape of a header; false when arrays of this shape are not read. */
bool ld_npy_set_shape(ld_npy_header *h, int ndim, const int64_t *sizes);

/* Writes "3 x 4", "3" or "one element" to `text`, which it returns. */
const char *ld_npy_shape(char text[LD_NPY_TEXT], const ld_npy_header *h);

/* Reads a header, after which come the elements. Fails with LD_FORMAT when it is malformed, of a
 * kind that is not read, or describes more bytes than the source can still give; nothing bounds the
 * number of objects. */
ld_status ld_npy_read_header(ld_npy_header *h, ld_source *s);

/* An array to be written: h.fortran must be false, `data` holds its elements as the format has
 * them. `name` is used in archives. */
typedef struct {
    const char *name;
    ld_npy_header header;
    const void *data;
} ld_npy_array;

/* The bytes that come before the elements in a file, as NumPy writes them. */
enum { LD_NPY_PREFIX = 256 };
int64_t ld_npy_format_prefix(char text[LD_NPY_PREFIX], const ld_npy_header *h);

/* Writes one array to a file, atomically. */
ld_status ld_npy_write(const char *path, const ld_npy_array *array);

#endif

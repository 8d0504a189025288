/* Reads the elements of an .npy array into the types of core, and makes them from these.
 *
 * The reading functions take a source whose header was just read, give the elements row by row
 * whatever their order in the file, and check at the end that the source is whole. */
#ifndef LD_IO_NPY_VALUES_H
#define LD_IO_NPY_VALUES_H

#include <stdint.h>

#include "base/status.h"
#include "io/array/npy.h"
#include "tensor/index.h"
#include "tensor/stored_rows.h"
#include "tensor/tensor.h"

/* Reads numbers of any type, rounded to float32. Fails with LD_RANGE when a float64 is too large
 * for that. A single element becomes a vector of one. */
ld_status ld_npy_read_tensor(ld_tensor **out, const ld_npy_header *h, ld_source *s);

/* Reads floating point numbers of at most 32 bits in two dimensions, without converting them. Where
 * the source can be mapped, they stay in the file. */
ld_status ld_npy_read_rows(ld_rows **out, const ld_npy_header *h, ld_source *s);

/* Maps the elements if they are of this type and the source can be mapped; *out is NULL
 * otherwise. */
ld_status ld_npy_map(ld_mapping **out, ld_npy_type type, const ld_npy_header *h, ld_source *s);

/* Reads integers of one dimension, each in -1 .. 2^31 - 2. Fails with LD_RANGE and the position
 * otherwise. */
ld_status ld_npy_read_index(ld_index **out, const ld_npy_header *h, ld_source *s);

/* Reads integers as ld_npy_read_index does, and those of two dimensions row by row. Of booleans of
 * one dimension, a mask, it gives the positions of those that are true. */
ld_status ld_npy_read_ids(ld_index **out, const ld_npy_header *h, ld_source *s);

/* Reads numbers of any type. `out` has room for ld_npy_count(h). */
ld_status ld_npy_read_doubles(double *out, const ld_npy_header *h, ld_source *s);

/* Reads integers of any type. Fails with LD_RANGE when a uint64 is above 2^63 - 1. */
ld_status ld_npy_read_integers(int64_t *out, const ld_npy_header *h, ld_source *s);

/* Reads the elements as they are. `out` has room for ld_npy_bytes(h). */
ld_status ld_npy_read_bytes(void *out, const ld_npy_header *h, ld_source *s);

/* Fails with LD_FORMAT unless the type's letter is among `kinds`; `wanted` names them for the
 * message. */
ld_status ld_npy_expect(const ld_npy_header *h, const ld_source *s, const char *kinds,
                        const char *wanted);

/* Reads texts, each in its place of type.size bytes: U as UTF-8, S as it is, zeros behind. Fails
 * with LD_FORMAT when one is not valid UTF-32. `out` has room for ld_npy_bytes(h). */
ld_status ld_npy_read_texts(char *out, const ld_npy_header *h, ld_source *s);

/* Returns the length of a text without the zeros at its end. */
int64_t ld_npy_text_length(const char *text, int64_t size);

/* Store a value in the place of element i. They fail with LD_RANGE, element and position when the
 * type cannot hold the value exactly, but they round to float32. */
ld_status ld_npy_put_integer(void *item, ld_npy_type type, int64_t i, int64_t value);
ld_status ld_npy_put_number(void *item, ld_npy_type type, int64_t i, double value);

/* Stores the elements begin .. end - 1 of `numbers`, float16 by vectors, with the same errors.
 * `before` elements precede the first of `numbers`, for the position in a message. */
ld_status ld_npy_put_floats(void *items, ld_npy_type type, const float *numbers, int64_t begin,
                            int64_t end, int64_t before);

/* Computes the bytes that a text needs in a type of this kind, U or S. Fails with LD_VALUE when it
 * ends in a zero byte, which would be lost, or, for U, is not UTF-8. */
ld_status ld_npy_text_size(int64_t *size, char kind, const char *text, int64_t length);

/* Stores text i of `items`; it fits by ld_npy_text_size. */
void ld_npy_put_text(void *items, ld_npy_type type, int64_t i, const char *text, int64_t length);

#endif

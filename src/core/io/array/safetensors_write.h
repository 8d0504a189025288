/* Writes .safetensors files, with one header: all tensors at once, byte for byte as the library of
 * the format does, or a piece at a time, for tensors that do not fit in memory. Then room for the
 * header is left in front, and it is written at the end, when all sizes are known. */
#ifndef LD_IO_SAFETENSORS_WRITE_H
#define LD_IO_SAFETENSORS_WRITE_H

#include <stdint.h>

#include "base/own.h"
#include "base/status.h"
#include "graph/csr.h"
#include "io/array/npy.h"
#include "io/array/safetensors.h"
#include "tensor/tensor.h"

/* Writes tensors, numbers or booleans, and texts beside them, to a file, atomically. They are
 * ordered and the header is laid out as the library of the format does it, so equal tensors give
 * the bytes that it would write (its order of several texts varies; here it is that of their keys),
 * and every tensor is aligned to its type. */
ld_status ld_safetensors_write(const char *path, const ld_npy_array *arrays, int64_t count,
                               const ld_safetensors_text *texts, int64_t n_texts);

/* --- a piece at a time ------------------------------------------------------------------------ */

/* Where a call failed half-way, the file cannot be completed: all later ones fail with LD_STATE. */
typedef struct ld_safetensors_writer ld_safetensors_writer;

/* Begins a file under a temporary name. Ends with _commit or _abandon. */
ld_status ld_safetensors_create(ld_safetensors_writer **out, const char *path);

/* NULL is allowed. */
void ld_safetensors_abandon(ld_safetensors_writer *x);
LD_OWNED_BY(ld_safetensors_writer, ld_safetensors_abandon)

/* Writes a whole tensor. Tensors follow each other without gaps, so those of larger elements must
 * come first. Fails with LD_VALUE for one that would not be aligned, for a name that is there
 * already or is not allowed, and while rows of another one are missing. */
ld_status ld_safetensors_put(ld_safetensors_writer *x, const ld_npy_array *array);

/* Begins a table of n_rows x n_cols numbers, float16, bfloat16 or float32, whose rows are then put.
 * They are rounded to the nearest such numbers; a number that is too large is LD_RANGE. */
ld_status ld_safetensors_begin_rows(ld_safetensors_writer *x, const char *name, ld_npy_type type,
                                    int64_t n_rows, int64_t n_cols);
ld_status ld_safetensors_put_rows(ld_safetensors_writer *x, const ld_tensor *rows);

/* Begins a matrix of ones: PREFIX_indptr, PREFIX_shape and PREFIX_indices, whose rows are then
 * put. */
ld_status ld_safetensors_begin_csr(ld_safetensors_writer *x, const char *prefix, int64_t n_rows,
                                   int64_t n_cols);
ld_status ld_safetensors_put_csr(ld_safetensors_writer *x, const ld_csr *rows);

/* Puts the header in and the file in its place; takes x, also when it fails. LD_VALUE while rows
 * are missing. */
ld_status ld_safetensors_commit(ld_safetensors_writer *x);

#endif

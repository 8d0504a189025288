/* .safetensors files that are written a piece at a time, for what does not fit in memory: the header,
 * for which there is room in front, is put in at the end, when all sizes are known. */
#ifndef LD_IO_SAFETENSORS_GROW_H
#define LD_IO_SAFETENSORS_GROW_H

#include <stdint.h>

#include "base/status.h"
#include "graph/csr.h"
#include "io/array/npy.h"
#include "tensor/tensor.h"

typedef struct ld_safetensors_grow ld_safetensors_grow;

/* Begins a file under a temporary name. Ends with _commit or _abandon. */
ld_status ld_safetensors_create(ld_safetensors_grow **out, const char *path);

/* NULL is allowed. */
void ld_safetensors_abandon(ld_safetensors_grow *g);

/* A whole tensor. Tensors follow each other without gaps, so those of larger elements must come first:
 * LD_VALUE for one that would not be aligned, for a name that is there or is none, and while rows of
 * another one are missing. */
ld_status ld_safetensors_put(ld_safetensors_grow *g, const ld_npy_array *array);

/* A table of n_rows x n_cols numbers, float16, bfloat16 or float32, whose rows are then put: they are
 * rounded to the nearest such numbers, LD_RANGE for one that is too large. */
ld_status ld_safetensors_begin_rows(ld_safetensors_grow *g, const char *name, ld_npy_type type,
                                    int64_t n_rows, int64_t n_cols);
ld_status ld_safetensors_put_rows(ld_safetensors_grow *g, const ld_tensor *rows);

/* A matrix of ones: PREFIX_indptr, PREFIX_shape and PREFIX_indices, whose rows are then put. */
ld_status ld_safetensors_begin_csr(ld_safetensors_grow *g, const char *prefix, int64_t n_rows,
                                   int64_t n_cols);
ld_status ld_safetensors_put_csr(ld_safetensors_grow *g, const ld_csr *rows);

/* Puts the header in and the file in its place; takes g, also when it fails. LD_VALUE while rows are
 * missing. */
ld_status ld_safetensors_commit(ld_safetensors_grow *g);

#endif

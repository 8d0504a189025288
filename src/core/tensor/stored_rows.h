/* Rows of numbers as a file has them, float32 or half of that, of which a few at a time become a
 * tensor: features that stay where they are. Immutable. */
#ifndef LD_TENSOR_STORED_ROWS_H
#define LD_TENSOR_STORED_ROWS_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/mapping.h"
#include "base/status.h"
#include "tensor/index.h"
#include "tensor/tensor.h"

typedef enum { LD_FLOAT32, LD_FLOAT16, LD_BFLOAT16 } ld_number;

typedef struct ld_rows {
    atomic_int refs;
    ld_number number;
    int64_t n_rows, n_cols;
    const void *data;
    ld_mapping *mapping; /* that data lies in, or NULL: a block of its own */
} ld_rows;

/* The bytes of a number, and its type as NumPy prints it. */
int64_t ld_number_size(ld_number number);
const char *ld_number_name(ld_number number);

/* Rows over mapped memory, of which it takes a reference. */
ld_status ld_rows_over(ld_rows **out, ld_number number, int64_t n_rows, int64_t n_cols,
                       ld_mapping *mapping);

/* Rows over a block of ld_alloc's, which it takes, also on failure. */
ld_status ld_rows_of_block(ld_rows **out, ld_number number, int64_t n_rows, int64_t n_cols,
                           void *block);

ld_rows *ld_rows_ref(ld_rows *x);
void ld_rows_unref(ld_rows *x);

/* The rows `ids`, which may repeat, as float32: exactly what is in the file. LD_RANGE. */
ld_status ld_rows_gather(ld_tensor **out, const ld_rows *x, const ld_index *ids);

/* Rows first .. first + count - 1. LD_RANGE. */
ld_status ld_rows_slice(ld_tensor **out, const ld_rows *x, int64_t first, int64_t count);

/* Waits until the rows `ids` are in memory, so that gathering them does not. LD_RANGE. */
ld_status ld_rows_prefetch(const ld_rows *x, const ld_index *ids);

/* The position and the value of the first element that is infinite or NaN, -1 when there is none. */
ld_status ld_rows_not_finite(int64_t *position, float *value, const ld_rows *x);

/* A hash of shape, type and bits. */
ld_status ld_rows_hash(uint64_t *hash, const ld_rows *x);

#endif

/* Rows of numbers as a file has them, float32 or half of that, of which a few at a time become a
 * tensor: features that stay where they are, perhaps in several parts, of which other processes
 * have some. Immutable. */
#ifndef LD_TENSOR_STORED_ROWS_H
#define LD_TENSOR_STORED_ROWS_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/mapping.h"
#include "base/status.h"
#include "tensor/index.h"
#include "tensor/tensor.h"

typedef enum { LD_FLOAT32, LD_FLOAT16, LD_BFLOAT16 } ld_number;

typedef struct ld_rows ld_rows;

/* Some rows of a whole. */
typedef struct {
    int64_t first; /* they are those of the whole from this one on, */
    ld_index *ids; /* or, unless NULL, these, which are ascending */
    ld_rows *rows;
} ld_rows_part;

struct ld_rows {
    atomic_int refs;
    ld_number number;
    int64_t n_rows, n_cols;
    const void *data;
    ld_mapping *mapping; /* that data lies in, or NULL: a block of its own */
    ld_rows_part *parts; /* in place of data, or NULL */
    int n_parts, n_owners;
    int64_t *bounds; /* process r has rows bounds[r] .. bounds[r + 1] - 1; NULL: all are here */
};

/* The bytes of a number, and its type as NumPy prints it. */
int64_t ld_number_size(ld_number number);
const char *ld_number_name(ld_number number);

/* Rows over mapped memory, of which it takes a reference. */
ld_status ld_rows_over(ld_rows **out, ld_number number, int64_t n_rows, int64_t n_cols,
                       ld_mapping *mapping);

/* Rows over a block of ld_alloc's, which it takes, also on failure. */
ld_status ld_rows_of_block(ld_rows **out, ld_number number, int64_t n_rows, int64_t n_cols,
                           void *block);

/* A whole of n_rows rows of which the parts are here, all of this type and width; it takes references
 * to what they hold. `bounds`, n_owners + 1 of them, says which processes have the rows, or is
 * NULL where all are here. LD_SHAPE, LD_RANGE, LD_VALUE for ids that do not ascend. */
ld_status ld_rows_join(ld_rows **out, ld_number number, int64_t n_rows, int64_t n_cols,
                       const ld_rows_part *parts, int n_parts, const int64_t *bounds, int n_owners);

/* Where a row lies, or NULL where it is not here; the process that has it, by the bounds. */
const void *ld_rows_at(const ld_rows *x, int64_t row);
int ld_rows_owner(const ld_rows *x, int64_t row);

/* Those of the ids whose rows are not here, in their order. LD_RANGE. */
ld_status ld_rows_missing(ld_index **out, const ld_rows *x, const ld_index *ids);

/* The error for a row that is not here. */
ld_status ld_rows_absent(const ld_rows *x, int64_t row);

ld_rows *ld_rows_ref(ld_rows *x);
void ld_rows_unref(ld_rows *x);

/* The rows `ids`, which may repeat, as float32: exactly what is in the file. LD_RANGE; LD_STATE for
 * one that is not here, unless products are shared (share.h): then all processes gather the same,
 * each its own, and get those of the others. So for slices. */
ld_status ld_rows_gather(ld_tensor **out, const ld_rows *x, const ld_index *ids);

/* Rows first .. first + count - 1. LD_RANGE, LD_STATE. */
ld_status ld_rows_slice(ld_tensor **out, const ld_rows *x, int64_t first, int64_t count);

/* The rows ids[0 .. n - 1], or, if that is NULL, the first n, as they are stored, to dst. LD_STATE. */
ld_status ld_rows_copy(void *dst, const ld_rows *x, const int32_t *ids, int64_t n);

/* The product with w, by rows (blas.h), of all rows; shared, each process makes those of its own. */
ld_status ld_rows_matmul(ld_tensor **out, const ld_rows *x, const ld_tensor *w);

/* Waits until those of the rows `ids` that are here are in memory, so that gathering them does not.
 * LD_RANGE. */
ld_status ld_rows_prefetch(const ld_rows *x, const ld_index *ids);

/* The position and the value of the first element here that is infinite or NaN, -1 when there is
 * none. */
ld_status ld_rows_not_finite(int64_t *position, float *value, const ld_rows *x);

/* A hash of shape, type and bits. */
ld_status ld_rows_hash(uint64_t *hash, const ld_rows *x);

#endif

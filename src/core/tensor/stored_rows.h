/* Features that stay in a file, as float32, float16 or bfloat16, and of which a few rows at a time
 * become a tensor. They may be in several parts, and other processes may have some of those.
 * Immutable. */
#ifndef LD_TENSOR_STORED_ROWS_H
#define LD_TENSOR_STORED_ROWS_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/own.h"
#include "base/status.h"
#include "memory/mapping.h"
#include "tensor/index.h"
#include "tensor/tensor.h"

typedef enum { LD_FLOAT32, LD_FLOAT16, LD_BFLOAT16 } ld_number;

typedef struct ld_rows ld_rows;

/* A part: some rows of the whole. */
typedef struct {
    int64_t first; /* the number of its first row in the whole, */
    ld_index *ids; /* or, unless NULL, the numbers of all its rows, ascending */
    ld_rows *rows;
} ld_rows_part;

struct ld_rows {
    atomic_int refs;
    ld_number number;
    int64_t n_rows, n_cols;
    const void *data;
    ld_mapping *mapping; /* the file that data lies in, or NULL if it is a block of memory */
    ld_rows_part *parts; /* instead of data, or NULL */
    int n_parts, n_owners;
    int64_t *bounds; /* process r has rows bounds[r] .. bounds[r + 1] - 1; NULL: all are here */
};

/* Return the bytes that a number takes, and its type's name in NumPy. */
int64_t ld_number_size(ld_number number);
const char *ld_number_name(ld_number number);

/* Makes rows over mapped memory and takes a reference to it. */
ld_status ld_rows_over(ld_rows **out, ld_number number, int64_t n_rows, int64_t n_cols,
                       ld_mapping *mapping);

/* Makes rows over a block from ld_alloc, which it takes, freeing it after a failure too. */
ld_status ld_rows_of_block(ld_rows **out, ld_number number, int64_t n_rows, int64_t n_cols,
                           void *block);

/* Joins the parts that this process has of n_rows rows, all of this type and width, and takes
 * references to them. `bounds`, n_owners + 1 numbers, says which processes have the other rows; it
 * is NULL where all are here. Fails with LD_SHAPE, LD_RANGE, or LD_VALUE for ids that do not
 * ascend. */
ld_status ld_rows_join(ld_rows **out, ld_number number, int64_t n_rows, int64_t n_cols,
                       const ld_rows_part *parts, int n_parts, const int64_t *bounds, int n_owners);

/* Return the memory of a row, or NULL where it is not here, and the process that has it by the
 * bounds. */
const void *ld_rows_at(const ld_rows *x, int64_t row);
int ld_rows_owner(const ld_rows *x, int64_t row);

/* Gives those of `ids` whose rows are not here, in their order. Fails with LD_RANGE. */
ld_status ld_rows_missing(ld_index **out, const ld_rows *x, const ld_index *ids);

/* Sets the error for a row that is not here, which names the process that has it. */
ld_status ld_rows_absent(const ld_rows *x, int64_t row);

ld_rows *ld_rows_ref(ld_rows *x);
void ld_rows_unref(ld_rows *x);
LD_OWNED_BY(ld_rows, ld_rows_unref)

/* Copies the rows `ids`, which may repeat, to a tensor: float32 has every value of the file
 * exactly. Fails with LD_RANGE, and with LD_STATE for a row that is not here. But while products
 * are shared (shared_product.h), all processes gather the same rows, each those it has, and get the
 * others from each other. This holds for slices, too. */
ld_status ld_rows_gather(ld_tensor **out, const ld_rows *x, const ld_index *ids);

/* Copies rows first .. first + count - 1 to a tensor. Fails with LD_RANGE or LD_STATE. */
ld_status ld_rows_slice(ld_tensor **out, const ld_rows *x, int64_t first, int64_t count);

/* Copies rows as they are stored to dst: ids[0 .. n - 1] or, where `ids` is NULL, the first n.
 * Fails with LD_STATE. */
ld_status ld_rows_copy(void *dst, const ld_rows *x, const int32_t *ids, int64_t n);

/* Multiplies all rows with w, each as if it were alone (matmul.h). While products are shared, each
 * process makes those of its own rows. */
ld_status ld_rows_matmul(ld_tensor **out, const ld_rows *x, const ld_tensor *w);

/* Waits until those of the rows `ids` that are here are in memory, so that gathering them later is
 * quick. Fails with LD_RANGE. */
ld_status ld_rows_prefetch(const ld_rows *x, const ld_index *ids);

/* Finds the first element here that is infinite or NaN: its position, which is -1 when there is
 * none, and its value. */
ld_status ld_rows_not_finite(int64_t *position, float *value, const ld_rows *x);

/* Computes the hash of the tensor of these rows; of rows in parts, one of the parts. */
ld_status ld_rows_hash(uint64_t *hash, const ld_rows *x);

#endif

/* Shares products among several processes: all have the same operands, each makes some rows of the
 * result and gives them to the others, so that all have the bits that one alone would have. Core
 * knows nothing else of other processes. */
#ifndef LD_TENSOR_SHARED_PRODUCT_H
#define LD_TENSOR_SHARED_PRODUCT_H

#include <stdbool.h>

#include "base/status.h"
#include "tensor/tensor.h"

typedef struct {
    int rank, size;
    /* Brings all rows to all processes: those of process r are bounds[r] .. bounds[r + 1] - 1.
     * After a failure it keeps a reference to the tensor as long as somebody may still write to
     * it. */
    ld_status (*exchange)(ld_tensor *rows, const int64_t *bounds);
} ld_share;

/* Shares the products of the main thread from now on, or no longer (NULL). All processes must make
 * the same ones in the same order meanwhile. */
void ld_share_set(const ld_share *share);

/* The type of functions that make rows begin .. end-1 of a product; meanwhile nothing is shared. */
typedef ld_status ld_share_fn(void *ctx, int64_t begin, int64_t end);

/* Makes all rows of a product by fn, or this process's share of them where it is worth sending the
 * others' (shared_product.c). Each element takes `terms` multiplications. A share is of whole units
 * of rows, the last one perhaps shorter, and of as many entries as another's where row r has
 * offsets[r + 1] - offsets[r] of them; offsets may be NULL. */
ld_status ld_share_rows(ld_tensor *rows, int64_t terms, int64_t unit, const int64_t *offsets,
                        ld_share_fn *fn, void *ctx);

/* Makes rows of which only one process has the operands: number r makes bounds[r] .. bounds[r + 1]
 * - 1, even if that is little work. It may be called only where ld_share_is_on. */
ld_status ld_share_own(ld_tensor *rows, const int64_t *bounds, ld_share_fn *fn, void *ctx);

/* Fails with LD_VALUE, with `where` beginning the message, unless bounds[0] .. bounds[size] go from
 * 0 to n_rows and never descend: rows bounds[r] .. bounds[r + 1] - 1 are those of process r. */
ld_status ld_share_check_bounds(const int64_t *bounds, int size, int64_t n_rows, const char *where);

/* Returns true when products of this thread are shared; *size is by how many processes. */
bool ld_share_is_on(int *size);

#endif

/* Products of dense matrices, by BLAS or in bfloat16. */
#ifndef LD_TENSOR_MATMUL_H
#define LD_TENSOR_MATMUL_H

#include <stdbool.h>

#include "base/status.h"
#include "tensor/tensor.h"

/* Computes c = op(a) * op(b), or c += when accumulate; op is the transpose when the flag is set. c
 * is computed in tiles that its shape fixes, spread over the thread pool, each by a single-threaded
 * BLAS call, so the bits do not depend on the number of threads. Fails with LD_SHAPE when the
 * shapes do not fit, and with LD_STATE in a worker, whose products would contend with those of
 * training. */
ld_status ld_matmul(ld_tensor *c, const ld_tensor *a, bool transpose_a, const ld_tensor *b,
                    bool transpose_b, bool accumulate);

/* Computes c = a * b + bias in each row, where the bias is a vector as long as a row, or NULL; else
 * as ld_matmul. */
ld_status ld_matmul_bias(ld_tensor *c, const ld_tensor *a, const ld_tensor *b,
                         const ld_tensor *bias);

/* Makes products of ld_matmul in tiles of 192 rows in the calling thread from now on, if their first
 * factor is not transposed and they are not in bfloat16. The bits of a row then follow from that row
 * of the factor and its place in a tile, and not from which other rows there are: rows from a
 * multiple of 192 on have the bits that they have in the product of all rows. That another place
 * gives the same bits is not promised, since BLAS may sum the rows of a tile in different orders. As
 * much is computed as for whole tiles. Returns the setting before. */
bool ld_matmul_by_rows(bool on);

/* Makes ld_matmul multiply in bfloat16 in the calling thread from now on, as kernel/bfloat16.h
 * says; that fails with LD_STATE where there are no units for it. Returns the setting before. */
bool ld_matmul_in_bfloat16(bool on);

/* Makes c = op(a) * op(b) with products and sums in double, each element rounded to float once. It
 * works in fixed panels, and fails as ld_matmul does. */
ld_status ld_matmul_precise(ld_tensor **c, const ld_tensor *a, bool transpose_a, const ld_tensor *b,
                            bool transpose_b);

#endif

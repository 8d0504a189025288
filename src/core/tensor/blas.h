/* Dense products through BLAS. */
#ifndef LD_TENSOR_BLAS_H
#define LD_TENSOR_BLAS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "tensor/tensor.h"

/* c = op(a) * op(b), or c += when accumulate; op is the transpose when the flag is set. c is computed
 * in tiles that its shape fixes, spread over the thread pool, each by a single-threaded BLAS call, so
 * the bits do not depend on the number of threads. LD_SHAPE when the shapes do not fit; LD_STATE in a
 * worker, whose products would contend with those of training. */
ld_status ld_matmul(ld_tensor *c, const ld_tensor *a, bool transpose_a, const ld_tensor *b,
                    bool transpose_b, bool accumulate);

/* From now on, in the calling thread, a row of a product of ld_matmul whose first factor is not
 * transposed depends on that row of the factor alone, and not on which others there are: as much is
 * computed as for whole tiles. Gives what was before. */
bool ld_matmul_by_rows(bool on);

/* From now on, in the calling thread, ld_matmul multiplies as tensor/bfloat16.h says, which is LD_STATE
 * where that has no units. Gives what was before. */
bool ld_matmul_in_bfloat16(bool on);

/* A new c = op(a) * op(b): products and sums in double, each element rounded to float once. In
 * fixed panels and with the errors of ld_matmul. */
ld_status ld_matmul_precise(ld_tensor **c, const ld_tensor *a, bool transpose_a, const ld_tensor *b,
                            bool transpose_b);

/* Which BLAS computes them, with the kernels that it has chosen for this processor: "OpenBLAS 0.3.21
 * Zen". */
void ld_blas_name(char *text, size_t size);

#endif

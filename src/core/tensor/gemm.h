/* Products of dense matrices of floats.
 *
 * Each element of the result is one sum over k: blocks of 256 products, each summed in order with
 * fused multiplications and additions (where the processor has them: from AVX2 on), are added up in
 * order. So its bits depend neither on threads, nor on how the work is divided, nor on whether vectors
 * have 8 or 16 elements. */
#ifndef LD_TENSOR_GEMM_H
#define LD_TENSOR_GEMM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* A factor: a matrix whose rows begin `stride` elements apart, or its transpose. */
typedef struct {
    const float *data;
    int64_t stride;
    bool transposed;
} ld_factor;

/* c = a b + addend; a is m x k, b is k x n, c is m x n. */
typedef struct {
    float *c; /* its rows follow each other without gaps */
    int64_t m, n, k;
    ld_factor a, b;
    const float *addend;   /* may be c itself, which the product is then added to; NULL: nothing */
    int64_t addend_stride; /* from row to row; 0: all rows are the same */
} ld_gemm_call;

/* Makes c. LD_NOMEM without memory for a block of either factor, and LD_CANCELLED. */
ld_status ld_gemm(const ld_gemm_call *call);

#endif

/* Computes dense products c = op(a) * op(b), and chooses how. Threads share the tiles of a product,
 * each of which is made by a single-threaded call of BLAS. Tiles depend on the shape alone, and so
 * do the bits, whatever the number of threads. */
#ifndef LD_KERNEL_GEMM_H
#define LD_KERNEL_GEMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* A product: op is the transpose where ta or tb is set. c is m x n without gaps, its elements are
 * sums of k products. lda and ldb are the numbers of columns of a and b in memory, before op. What
 * is in c is replaced, added to with `accumulate`, or replaced by the bias, to which is added. */
typedef struct {
    float *c;
    const float *a, *b;
    bool ta, tb;
    int64_t m, n, k, lda, ldb;
    bool accumulate;
    const float *bias; /* n elements, the same in each row, or NULL */
} ld_product;

/* The way in which a product is made. */
typedef struct {
    enum {
        LD_GEMM_TILES,       /* in tiles of nearly equal size */
        LD_GEMM_EQUAL_TILES, /* in tiles of one height, the last with rows of zeros behind c's */
        LD_GEMM_PIECES,  /* for long sums: pieces of them in tiles of their own, added in order */
        LD_GEMM_BFLOAT16 /* kernel/bfloat16.h */
    } kind;
    int64_t tile_rows, tile_cols;
    int64_t pieces, piece; /* how many pieces a sum has, and how many terms a piece */
} ld_gemm_way;

/* Chooses the way for a product. With by_rows, if a is not transposed and nothing is in bfloat16,
 * all tiles have one height: a row of c then depends on that row of a and on its place in the tile,
 * and not on which other rows there are. As much is computed as for whole tiles. */
ld_gemm_way ld_gemm_choose(const ld_product *p, bool by_rows, bool in_bfloat16);

/* Computes rows begin .. end - 1 of c, where both are multiples of the way's tile_rows, or end is
 * m. Fails with LD_NOMEM also where there is no address space for the buffers of BLAS, and with
 * LD_STATE for bfloat16 without units. */
ld_status ld_gemm_rows(const ld_product *p, const ld_gemm_way *way, int64_t begin, int64_t end);

/* Computes all of c, which is not added to, with products and sums in double, each element rounded
 * to float once. Fails with LD_NOMEM. */
ld_status ld_gemm_precise(const ld_product *p);

/* Names the BLAS that computes products, with the kernels that it has chosen for this processor:
 * "OpenBLAS 0.3.21 Zen". */
void ld_blas_name(char *text, size_t size);

#endif

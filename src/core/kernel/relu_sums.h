/* Sums over the entries of each row of a matrix of
 *
 *     v_e relu(x_u + f_e w + b)
 *
 * for entry e in column u: the neighbours of a node with the features of the edges to them, as GINE
 * sums them up. The terms are made entry by entry and are never stored. x is dense or sparse.
 *
 * All functions run in parallel and fail as ld_parallel_for does, and with LD_NOMEM where they need
 * memory. The order of additions follows from the shape alone. */
#ifndef LD_KERNEL_RELU_SUMS_H
#define LD_KERNEL_RELU_SUMS_H

#include <stdint.h>

#include "base/status.h"
#include "kernel/factors.h"

typedef struct {
    /* The entries, of which entry e has the weight v[e] and the d features f[e * d] and so on. Where
     * v[e] is 0 it adds nothing. */
    int64_t n_rows;
    const int64_t *offsets;
    const int32_t *columns;
    const float *v, *f;
    int64_t d;
    /* A row of k elements for each column: dense, or NULL and then sparse, with ascending columns. */
    const float *x;
    ld_factors sparse;
    int64_t k;
    const float *w, *b; /* d x k, and k or NULL */
} ld_relu_terms;

/* y = the sums, n_rows x k: terms in float, in the order of the entries. A term's products f_e w are
 * added in the order of the features to b, and then x_u. */
ld_status ld_relu_sums(float *y, const ld_relu_terms *t);

/* Adds the gradients of x (dense), w and b, each NULL where it is not wanted, given those of the
 * sums, g, which is zero but for `count` ascending rows; without `rows` all are read. Those of w and
 * b are summed in float over LD_RELU_ROWS rows of the matrix at a time, and those sums in double. */
ld_status ld_relu_sums_backward(float *dx, float *dw, float *db, const ld_relu_terms *t,
                                const float *g, const int32_t *rows, int64_t count);

/* Computes the gradients of v and of f, each NULL where it is not wanted, given those of the sums:
 * of v in double, of f in double over LD_RELU_TILE columns at a time, and those sums in float. */
ld_status ld_relu_sums_entries(float *dv, float *df, const ld_relu_terms *t, const float *g);

enum { LD_RELU_ROWS = 64, LD_RELU_TILE = 64 };

#endif

/* How operands of different shapes meet in an elementwise operation. The result has the shape of the
 * largest; another one is read along it when it has the same shape, is a vector as long as a row, an
 * n x 1 column, or a single element. */
#ifndef LD_GRAD_BROADCAST_H
#define LD_GRAD_BROADCAST_H

#include <stdint.h>

#include "base/status.h"
#include "tensor/tensor.h"

/* Element (r, j) of the result takes data[r * row + j * col]. */
typedef struct {
    const float *data;
    int64_t row, col;
} ld_operand;

/* How x is read along a tensor of the result's shape; false when it does not fit. */
bool ld_operand_view(ld_operand *o, const ld_tensor *x, const ld_tensor *shape);

/* The same for n operands, which must fit the largest of them, *shape. LD_SHAPE with a message that
 * begins with `where` when one does not. */
ld_status ld_broadcast(ld_operand *o, const ld_tensor **shape, const char *where, int n,
                       ld_tensor *const *x);

/* part, of the result's shape, summed in double to the shape of x, which was read as o says, and
 * added to the gradient of x. times: NULL, or of that shape too, and then x, which is smaller, gets the
 * sums of products. */
ld_status ld_grad_add_broadcast(ld_tensor *x, const ld_operand *o, const ld_tensor *part,
                                const ld_tensor *times);

/* The sum of all of x's elements, each times that of y, rounded to float, where y is not NULL: that of
 * its pieces of LD_SUM_PIECE elements, in their order. */
enum { LD_SUM_PIECE = 1 << 12 };
typedef struct {
    const float *x, *y;
    int64_t size;
    double *sums; /* of each piece */
} ld_pieces;

/* Memory for the sums of the pieces; LD_NOMEM. */
ld_status ld_pieces_new(ld_pieces *p, const float *x, const float *y, int64_t size);

int64_t ld_pieces_count(int64_t size);

/* The sums of the pieces begin .. end - 1, as ld_parallel_for calls it with an ld_pieces. */
void ld_pieces_sum(void *ctx, int64_t begin, int64_t end);

/* All of them added up. */
double ld_pieces_total(const ld_pieces *p);

#endif

/* Broadcasting: how operands of different shapes meet in an elementwise operation. The result has
 * the shape of the largest. Another operand is read along it when it has the same shape, or is a
 * vector as long as a row, an n x 1 column, or a single element. */
#ifndef LD_GRAD_BROADCAST_H
#define LD_GRAD_BROADCAST_H

#include "base/status.h"
#include "kernel/map.h"
#include "tensor/tensor.h"

/* Fills in how x is read along a tensor of the result's shape. Returns false when it does not
 * fit. */
bool ld_operand_view(ld_operand *o, const ld_tensor *x, const ld_tensor *shape);

/* Fills in how n operands are read along the largest of them, *shape. Fails with LD_SHAPE and a
 * message that begins with `where` when one does not fit. */
ld_status ld_broadcast(ld_operand *o, const ld_tensor **shape, const char *where, int n,
                       ld_tensor *const *x);

/* Adds `part`, of the result's shape, to the gradient of x, summed in double to the shape of x,
 * which was read as o says. With `times`, which is NULL or of that shape too, x is smaller and gets
 * the sums of products of the two. */
ld_status ld_grad_add_broadcast(ld_tensor *x, const ld_operand *o, const ld_tensor *part,
                                const ld_tensor *times);

#endif

/* Gradients that have rows of zeros, as where the loss is of some nodes of a graph alone. Such a row adds
 * nothing to a product's gradients, also where it would meet an infinity or a NaN: however many there
 * are, the gradients are those of the product of the other rows. */
#ifndef LD_GRAD_NONZERO_ROWS_H
#define LD_GRAD_NONZERO_ROWS_H

#include "base/status.h"
#include "tensor/index.h"
#include "tensor/tensor.h"

/* In *rows, ascending, the rows of g that have an element other than zero (a NaN is one), where only
 * these are to be worked with: if they are fewer than half of all, or if some row of a beside a row of
 * zeros, or b, is not finite; a and b, what g meets, may be NULL. Otherwise *rows is NULL: the product
 * with all of g is the same, and faster. */
ld_status ld_nonzero_rows(ld_index **rows, const ld_tensor *g, const ld_tensor *a,
                          const ld_tensor *b);

#endif

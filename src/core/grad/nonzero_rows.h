/* Finds rows of zeros in gradients, as there are where the loss is of some nodes of a graph alone.
 * Such a row adds nothing to the gradients of a product, or of a sum of neighbours, not even where it
 * would meet an infinity or a NaN: however many there are, the gradients are those of the other
 * rows. */
#ifndef LD_GRAD_NONZERO_ROWS_H
#define LD_GRAD_NONZERO_ROWS_H

#include "base/status.h"
#include "tensor/index.h"
#include "tensor/tensor.h"

/* Gives the rows of g that have an element other than zero (a NaN is one), ascending, if only these
 * need be multiplied: if they are fewer than half of all, or if a row of zeros would meet something
 * that is not finite, in its row of a or in b. a and b, the factors that g meets, may be NULL.
 * Otherwise *rows is NULL, since the product with all of g is the same, and faster. */
ld_status ld_nonzero_rows(ld_index **rows, const ld_tensor *g, const ld_tensor *a,
                          const ld_tensor *b);

#endif

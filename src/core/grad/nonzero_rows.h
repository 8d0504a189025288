/* Gradients that are mostly rows of zeros, as where the loss is of some nodes of a graph alone: what is
 * made of the others alone is the same, but that no NaN comes of a zero times an infinity. */
#ifndef LD_GRAD_NONZERO_ROWS_H
#define LD_GRAD_NONZERO_ROWS_H

#include "base/status.h"
#include "tensor/index.h"
#include "tensor/tensor.h"

/* In *rows, ascending, the rows of g that have an element other than zero (a NaN is one), if they are
 * fewer than half of all; otherwise NULL. */
ld_status ld_nonzero_rows(ld_index **rows, const ld_tensor *g);

#endif

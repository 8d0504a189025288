/* Products of a sparse structure with a matrix of weights for each group of columns, a head. */
#ifndef LD_GRAPH_HEADS_H
#define LD_GRAPH_HEADS_H

#include "graph/csr.h"

/* For each head h and its `width` columns y = A_h x, or y += A_h x when accumulate; with `transpose`
 * A_h^T x. A_h has a's structure and column h of w (nnz x heads) as values; x is n_cols x heads *
 * width, y n_rows x heads * width. LD_SHAPE when the shapes do not fit. */
ld_status ld_spmm_heads(ld_tensor *y, ld_csr *a, bool transpose, const ld_tensor *w,
                        const ld_tensor *x, bool accumulate);

/* w[e][h] = x[row of e] . y[column of e], over the columns of head h, or += when accumulate. */
ld_status ld_sddmm_heads(ld_tensor *w, ld_csr *a, const ld_tensor *x, const ld_tensor *y,
                         bool accumulate);

#endif

/* A matrix, or its transpose, as a product walks it: plain pointers, row by row. */
#ifndef LD_GRAPH_FACTORS_H
#define LD_GRAPH_FACTORS_H

#include <stdbool.h>
#include <stdint.h>

#include "graph/csr.h"

/* Entry e in row r and column c is row_scale[r] * values[source ? source[e] : e] * col_scale[c];
 * values and scales may be NULL, for ones. */
typedef struct {
    int64_t n_rows, n_cols;
    const int64_t *offsets;
    const int32_t *columns, *source;
    const float *values, *row_scale, *col_scale;
} ld_factors;

/* Those of a, or of its transpose, whose structure is made and kept in a when it is not there; valid
 * as long as a is. */
ld_status ld_factors_of(ld_factors *out, const ld_csr *a, bool transpose);

/* Whether the columns of each row are in order. */
bool ld_factors_sorted(const ld_factors *a);

#endif

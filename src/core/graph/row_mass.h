/* The masses of a matrix's entries, |entry|^power, summed by rows, for draws of entries in
 * proportion to their mass. */
#ifndef LD_GRAPH_ROW_MASS_H
#define LD_GRAPH_ROW_MASS_H

#include <stdint.h>

#include "base/status.h"
#include "graph/csr.h"

/* One block, with all that it points to: ld_free frees it. */
typedef struct ld_row_mass {
    int power;
    double *rows;      /* n_rows: the row's mass; NULL: the matrix has none, see below */
    int32_t *positive; /* n_rows: how many of the row's entries have a positive mass */
    double *runs;      /* running sums within rows, or NULL: the entries of a row are all equal */
} ld_row_mass;

/* Gives the masses of a for power 1 or 2. They are summed when first needed, in one pass, and kept
 * with a, whose values are frozen. *out is NULL when there are none: an entry is negative (power 1)
 * or NaN, its mass is not 0 but too large or too small for float32, or the values cannot be
 * frozen. */
ld_status ld_csr_row_mass(const ld_row_mass **out, ld_csr *a, int power);

/* Finds the entry of row r at a fraction of the row's mass, which must be positive: the first one
 * behind which the running sum exceeds fraction * mass. 0 <= fraction < 1, 53 bits. Takes O(log
 * d). */
int64_t ld_row_mass_find(const ld_row_mass *m, const ld_csr *a, int64_t r, double fraction);

/* Prefetches the numbers that ld_row_mass_find will read. */
void ld_row_mass_prefetch(const ld_row_mass *m, const ld_csr *a, int64_t r, double fraction);

#endif

/* Negatives of link prediction: pairs of nodes without an edge, drawn so that an edge is never
 * among them, however dense its row is. Draws depend on the rng's sub-stream and their own place
 * alone, not on the number of threads. */
#ifndef LD_SAMPLE_NEGATIVES_H
#define LD_SAMPLE_NEGATIVES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "graph/csr.h"
#include "random/rng.h"
#include "sample/alias.h"

typedef struct {
    const ld_alias *p; /* columns are drawn in proportion to these (a's n_cols); NULL: uniformly */
    bool loops; /* true if (v, v) may be drawn; else the diagonal of a square a counts as edges */
} ld_negative_options;

/* Draws for each of `rows`, which may repeat, k columns that the row has no entry in, each on its
 * own with replacement: those of rows[i] are elements i k .. i k + k - 1. A uniform draw costs a
 * binary search in the row; one in proportion to p a search for each column that it rejects, and
 * p's length in the rare case that all of many were rejected. Fails with LD_RANGE for rows out of
 * range, and with LD_VALUE, naming the row, where there is no such column, or for a p of another
 * length. */
ld_status ld_negatives(ld_index **out, ld_csr *a, const ld_index *rows, int64_t k,
                       ld_negative_options o, ld_rng *rng);

/* Draws k pairs (from, to) without an entry of a, each uniform among all of them, on its own and
 * with replacement. A draw costs a binary search in a row for each pair that it rejects; where all
 * of many were rejected, as in a dense matrix, one in all rows besides. Fails with LD_VALUE where
 * there is no such pair. */
ld_status ld_non_edges(ld_index **from, ld_index **to, ld_csr *a, int64_t k, bool loops,
                       ld_rng *rng);

#endif

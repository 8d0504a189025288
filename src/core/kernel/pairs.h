/* Looks up pairs of nodes of a sparse matrix whose rows are sorted: is there an entry, and what do
 * two rows have in common? All functions fail as ld_parallel_for does; rows and columns are checked
 * by the caller. */
#ifndef LD_KERNEL_PAIRS_H
#define LD_KERNEL_PAIRS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

typedef struct {
    const int64_t *offsets;
    const int32_t *columns;
    bool sorted; /* the columns of each row ascend; otherwise ld_pairs_find looks at all of a row */
} ld_pairs_rows;

/* Finds at[i], the first position of column cols[i] in row rows[i], -1 where it has none, for n
 * pairs. */
ld_status ld_pairs_find(int64_t *at, ld_pairs_rows a, const int32_t *rows, const int32_t *cols,
                        int64_t n);

/* Computes sums[i], the number of columns that rows first[i] and second[i] have both, or with
 * `weights`, one for each column, the sum of theirs: in double, in the order of the columns. The
 * rows must be sorted. It costs the entries of both rows or, where one is much shorter, log of the
 * longer for each of its entries. */
ld_status ld_pairs_common(float *sums, ld_pairs_rows a, const int32_t *first, const int32_t *second,
                          int64_t n, const float *weights);

#endif

/* Sampling in graphs whose edges have times: neighbours of nodes as they were before a time. */
#ifndef LD_SAMPLE_TEMPORAL_H
#define LD_SAMPLE_TEMPORAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "graph/csr.h"
#include "random/rng.h"

/* Draws S, at most k of the entries of row rows[i] of `a` whose time is less than before[i], with
 * their values. A row of S is a node at a time: a node may be there several times, at different
 * times. Columns are nodes at times, too, at that of the row that drew them: `src` gets the nodes
 * and `src_before` the times, those of the rows first, in their order, then others, each pair once.
 *
 * order lists the positions of a's entries row by row, those of a row by time, and times[e] is the
 * time of the entry at order[e]. An entry with a negative time is always taken, and is none of the
 * k, such as a loop. With d entries before its time to draw from, a row has
 *     recent     the last k of them in that order, weight 1
 *     otherwise  each k of them with equal chance, weight d / k
 * or all of them with weight 1, where d <= k; `w` gets these weights. The entries of a row of S
 * ascend in time.
 *
 * The draws of a row depend on the rng's sub-stream, the row, its time and its own entries alone. A
 * row costs O(k + d / 64 + log of its entries), recent ones O(k + log). Fails with LD_SHAPE for
 * vectors of other lengths, with LD_RANGE for rows that are not there and an order that is not one
 * of rows, and with LD_VALUE for a negative k and for a row that is twice there at one time. */
ld_status ld_sample_before(ld_csr **out, ld_index **src, ld_index **src_before, ld_tensor **w,
                           ld_csr *a, const ld_index *rows, const ld_index *before, int64_t k,
                           const ld_index *times, const ld_index *order, bool recent, ld_rng *rng);

#endif

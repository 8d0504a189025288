/* Lists of edges that have more to them than their ends, such as features, a type and a time: the
 * order in which a matrix has them, which of them lack their reverse, and matrices that keep every
 * edge, parallel ones too, so that position e of a list stays with entry e. */
#ifndef LD_GRAPH_EDGE_LIST_H
#define LD_GRAPH_EDGE_LIST_H

#include "graph/csr.h"

/* The positions of the elements of n vectors of equal length, ordered by keys[0], then by keys[1]
 * and so on, and where all are equal by position. LD_SHAPE for other lengths. */
ld_status ld_edge_order(ld_index **out, ld_index *const *keys, int64_t n_keys);

/* The ascending positions i of edges without a reverse: keys[0] and keys[1] are the ends, and no j
 * has them the other way round with all other keys as i has them. A loop is its own reverse. */
ld_status ld_edge_one_way(ld_index **out, ld_index *const *keys, int64_t n_keys);

/* A matrix of coordinates as ld_csr_from_coo, but entries that occur twice are both kept, one behind
 * the other: entry e is coordinate order[e]. Its structure is not canonical then. */
ld_status ld_csr_from_list(ld_csr **out, ld_index **order, int64_t n_rows, int64_t n_cols,
                           ld_index *rows, ld_index *cols, const ld_tensor *values);

/* Sets *out to a itself where its rows ascend, parallel entries allowed, and to what
 * ld_csr_canonical makes otherwise. */
ld_status ld_csr_ordered(ld_csr **out, ld_csr *a);

/* Gives for each entry of p the position of the entry of a in the same place, or -1 for an entry on
 * the diagonal that a lacks. Where several entries are in one place, the k-th of p is the k-th of
 * a. Rows of both must ascend. Fails with LD_VALUE for any other entry that a lacks. */
ld_status ld_csr_align(ld_index **out, const ld_csr *p, const ld_csr *a);

#endif

/* Random walks over the entries of a square matrix: each step goes from v to the column of one of
 * the entries of row v. */
#ifndef LD_SAMPLE_WALK_H
#define LD_SAMPLE_WALK_H

#include <stdint.h>

#include "base/status.h"
#include "graph/csr.h"
#include "random/rng.h"

typedef struct {
    double restart; /* the probability of going back to the root instead of a step, 0 to 1 */
    double p, q;    /* node2vec's; with 1 and 1 the step before does not matter */
} ld_walk_options;

/* Walks `length` steps from each of `roots`, which may repeat: out has length + 1 nodes for each
 * walk, the root first, one walk after the other. From v the walk goes to u in proportion to
 *     a_vu alpha,   alpha = 1/p where u is the node before v,
 *                           1 where the node before has an entry in column u,
 *                           1/q elsewhere
 * (Grover and Leskovec, "node2vec", KDD 2016, section 3.2); the first step, and that after a return
 * to the root, go by a_vu alone. A node without positive entries is never left but by a return. The
 * steps of walk i are a function of (sub-stream, i). A step costs O(1) without values, O(d) with
 * them, and with p or q the search for an entry for each candidate. Fails with LD_SHAPE when a is
 * not square, with LD_RANGE for roots, and with LD_VALUE for a negative length, other options or
 * negative entries. */
ld_status ld_random_walk(ld_index **out, const ld_csr *a, const ld_index *roots, int64_t length,
                         ld_walk_options o, ld_rng *rng);

/* Walks as the frontier sampler (Ribeiro and Towsley 2010; GraphSAINT, Zeng et al., ICLR 2020,
 * algorithm 2). In each of `steps` steps one of the walkers, which begin at `roots`, is chosen in
 * proportion to the number of entries of the node where it is, and moves to the column of one of
 * them, all alike. out has the nodes that were left, in order; fewer than `steps` only when no
 * walker can move. Costs O(log #roots) a step. */
ld_status ld_frontier_walk(ld_index **out, const ld_csr *a, const ld_index *roots, int64_t steps,
                           ld_rng *rng);

#endif

/* Random graphs with planted classes, for tests and for measurements at scale.
 *
 * A graph is made of parts that can also be used alone: classes for the nodes, weights with a heavy
 * tail, the edges, and features that depend on the class. Node ids carry no meaning. Graphs are
 * undirected, without self-loops and without values: every edge is stored both ways, the rows
 * sorted and free of duplicates.
 *
 * Every function takes the next sub-stream of its rng and is a function of that and of its
 * arguments alone, whatever the number of threads. */
#ifndef LD_GENERATE_GENERATE_H
#define LD_GENERATE_GENERATE_H

#include <stdint.h>

#include "base/status.h"
#include "graph/csr.h"
#include "random/rng.h"
#include "tensor/index.h"
#include "tensor/tensor.h"

/* Draws classes for n nodes: each class has the share of the nodes that the positive vector
 * `shares` gives it, rounded, and at least one; which nodes they are is random. Fails with LD_VALUE
 * when there are more classes than nodes. */
ld_status ld_generate_labels(ld_index **out, int64_t n, const ld_tensor *shares, ld_rng *rng);

/* Draws n weights of a power law: w = u^(-1 / (exponent - 1)) for u uniform in (0, 1), so that the
 * share of weights above w falls as w^(1 - exponent); cut at max(1, sqrt(n) / 4), where pairs of
 * heavy nodes would otherwise be drawn over and over. exponent > 1. */
ld_status ld_generate_weights(ld_tensor **out, int64_t n, double exponent, ld_rng *rng);

/* Draws a graph after Chung and Lu (2002) with planted classes and exactly `entries` stored entries
 * (an even number; an edge is two). An edge has one end drawn from all nodes in proportion to the
 * weights; the other is drawn, with probability `inside`, from the class of the first, otherwise
 * from all nodes, again in proportion to the weights. So a node's expected degree is proportional
 * to its weight, and the share of edges within classes is `inside` and what chance adds, less the
 * edges drawn twice, which count once.
 *
 * Time: O(entries + nodes) but for the sorting of rows. Memory at the peak, result included: at
 * most twice the columns of the result (4 bytes an entry) and 64 bytes a node; 1.5 times where few
 * edges are drawn twice. Fails with LD_VALUE when so many edges cannot be, or are so improbable
 * that 40 draws for each do not find them. */
ld_status ld_generate_chung_lu(ld_csr **out, const ld_tensor *weights, const ld_index *labels,
                               int64_t entries, double inside, ld_rng *rng);

/* Draws a graph of the stochastic block model (Holland, Laskey and Leinhardt 1983): every pair of
 * nodes is an edge on its own, with probability p[a, b] for nodes of classes a and b; p is
 * symmetric. Time: O(entries + nodes x classes); memory at the peak: 1.5 times the columns of the
 * result and 48 bytes a node. */
ld_status ld_generate_blocks(ld_csr **out, const ld_index *labels, const ld_tensor *p, ld_rng *rng);

/* Draws features: the row of `means` of each node's class, plus standard normal noise. The labels
 * are those of nodes first, first + 1, ...; so features can be made a piece at a time. */
ld_status ld_generate_features(ld_tensor **out, const ld_index *labels, const ld_tensor *means,
                               int64_t first, ld_rng *rng);

#endif

/* Matrix: random walks and ego graphs. */
#include "sample/ego.h"
#include "sample/walk.h"
#include "state/bind.h"

static ld_status matrix_random_walk(bind_call *c)
{
    ld_walk_options o = {.restart = c->in[5].number, .p = c->in[6].number, .q = c->in[7].number};
    return ld_random_walk(c->out[0].index, c->in[0].matrix, c->in[1].index, c->in[2].integer, o,
                          c->in[4].rng);
}

static ld_status matrix_frontier_walk(bind_call *c)
{
    return ld_frontier_walk(c->out[0].index, c->in[0].matrix, c->in[1].index, c->in[2].integer,
                            c->in[4].rng);
}

static ld_status matrix_ego_graphs(bind_call *c)
{
    return ld_ego_graphs(c->out[0].matrix, c->out[1].index, c->in[0].matrix, c->in[1].index,
                         c->in[2].integer, c->in[3].integer, c->in[5].rng);
}

static const bind_function methods[] = {
    {"random_walk", matrix_random_walk,
     "A:random_walk(roots: Index, length: integer, {rng=, restart=0.0, p=1.0, q=1.0})\n"
     "  -> Index\n"
     "Walks of `length` steps from each of the roots, which may repeat, over a square matrix:\n"
     "length + 1 nodes a walk, its root first, one walk after the other. A step from v goes to u\n"
     "in proportion to A's entry (v, u); with p or q (node2vec: Grover and Leskovec, KDD 2016)\n"
     "times 1/p where u is the node before v, 1 where that node has an entry in column u, and\n"
     "1/q elsewhere. With probability `restart` the walk is at its root again instead. A node\n"
     "without entries is not left otherwise. Walk i depends on the rng's sub-stream and i alone.",
     .reads = "A"},
    {"frontier_walk", matrix_frontier_walk,
     "A:frontier_walk(roots: Index, steps: integer, {rng=}) -> Index\n"
     "A walk of many walkers, of whom one moves at a time: it is chosen in proportion to the\n"
     "number of entries of the node where it is, and moves to the column of one of them, all\n"
     "alike. They begin at the roots. Gives the nodes that were left, one a step; fewer only when\n"
     "none can move. Ribeiro and Towsley 2010; the multi-dimensional walk of GraphSAINT, Zeng et\n"
     "al. 2020.",
     .reads = "A"},
    {"ego_graphs", matrix_ego_graphs,
     "A:ego_graphs(seeds: Index, k: integer, depth: integer, {rng=}) -> Matrix, Index\n"
     "The disjoint union of an ego graph for each seed, and the ids of its rows: all seeds, then\n"
     "the other nodes of each graph in turn. `depth` times the nodes that came last are each\n"
     "followed by k columns of their rows, drawn uniformly without replacement; then the graph\n"
     "has all entries of A between its nodes, with their values. A is square, and seeds may\n"
     "repeat. Draws as A:sample_rows, from a sub-stream for each step of each graph. An A that\n"
     "carries a gradient is an error: detach it first. ShaDow, Zeng et al. 2021."},
    {NULL, NULL, NULL},
};

const bind_subject bind_subject_walk = {.extends = {{&bind_matrix_class, methods}}};

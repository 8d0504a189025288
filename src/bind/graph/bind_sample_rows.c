/* Matrix: sampling of entries row by row, random walks and ego graphs. */
#include "grad/op.h"
#include "sample/ego.h"
#include "sample/rows.h"
#include "sample/temporal.h"
#include "sample/walk.h"
#include "state/bind.h"

static ld_status matrix_sample_rows(bind_call *c)
{
    enum { OPTIONS = 3, RNG, REPLACE, DEBIAS, COUNT, P, P_COLS, ALWAYS, FIRST };
    const bind_value *in = c->in;
    ld_sample_options o = {.replace = in[REPLACE].flag,
                           .debias = in[DEBIAS].flag,
                           .count = in[COUNT].flag,
                           .p = in[P].tensor,
                           .p_cols = in[P_COLS].tensor,
                           .always = in[ALWAYS].index,
                           .first = in[FIRST].index};
    bind_check(c->L, ld_sample_rows(c->out[0].matrix, c->out[1].index, c->out[2].tensor,
                                    in[0].matrix, in[1].index, in[2].integer, o, in[RNG].rng));
    return ld_op_csr_part(c->tape, c->out[0].matrix, in[0].matrix, in[1].index, *c->out[1].index);
}

static ld_status matrix_poisson_rows(bind_call *c)
{
    enum { OPTIONS = 3, RNG, SHARED, PI, R, ALWAYS, FIRST };
    const bind_value *in = c->in;
    ld_poisson_options o = {.shared = in[SHARED].flag,
                            .pi = in[PI].tensor,
                            .r = in[R].tensor,
                            .always = in[ALWAYS].index,
                            .first = in[FIRST].index};
    bind_check(c->L, ld_poisson_rows(c->out[0].matrix, c->out[1].index, c->out[2].tensor,
                                     in[0].matrix, in[1].index, in[2].tensor, o, in[RNG].rng));
    return ld_op_csr_part(c->tape, c->out[0].matrix, in[0].matrix, in[1].index, *c->out[1].index);
}

static ld_status matrix_poisson_factors(bind_call *c)
{
    return ld_poisson_factors(c->out[0].tensor, c->in[0].matrix, c->in[1].index, c->in[2].integer,
                              c->in[4].tensor, c->in[5].index);
}

static ld_status matrix_sample_before(bind_call *c)
{
    enum { DST = 1, BEFORE, K, TIMES, ORDER, OPTIONS, RNG, RECENT };
    const bind_value *in = c->in;
    return ld_sample_before(c->out[0].matrix, c->out[1].index, c->out[2].index, c->out[3].tensor,
                            in[0].matrix, in[DST].index, in[BEFORE].index, in[K].integer,
                            in[TIMES].index, in[ORDER].index, in[RECENT].flag, in[RNG].rng);
}

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
    {"sample_rows", matrix_sample_rows,
     "A:sample_rows(dst, k: integer, {rng=, replace=false, debias=false, count=false\n"
     "  [, p=Tensor, p_cols=Tensor, always=Index, first=Index]}) -> S, src, w\n"
     "At most k entries of each of the rows dst, drawn without reading the others; columns are\n"
     "compacted as by slice, `first` as there. S has A's values, in which it is differentiable,\n"
     "S.edge the positions in A, and each entry once, in A's order. w holds an entry's design\n"
     "weight: with it,\n"
     "S:scale_entries(w) estimates the whole rows. With d entries to draw from:\n"
     "  uniformly (default): every k of them equally likely; weight d/k; unbiased\n"
     "  replace = true: k independent draws; weight m d/k for m draws of the entry; unbiased\n"
     "  p = Tensor, a number for every entry of A, or p_cols, one for every column: in\n"
     "    proportion to it within the row; weight 1/(k p), biased; with debias = true the\n"
     "    unbiased weights of sampling.choice; with replace = true m/(k p), unbiased\n"
     "Where no more than k can be drawn they are all taken with weight 1 (with replace k are\n"
     "still drawn). p of zero: never drawn; a row with no other stays empty.\n"
     "count = true: w holds how often each entry was drawn instead.\n"
     "always (Index, for every row of A the place of an entry in it or 0, such as A:diagonal()):\n"
     "  this entry is always included, with weight 1, and k others are drawn.\n"
     "A row's draws depend on the rng's sub-stream, the row's number and its entries alone.",
     .passes = "A"},
    {"poisson_rows", matrix_poisson_rows,
     "A:poisson_rows(dst, c: Tensor, {rng=, shared=false\n"
     "  [, pi=Tensor, r=Tensor, always=Index, first=Index]}) -> S, src, w\n"
     "Entries of the rows dst, each on its own: entry (dst[i], u) is kept with probability\n"
     "q = min(1, c[i] pi[u]), pi being a vector with a number for every column (default: ones).\n"
     "w is 1/q, unbiased; S, src, `always` and `first` as in sample_rows. With shared = true one\n"
     "random number of column u decides in all rows, and with rng:at(i) in all layers, so that\n"
     "they agree on their columns. r = Tensor, a number in (0, 1) for every column, is these\n"
     "numbers: an entry is kept where r[u] <= q. LABOR: Balin and Catalyurek, NeurIPS 2023.",
     .passes = "A"},
    {"poisson_factors", matrix_poisson_factors,
     "A:poisson_factors(dst, k: integer [, {pi=Tensor, always=Index}]) -> Tensor\n"
     "The c for poisson_rows with which row v, of d entries, has the variance of k neighbours drawn\n"
     "without replacement: the sum of 1 / min(1, c pi[u]) over its entries is d^2 / k. Where\n"
     "d <= k it is the least c that keeps them all. pi, positive, has a number for every column\n"
     "(default: ones, with which c = k / d); an entry of `always`, as in sample_rows, is none of\n"
     "the d. LABOR: Balin and Catalyurek, NeurIPS 2023.",
     .reads = "A"},
    {"sample_before", matrix_sample_before,
     "A:sample_before(dst: Index, before: Index, k: integer, times: Index, order: Index,\n"
     "  {rng=, recent=false}) -> Matrix, Index, Index, Tensor\n"
     "At most k of the entries of each row dst[i] whose time is less than before[i]: S, src,\n"
     "src_before, w. A row is a node at a time, and so is a column, of which S has an entry: src has\n"
     "the nodes and src_before their times, those of the row that drew them; dst and before come\n"
     "first, then others, each pair once. A node may be there at several times, but twice at one is\n"
     "an error. The entries of a row ascend in time; S.edge are their positions in A.\n"
     "order: all positions of entries row by row, those of a row by time (see edge_order); times:\n"
     "  the times in that order, 1 or more; an entry of time 0 is always taken and none of the k,\n"
     "  such as a loop\n"
     "recent: the k latest, of equal times those last in `order`, with weight 1 in w; otherwise any\n"
     "  k of d, uniformly, with weight d / k, unbiased. All with weight 1 where d <= k.\n"
     "A row's draws depend on the rng's sub-stream, the row, its time and its entries alone. An A\n"
     "that carries a gradient is an error: detach it first."},
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

const bind_subject bind_subject_sample_rows = {.extends = {{&bind_matrix_class, methods}}};

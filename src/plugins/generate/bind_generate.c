/* ladies.generate: random graphs, and classes and features for their nodes. */
#include "generate/generate.h"

#include "state/bind.h"

#ifdef LADIES_HAVE_LARGE
#include "generate/chung_lu_runs.h"
#endif

static ld_status generate_labels(bind_call *c)
{
    return ld_generate_labels(c->out[0].index, c->in[0].integer, c->in[1].tensor, c->in[2].rng);
}

static ld_status generate_weights(bind_call *c)
{
    return ld_generate_weights(c->out[0].tensor, c->in[0].integer, c->in[1].number, c->in[2].rng);
}

static ld_status generate_chung_lu(bind_call *c)
{
    return ld_generate_chung_lu(c->out[0].matrix, c->in[0].tensor, c->in[1].index, c->in[2].integer,
                                c->in[3].number, c->in[4].rng);
}

#ifdef LADIES_HAVE_LARGE
static ld_status generate_chung_lu_runs(bind_call *c)
{
    const ld_index *labels = c->in[3].index;
    for (int i = 0; i < 2; i++) {
        const ld_edge_runs *r = c->in[i].object;
        if (r->n_rows != labels->size || r->n_cols != labels->size || r->n_runs > 0)
            return ld_fail(LD_SHAPE, "chung_lu_runs: new EdgeRuns of %lld nodes expected",
                           (long long)labels->size);
    }
    return ld_generate_chung_lu_runs(c->in[0].object, c->in[1].object, c->in[2].tensor, labels,
                                     c->in[4].integer, c->in[5].number, c->in[6].integer,
                                     c->in[7].rng);
}

#endif

static ld_status generate_blocks(bind_call *c)
{
    return ld_generate_blocks(c->out[0].matrix, c->in[0].index, c->in[1].tensor, c->in[2].rng);
}

static ld_status generate_features(bind_call *c)
{
    if (c->in[3].integer < 1)
        return ld_fail(LD_VALUE, "features: nodes count from 1, got %lld",
                       (long long)c->in[3].integer);
    return ld_generate_features(c->out[0].tensor, c->in[0].index, c->in[1].tensor,
                                c->in[3].integer - 1, c->in[2].rng);
}

static const bind_function functions[] = {
    {"labels", generate_labels,
     "generate.labels(n, shares: Tensor, rng) -> Index\n"
     "Classes for n nodes. Each class has its share of them (a vector of positive numbers, not\n"
     "necessarily of sum 1), rounded, and at least one; which nodes they are is random."},
    {"weights", generate_weights,
     "generate.weights(n, exponent: number, rng) -> Tensor\n"
     "Weights of a power law: the share of those above w falls as w^(1 - exponent). They are 1 to\n"
     "max(1, sqrt(n) / 4)."},
    {"chung_lu", generate_chung_lu,
     "generate.chung_lu(weights, labels, entries: integer, inside: number, rng) -> Matrix\n"
     "A symmetric matrix without values and loops, of exactly so many entries, two for each edge.\n"
     "An edge's first end is drawn from all nodes in proportion to their weights; its second, with\n"
     "probability `inside`, from the nodes of the same class, otherwise from all. Edges drawn\n"
     "twice count once. At its peak memory is at most twice that of the result, and 64 bytes a\n"
     "node. Chung and Lu 2002."},
#ifdef LADIES_HAVE_LARGE
    {"chung_lu_runs", generate_chung_lu_runs,
     "generate.chung_lu_runs(runs: EdgeRuns, dropped: EdgeRuns, weights, labels, entries: integer,\n"
     "  inside: number, memory: integer, rng)\n"
     "The matrix of generate.chung_lu in about so many bytes of memory: `runs` without `dropped`,\n"
     "two new EdgeRuns. Beside that it takes 28 bytes a node."},
#endif
    {"blocks", generate_blocks,
     "generate.blocks(labels, p: Tensor, rng) -> Matrix\n"
     "The stochastic block model: a symmetric matrix without values and loops in which every pair\n"
     "of nodes, of classes a and b, is an edge with probability p[a][b]. Costs the edges, and\n"
     "nodes times classes. Holland, Laskey and Leinhardt 1983."},
    {"features", generate_features,
     "generate.features(labels, means: Tensor, rng [, first = 1]) -> Tensor\n"
     "Features for nodes: the row of `means` of their class, plus standard normal noise. With `first`\n"
     "the labels are those of nodes from there on, and the rows are those that all nodes at once have."},
    {NULL, NULL, NULL},
};

const bind_subject bind_subject_generate = {.functions = {{functions, "generate"}}};

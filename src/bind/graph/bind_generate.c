/* generate: random graphs and what their nodes carry. */
#include "generate/generate.h"

#include "graph/bind_edge_runs.h"

static int generate_labels(lua_State *L)
{
    int64_t n = bind_count(L, 1, "labels: n");
    const ld_tensor *shares = bind_tensor(L, 2);
    ld_rng *rng = bind_rng(L, 3);
    bind_check(L, ld_generate_labels(bind_new_index(L), n, shares, rng));
    return 1;
}

static int generate_weights(lua_State *L)
{
    int64_t n = bind_count(L, 1, "weights: n");
    double exponent = bind_check_number(L, 2);
    ld_rng *rng = bind_rng(L, 3);
    bind_check(L, ld_generate_weights(bind_new_tensor(L), n, exponent, rng));
    return 1;
}

static int generate_chung_lu(lua_State *L)
{
    const ld_tensor *weights = bind_tensor(L, 1);
    const ld_index *labels = bind_index(L, 2);
    lua_Integer entries = bind_check_integer(L, 3);
    double inside = bind_check_number(L, 4);
    ld_rng *rng = bind_rng(L, 5);
    bind_check(L, ld_generate_chung_lu(bind_new_matrix(L), weights, labels, entries, inside, rng));
    return 1;
}

static int generate_chung_lu_runs(lua_State *L)
{
    ld_edge_runs *runs = bind_edge_runs(L, 1), *dropped = bind_edge_runs(L, 2);
    const ld_tensor *weights = bind_tensor(L, 3);
    const ld_index *labels = bind_index(L, 4);
    lua_Integer entries = bind_check_integer(L, 5);
    double inside = bind_check_number(L, 6);
    lua_Integer memory = bind_check_integer(L, 7);
    ld_rng *rng = bind_rng(L, 8);
    for (int i = 0; i < 2; i++) {
        const ld_edge_runs *r = i == 0 ? runs : dropped;
        if (r->n_rows != labels->size || r->n_cols != labels->size || r->n_runs > 0)
            return bind_error(L, "chung_lu_runs: new EdgeRuns of %I nodes expected",
                              (LUAI_UACINT)labels->size);
    }
    bind_check(
        L, ld_generate_chung_lu_runs(runs, dropped, weights, labels, entries, inside, memory, rng));
    return 0;
}

static int generate_blocks(lua_State *L)
{
    const ld_index *labels = bind_index(L, 1);
    const ld_tensor *p = bind_tensor(L, 2);
    ld_rng *rng = bind_rng(L, 3);
    bind_check(L, ld_generate_blocks(bind_new_matrix(L), labels, p, rng));
    return 1;
}

static int generate_features(lua_State *L)
{
    const ld_index *labels = bind_index(L, 1);
    const ld_tensor *means = bind_tensor(L, 2);
    ld_rng *rng = bind_rng(L, 3);
    int64_t first = lua_isnoneornil(L, 4) ? 1 : bind_count(L, 4, "features: first");
    if (first < 1)
        return bind_error(L, "features: nodes count from 1, got 0");
    bind_check(L, ld_generate_features(bind_new_tensor(L), labels, means, first - 1, rng));
    return 1;
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
    {"chung_lu_runs", generate_chung_lu_runs,
     "generate.chung_lu_runs(runs: EdgeRuns, dropped: EdgeRuns, weights, labels, entries: integer,\n"
     "inside: number, memory: integer, rng)\n"
     "The matrix of generate.chung_lu in about so many bytes of memory: `runs` without `dropped`,\n"
     "two new EdgeRuns. Beside that it takes 28 bytes a node."},
    {"blocks", generate_blocks,
     "generate.blocks(labels, p: Tensor, rng) -> Matrix\n"
     "The stochastic block model: a symmetric matrix without values and loops in which every pair\n"
     "of nodes, of classes a and b, is an edge with probability p[a][b]. Costs the edges, and\n"
     "nodes times classes. Holland, Laskey and Leinhardt 1983."},
    {"features", generate_features,
     "generate.features(labels, means: Tensor, rng [, first]) -> Tensor\n"
     "Features for nodes: the row of `means` of their class, plus standard normal noise. With `first`\n"
     "the labels are those of nodes from there on, and the rows are those that all nodes at once have."},
    {NULL, NULL, NULL},
};

void bind_open_generate(lua_State *L)
{
    lua_newtable(L);
    bind_functions(L, functions);
    lua_setfield(L, -2, "generate");
}

/* Matrix: random walks and ego graphs. */
#include "sample/ego.h"
#include "sample/walk.h"
#include "state/bind.h"

static int matrix_random_walk(lua_State *L)
{
    static const char *const names[] = {"rng", "restart", "p", "q", NULL};
    const ld_csr *a = bind_any_matrix(L, 1);
    ld_index *roots = bind_index(L, 2);
    lua_Integer length = bind_check_integer(L, 3);
    lua_settop(L, 4);
    bind_check_options(L, 4, "random_walk", names);
    ld_walk_options o = {
        .restart = bind_option_number(L, 4, "random_walk", "restart", 0),
        .p = bind_option_number(L, 4, "random_walk", "p", 1),
        .q = bind_option_number(L, 4, "random_walk", "q", 1),
    };
    ld_rng *rng = bind_option_rng(L, 4, "random_walk");
    bind_check(L, ld_random_walk(bind_new_index(L), a, roots, length, o, rng));
    return 1;
}

static int matrix_frontier_walk(lua_State *L)
{
    static const char *const names[] = {"rng", NULL};
    const ld_csr *a = bind_any_matrix(L, 1);
    ld_index *roots = bind_index(L, 2);
    lua_Integer steps = bind_check_integer(L, 3);
    lua_settop(L, 4);
    bind_check_options(L, 4, "frontier_walk", names);
    ld_rng *rng = bind_option_rng(L, 4, "frontier_walk");
    bind_check(L, ld_frontier_walk(bind_new_index(L), a, roots, steps, rng));
    return 1;
}

static int matrix_ego_graphs(lua_State *L)
{
    static const char *const names[] = {"rng", NULL};
    ld_csr *a = bind_matrix(L, 1);
    ld_index *seeds = bind_index(L, 2);
    lua_Integer k = bind_check_integer(L, 3), depth = bind_check_integer(L, 4);
    lua_settop(L, 5);
    bind_check_options(L, 5, "ego_graphs", names);
    ld_rng *rng = bind_option_rng(L, 5, "ego_graphs");
    ld_csr **out = bind_new_matrix(L);
    bind_check(L, ld_ego_graphs(out, bind_new_index(L), a, seeds, k, depth, rng));
    return 2;
}

void bind_open_walk(lua_State *L)
{
    static const bind_function methods[] = {
        {"random_walk", matrix_random_walk,
         "A:random_walk(roots: Index, length: integer, {rng=, restart=0.0, p=1.0, q=1.0})\n"
         "  -> Index\n"
         "Walks of `length` steps from each of the roots, which may repeat, over a square matrix:\n"
         "length + 1 nodes a walk, its root first, one walk after the other. A step from v goes to u\n"
         "in proportion to A's entry (v, u); with p or q (node2vec: Grover and Leskovec, KDD 2016)\n"
         "times 1/p where u is the node before v, 1 where that node has an entry in column u, and\n"
         "1/q elsewhere. With probability `restart` the walk is at its root again instead. A node\n"
         "without entries is not left otherwise. Walk i depends on the rng's sub-stream and i alone."},
        {"frontier_walk", matrix_frontier_walk,
         "A:frontier_walk(roots: Index, steps: integer, {rng=}) -> Index\n"
         "Many walkers, of whom one moves at a time: it is chosen in proportion to the number of\n"
         "entries of the node where it is, and moves to the column of one of them, all alike. They\n"
         "begin at the roots. Gives the nodes that were left, one a step; fewer only when none can\n"
         "move. Ribeiro and Towsley 2010; the multi-dimensional walk of GraphSAINT, Zeng et al. 2020."},
        {"ego_graphs", matrix_ego_graphs,
         "A:ego_graphs(seeds: Index, k, depth: integer, {rng=}) -> Matrix, Index\n"
         "The disjoint union of an ego graph for each seed, and the ids of its rows: all seeds, then\n"
         "the other nodes of each graph in turn. `depth` times the nodes that came last are each\n"
         "followed by k columns of their rows, drawn uniformly without replacement; then the graph\n"
         "has all entries of A between its nodes, with their values. A is square, and seeds may\n"
         "repeat. Draws as A:sample_rows, from a sub-stream for each step of each graph. An A that\n"
         "carries a gradient is an error: detach it first. ShaDow, Zeng et al. 2021."},
        {NULL, NULL, NULL},
    };
    bind_methods(L, BIND_MATRIX, methods);
}

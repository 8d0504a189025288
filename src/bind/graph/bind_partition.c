/* Partitions of a Matrix; lua/ladies/graph/partition.lua is what users see. */
#include "graph/partition.h"

#include "state/bind.h"

static ld_status matrix_metis(bind_call *c)
{
    enum { SELF, PARTS, RNG, OPTIONS, WEIGHTED, BALANCED };
    return ld_csr_metis(c->out[0].index, c->in[SELF].matrix, c->in[PARTS].integer,
                        c->in[WEIGHTED].flag, c->in[BALANCED].index, c->in[RNG].rng);
}

static ld_status matrix_ldg(bind_call *c)
{
    enum { SELF, PARTS, RNG, OPTIONS, PASSES, BALANCED };
    return ld_csr_ldg(c->out[0].index, c->in[SELF].matrix, c->in[PARTS].integer,
                      c->in[PASSES].integer, c->in[BALANCED].index, c->in[RNG].rng);
}

static ld_status matrix_cut(bind_call *c)
{
    int64_t cut = 0;
    ld_status st = ld_csr_cut(&cut, c->in[0].matrix, c->in[1].index);
    c->out[0].integer = cut;
    return st;
}

static const bind_function methods[] = {
    {"metis", matrix_metis,
     "A:metis(k, rng [, {weighted = false [, balanced = Index]}]) -> Index\n"
     "The part 1 .. k of every node of a square matrix by METIS (Karypis and Kumar 1998): parts of\n"
     "nearly equal size with few entries between them. Scripts call graph:partition, which checks\n"
     "k and the graph; an error where the program was built without METIS.",
     .reads = "A"},
    {"ldg", matrix_ldg,
     "A:ldg(k, rng [, {passes = 10 [, balanced = Index]}]) -> Index\n"
     "The part 1 .. k of every node of a square matrix by linear deterministic greedy (Stanton and\n"
     "Kliot 2012), in so many passes over its rows; see graph:partition.",
     .reads = "A"},
    {"cut", matrix_cut,
     "A:cut(part_of: Index) -> integer\n"
     "The number of entries whose row and column are in different parts, for the part of every "
     "node\n"
     "(an Index).",
     .reads = "A"},
    {NULL, NULL, NULL},
};

static void add_have_metis(lua_State *L)
{
    lua_pushboolean(L, ld_have_metis());
    lua_setfield(L, -2, "have_metis");
}

const bind_subject bind_subject_partition = {.extends = {{&bind_matrix_class, methods}},
                                             .more = add_have_metis};

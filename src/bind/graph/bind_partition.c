/* Partitions of a Matrix; lua/ladies/graph/partition.lua is what users see. */
#include "graph/partition.h"

#include "state/bind.h"

static int matrix_metis(lua_State *L)
{
    static const char *const names[] = {"weighted", NULL};
    ld_csr *a = bind_any_matrix(L, 1);
    int64_t k = bind_count(L, 2, "metis: the number of parts");
    ld_rng *rng = bind_rng(L, 3);
    bind_check_options(L, 4, "metis", names);
    bool weighted = bind_option_boolean(L, 4, "weighted", false);
    bind_check(L, ld_csr_metis(bind_new_index(L), a, k, weighted, rng));
    return 1;
}

static int matrix_cut(lua_State *L)
{
    ld_csr *a = bind_any_matrix(L, 1);
    ld_index *part_of = bind_index(L, 2);
    int64_t cut = 0;
    bind_check(L, ld_csr_cut(&cut, a, part_of));
    lua_pushinteger(L, cut);
    return 1;
}

static const bind_function methods[] = {
    {"metis", matrix_metis,
     "A:metis(k, rng [, {weighted = false}]) -> Index\n"
     "The part 1 .. k of every node of a square matrix by METIS (Karypis and Kumar 1998): parts of\n"
     "nearly equal size with few entries between them. graph:partition says what goes in and what\n"
     "is defined; an error where the program was built without METIS."},
    {"cut", matrix_cut,
     "A:cut(part_of: Index) -> integer\n"
     "The number of entries whose row and column are in different parts, for the part of every "
     "node\n"
     "(an Index)."},
    {NULL, NULL, NULL},
};

void bind_open_partition(lua_State *L)
{
    bind_methods(L, BIND_MATRIX, methods);
    lua_pushboolean(L, ld_have_metis());
    lua_setfield(L, -2, "have_metis");
}

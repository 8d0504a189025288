/* A minimal A:sample_rows, until the whole one is there. */
#include "sample/rows_interim.h"

#include "bind.h"

static int matrix_sample_rows(lua_State *L)
{
    static const char *const names[] = {"rng", "first", NULL};
    ld_csr *a = bind_matrix(L, 1);
    ld_index *rows = bind_index(L, 2), *first = NULL;
    int64_t k = bind_count(L, 3, "sample_rows: the number of entries");
    bind_check_options(L, 4, "sample_rows", names);
    bind_option(L, 4, "rng");
    ld_rng *rng = bind_rng(L, -1);
    if (bind_option(L, 4, "first"))
        first = bind_index(L, -1);
    ld_csr **u = bind_new_matrix(L);
    bind_check(L, ld_sample_rows_interim(u, bind_new_index(L), a, rows, k, first, rng));
    return 2;
}

static const bind_function methods[] = {
    {"sample_rows", matrix_sample_rows,
     "A:sample_rows(dst, k, {rng =, first =}) -> S, src\nAt most k entries of each row dst."},
    {NULL, NULL, NULL},
};

void bind_open_rows_interim(lua_State *L)
{
    bind_methods(L, BIND_MATRIX, methods);
}

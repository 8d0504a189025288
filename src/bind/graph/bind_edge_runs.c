/* EdgeRuns: the entries of a matrix that does not fit in memory. */
#include "graph/bind_edge_runs.h"

#define BIND_EDGE_RUNS "ladies.EdgeRuns"

ld_edge_runs *bind_edge_runs(lua_State *L, int arg)
{
    return bind_object(L, arg, BIND_EDGE_RUNS);
}

static void drop(void *runs)
{
    ld_edge_runs_free(runs);
}

static int runs_close(lua_State *L)
{
    bind_drop(L, bind_check_userdata(L, 1, BIND_EDGE_RUNS), drop);
    return 0;
}

static int runs_new(lua_State *L)
{
    const char *folder = bind_check_string(L, 1);
    int64_t n_rows = bind_count(L, 2, "edge_runs: n_rows");
    int64_t n_cols = bind_count(L, 3, "edge_runs: n_cols");
    ld_edge_runs **r = lua_newuserdatauv(L, sizeof *r, 0);
    *r = NULL;
    luaL_setmetatable(L, BIND_EDGE_RUNS);
    bind_check(L, ld_edge_runs_new(r, folder, n_rows, n_cols));
    return 1;
}

static int runs_add(lua_State *L)
{
    ld_edge_runs *r = bind_edge_runs(L, 1);
    const ld_index *rows = bind_index(L, 2), *columns = bind_index(L, 3);
    bind_check(L, ld_edge_runs_add(r, rows, columns, lua_toboolean(L, 4)));
    return 0;
}

static int runs_counts(lua_State *L)
{
    const ld_edge_runs *r = bind_edge_runs(L, 1);
    lua_createtable(L, (int)r->n_ranges, 0);
    for (int64_t k = 0; k < r->n_ranges; k++) {
        lua_pushinteger(L, ld_edge_runs_count(r, k));
        lua_rawseti(L, -2, k + 1);
    }
    return 1;
}

static int runs_width(lua_State *L)
{
    lua_pushinteger(L, (lua_Integer)1 << bind_edge_runs(L, 1)->shift);
    return 1;
}

static int runs_matrix(lua_State *L)
{
    const ld_edge_runs *r = bind_edge_runs(L, 1);
    int64_t first, count = bind_range(L, 2, &first);
    const ld_edge_runs *without = lua_isnoneornil(L, 4) ? NULL : bind_edge_runs(L, 4);
    if (without && (without->n_rows != r->n_rows || without->n_cols != r->n_cols))
        return bind_error(L, "edge_runs: what is left out is of %I x %I, must be of %I x %I",
                          (LUAI_UACINT)without->n_rows, (LUAI_UACINT)without->n_cols,
                          (LUAI_UACINT)r->n_rows, (LUAI_UACINT)r->n_cols);
    bind_check(L, ld_edge_runs_matrix(bind_new_matrix(L), r, without, first, count));
    return 1;
}

static int runs_get(lua_State *L)
{
    return bind_no_field(L, BIND_EDGE_RUNS);
}

static const bind_function functions[] = {
    {"edge_runs", runs_new,
     "edge_runs(folder: string, n_rows, n_cols) -> EdgeRuns\n"
     "The entries of a matrix that does not fit in memory, on their way into rows: they wait in a\n"
     "file without a name on the disk of `folder`, 8 bytes each. e:add(rows, cols) takes them,\n"
     "e:matrix(first, last) makes rows of them, by ranges of equally many rows."},
    {NULL, NULL, NULL},
};

static const bind_function methods[] = {
    {"add", runs_add,
     "e:add(rows: Index, cols: Index [, both: boolean])\n"
     "Adds these entries, with both = true also (cols, rows), unless they are on the diagonal."},
    {"counts", runs_counts,
     "e:counts() -> integer[]\nHow many entries each range of rows was given so far, however often."},
    {"width", runs_width,
     "e:width() -> integer\nHow many rows a range has; the last may have fewer."},
    {"matrix", runs_matrix,
     "e:matrix(first, last [, without: EdgeRuns]) -> Matrix\n"
     "The rows of ranges first .. last, from 1, sorted, each entry once, and none of those that the\n"
     "EdgeRuns `without` was given. Memory meanwhile: 16 bytes for each of e:counts(), 4 bytes for\n"
     "each entry of the result, and 24 a row."},
    {"close", runs_close, "e:close()\nGives the disk back."},
    {NULL, NULL, NULL},
};

void bind_open_edge_runs(lua_State *L)
{
    static const luaL_Reg meta[] = {{"__gc", runs_close}, {"__close", runs_close}, {NULL, NULL}};
    static const char *const properties[] = {NULL};
    bind_class(L, BIND_EDGE_RUNS, methods, meta, properties, runs_get);
    bind_functions(L, functions);
}

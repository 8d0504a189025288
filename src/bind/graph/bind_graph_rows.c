/* GraphRows: the rows of a graph in shards that are here. */
#include "graph/bind_graph_rows.h"

#include <string.h>

#include "grad/op.h"

#define BIND_GRAPH_ROWS "ladies.GraphRows"

ld_graph_rows *bind_graph_rows(lua_State *L, int arg)
{
    return bind_object(L, arg, BIND_GRAPH_ROWS);
}

static void drop(void *g)
{
    ld_graph_rows_unref(g);
}

static int rows_gc(lua_State *L)
{
    bind_drop(L, bind_check_userdata(L, 1, BIND_GRAPH_ROWS), drop);
    return 0;
}

/* The parts of the array at arg, {{first = | ids =, rows =}, ...}, which keeps what they hold. */
static ld_graph_part *push_parts(lua_State *L, int arg, int *n)
{
    static const char *const names[] = {"first", "ids", "rows", NULL};
    bind_check_type(L, arg, LUA_TTABLE);
    *n = (int)lua_rawlen(L, arg);
    ld_graph_part *parts = lua_newuserdatauv(L, ((size_t)*n + 1) * sizeof *parts, 0);
    int top = lua_gettop(L);
    for (int i = 0; i < *n; i++) {
        lua_rawgeti(L, arg, i + 1);
        bind_check_type(L, top + 1, LUA_TTABLE);
        bind_check_options(L, top + 1, "graph_rows", names);
        for (int k = 0; names[k]; k++)
            lua_getfield(L, top + 1, names[k]);
        parts[i].ids = lua_isnil(L, top + 3) ? NULL : bind_index(L, top + 3);
        parts[i].first = parts[i].ids ? 0 : bind_count(L, top + 2, "graph_rows: first") - 1;
        bind_check_constant(L, top + 4, "graph_rows");
        parts[i].rows = bind_matrix(L, top + 4);
        lua_settop(L, top);
    }
    return parts;
}

static int graph_rows_new(lua_State *L)
{
    static const char *const names[] = {"n_nodes", "parts", "bounds", "weighted", NULL};
    int n_parts, n_owners;
    bind_check_type(L, 1, LUA_TTABLE);
    bind_check_options(L, 1, "graph_rows", names);
    lua_settop(L, 1);
    for (int i = 0; names[i]; i++)
        lua_getfield(L, 1, names[i]);
    int64_t n_nodes = bind_count(L, 2, "graph_rows: n_nodes");
    const ld_graph_part *parts = push_parts(L, 3, &n_parts);
    const int64_t *bounds = bind_push_bounds(L, 4, &n_owners);
    bool weighted = bind_option_boolean(L, 1, "weighted", false);
    bind_collect(L);
    ld_graph_rows **g = lua_newuserdatauv(L, sizeof *g, 0);
    *g = NULL;
    luaL_setmetatable(L, BIND_GRAPH_ROWS);
    bind_check(L, ld_graph_rows_new(g, n_nodes, weighted, parts, n_parts, bounds, n_owners));
    return 1;
}

static int rows_missing(lua_State *L)
{
    const ld_graph_rows *g = bind_graph_rows(L, 1);
    const ld_index *ids = bind_index(L, 2);
    bind_check(L, ld_graph_rows_missing(bind_new_index(L), g, ids));
    return 1;
}

static int rows_collect(lua_State *L)
{
    static const char *const names[] = {"self_loops", "joined", "row_scale", "col_scale", NULL};
    const ld_graph_rows *g = bind_graph_rows(L, 1);
    ld_index *ids = bind_index(L, 2);
    lua_settop(L, 3);
    bind_check_options(L, 3, "collect", names);
    ld_collect_options o = {
        .self_loops = bind_option_boolean(L, 3, "self_loops", false),
        .joined = bind_option_boolean(L, 3, "joined", false),
        .row_scale = bind_option_tensor(L, 3, "collect", "row_scale"),
        .col_scale = bind_option_tensor(L, 3, "collect", "col_scale"),
    };
    bind_check(L, ld_graph_rows_collect(bind_new_matrix(L), g, ids, o));
    return 1;
}

static int rows_get(lua_State *L)
{
    const ld_graph_rows *g = bind_graph_rows(L, 1);
    if (lua_type(L, 2) != LUA_TSTRING || strcmp(lua_tostring(L, 2), "n_nodes") != 0)
        return bind_no_field(L, BIND_GRAPH_ROWS);
    lua_pushinteger(L, g->n_nodes);
    return 1;
}

static int rows_tostring(lua_State *L)
{
    if (bind_push_closed(L, 1, BIND_GRAPH_ROWS))
        return 1;
    const ld_graph_rows *g = bind_graph_rows(L, 1);
    int64_t n = 0;
    for (int i = 0; i < g->n_parts; i++)
        n += g->parts[i].rows->s->n_rows;
    lua_pushfstring(L, "GraphRows %I of %I nodes", (LUAI_UACINT)n, (LUAI_UACINT)g->n_nodes);
    return 1;
}

static int normalization(lua_State *L)
{
    static const char *const kinds[] = {"sym", "row", NULL};
    ld_tensor *sums = bind_tensor(L, 1);
    bool root = bind_word(L, 2, kinds) == 0;
    bind_check(L, ld_normalization_factors(bind_new_tensor(L), sums, root));
    return 1;
}

static const bind_function functions[] = {
    {"graph_rows", graph_rows_new,
     "ladies_core.graph_rows{n_nodes = integer, parts = table, bounds = integer[], weighted = false}\n"
     "  -> GraphRows\n"
     "A graph of which the rows of the parts are here. A part is {first =, rows = Matrix}, those from\n"
     "`first` on, or {ids = Index, rows = Matrix}, those of ascending ids; they have values where the\n"
     "graph is weighted. Where others are elsewhere, bounds[r + 1] is the number of rows before those\n"
     "of rank r, and its last element n_nodes."},
    {"normalization", normalization,
     "ladies_core.normalization(sums: Tensor, \"sym\" | \"row\") -> Tensor\n"
     "What A:normalize multiplies rows, and for \"sym\" columns too, of these sums by: D^-1/2 or D^-1,\n"
     "0 for a sum of 0. A constant."},
    {NULL, NULL, NULL},
};

static const bind_function methods[] = {
    {"missing", rows_missing,
     "g:missing(idx) -> Index\n"
     "Those of the ids whose rows are not here but at other ranks, ascending, each once."},
    {"collect", rows_collect,
     "g:collect(idx [, {self_loops = false, joined = false, row_scale = Tensor, col_scale = Tensor}])\n"
     "  -> Matrix\n"
     "The rows of these numbers, with all columns; one that another rank has is an error. With\n"
     "self_loops the entry on the diagonal of each is 1; scales are vectors for all nodes. The matrix\n"
     "knows the numbers of its rows: sample_rows and poisson_rows draw from them as from the rows of\n"
     "the whole, and diagonal() finds their loops. joined: a matrix of its own, with rows 1, 2, ..."},
    {NULL, NULL, NULL},
};

void bind_open_graph_rows(lua_State *L)
{
    static const luaL_Reg meta[] = {{"__gc", rows_gc}, {"__tostring", rows_tostring}, {NULL, NULL}};
    static const char *const properties[] = {"n_nodes:integer", NULL};
    bind_class(L, BIND_GRAPH_ROWS, methods, meta, properties, rows_get);
    bind_functions(L, functions);
}

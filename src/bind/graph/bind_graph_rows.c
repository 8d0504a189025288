/* ladies_core.graph_rows: the rows of a sharded graph that this process holds. */
#include "graph/graph_rows.h"

#include "grad/op.h"
#include "state/bind.h"
#include "state/parts.h"

#define BIND_GRAPH_ROWS "ladies.GraphRows"

static ld_status graph_rows_new(bind_call *c)
{
    lua_State *L = c->L;
    int n_parts, n_owners;
    const bind_part *given = bind_push_parts(L, 3, &n_parts, "graph_rows");
    ld_graph_part *parts = lua_newuserdatauv(L, ((size_t)n_parts + 1) * sizeof *parts, 0);
    for (int i = 0; i < n_parts; i++) {
        bind_check_constant(L, given[i].rows, "graph_rows");
        parts[i] = (ld_graph_part){
            .first = given[i].first, .ids = given[i].ids, .rows = bind_matrix(L, given[i].rows)};
    }
    const int64_t *bounds = bind_push_bounds(L, 4, &n_owners);
    ld_graph_rows **g = (ld_graph_rows **)bind_new_object(L, BIND_GRAPH_ROWS);
    return ld_graph_rows_new(g, c->in[1].integer, c->in[4].flag, parts, n_parts, bounds, n_owners);
}

static ld_status rows_missing(bind_call *c)
{
    return ld_graph_rows_missing(c->out[0].index, c->in[0].object, c->in[1].index);
}

static ld_status rows_collect(bind_call *c)
{
    ld_collect_options o = {
        .self_loops = c->in[3].flag,
        .joined = c->in[4].flag,
        .row_scale = c->in[5].tensor,
        .col_scale = c->in[6].tensor,
    };
    return ld_graph_rows_collect(c->out[0].matrix, c->in[0].object, c->in[1].index, o);
}

static void rows_field(lua_State *L, const char *key)
{
    (void)key;
    const ld_graph_rows *g = bind_object(L, 1, BIND_GRAPH_ROWS);
    lua_pushinteger(L, g->n_nodes);
}

static void rows_describe(lua_State *L, const void *object)
{
    const ld_graph_rows *g = object;
    int64_t n = 0;
    for (int i = 0; i < g->n_parts; i++)
        n += g->parts[i].rows->s->n_rows;
    lua_pushfstring(L, "GraphRows %I of %I nodes", (LUAI_UACINT)n, (LUAI_UACINT)g->n_nodes);
}

static ld_status normalization(bind_call *c)
{
    return ld_normalization_factors(c->out[0].tensor, c->in[0].tensor, c->in[1].integer == 0);
}

static const bind_function functions[] = {
    {"graph_rows", graph_rows_new,
     "ladies_core.graph_rows{n_nodes=, parts = table [, bounds = integer[]], weighted = false}\n"
     "  -> GraphRows\n"
     "A graph of which this process holds the rows of the parts. A part is {first =, rows =\n"
     "Matrix}, those from `first` on, or {ids = Index, rows = Matrix}, those of ascending ids;\n"
     "they have values where the graph is weighted. Where others are elsewhere, bounds[r + 1] is\n"
     "the number of rows before those of rank r, and its last element n_nodes."},
    {"normalization", normalization,
     "ladies_core.normalization(sums: Tensor, \"sym\" | \"row\") -> Tensor\n"
     "The factors by which A:normalize multiplies rows, and for \"sym\" columns too, of these "
     "sums:\n"
     "D^-1/2 or D^-1, and 0 for a sum of 0. A constant."},
    {NULL, NULL, NULL},
};

static const bind_function methods[] = {
    {"missing", rows_missing,
     "g:missing(idx) -> Index\n"
     "The ids whose rows are not here but at other ranks, ascending, each once."},
    {"collect", rows_collect,
     "g:collect(idx [, {self_loops = false, joined = false, row_scale = Tensor, col_scale = Tensor}])\n"
     "  -> Matrix\n"
     "The rows of these numbers, with all columns; one that another rank has is an error. With\n"
     "self_loops the entry on the diagonal of each is 1; scales are vectors for all nodes. The matrix\n"
     "knows the numbers of its rows: sample_rows and poisson_rows draw from them as from the rows of\n"
     "the whole, and diagonal() finds their loops. joined: a matrix of its own, with rows 1, 2, ..."},
    {NULL, NULL, NULL},
};

static const char *const fields[] = {"n_nodes:integer", NULL};

static const bind_class class = {
    .name = BIND_GRAPH_ROWS,
    .drop = ld_graph_rows_drop,
    .methods = methods,
    .fields = fields,
    .get = rows_field,
    .describe = rows_describe,
};

const bind_subject bind_subject_graph_rows = {.classes = {&class}, .functions = {{functions}}};

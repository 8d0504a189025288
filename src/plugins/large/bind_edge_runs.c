/* EdgeRuns: the entries of a matrix that does not fit in memory. */
#include "large/edge_runs.h"
#include "state/bind.h"

#define BIND_EDGE_RUNS "ladies.EdgeRuns"

static ld_status runs_new(bind_call *c)
{
    ld_edge_runs **r = (ld_edge_runs **)bind_new_object(c->L, BIND_EDGE_RUNS);
    return ld_edge_runs_new(r, c->in[0].text, c->in[1].integer, c->in[2].integer);
}

static ld_status runs_add(bind_call *c)
{
    return ld_edge_runs_add(c->in[0].object, c->in[1].index, c->in[2].index, c->in[3].flag);
}

static ld_status runs_counts(bind_call *c)
{
    const ld_edge_runs *r = c->in[0].object;
    lua_createtable(c->L, (int)r->n_ranges, 0);
    for (int64_t k = 0; k < r->n_ranges; k++) {
        lua_pushinteger(c->L, ld_edge_runs_count(r, k));
        lua_rawseti(c->L, -2, k + 1);
    }
    return LD_OK;
}

static ld_status runs_width(bind_call *c)
{
    c->out[0].integer = (lua_Integer)1 << ((const ld_edge_runs *)c->in[0].object)->shift;
    return LD_OK;
}

static ld_status runs_matrix(bind_call *c)
{
    const ld_edge_runs *r = c->in[0].object, *without = c->in[3].object;
    int64_t first, count = bind_range(c->L, 2, &first);
    if (without && (without->n_rows != r->n_rows || without->n_cols != r->n_cols))
        bind_error(c->L, "edge_runs: what is left out is of %I x %I, must be of %I x %I",
                   (LUAI_UACINT)without->n_rows, (LUAI_UACINT)without->n_cols,
                   (LUAI_UACINT)r->n_rows, (LUAI_UACINT)r->n_cols);
    return ld_edge_runs_matrix(c->out[0].matrix, r, without, first, count);
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
    {"close", NULL, "e:close()\nGives the disk back.", .raw = bind_close},
    {NULL, NULL, NULL},
};

static const bind_class class = {
    .name = BIND_EDGE_RUNS, .drop = ld_edge_runs_drop, .closes = true, .methods = methods};

const bind_subject bind_subject_edge_runs = {.classes = {&class}, .functions = {{functions}}};

/* sampling: random choice with design weights, alias tables, and the algebra of index vectors. */
#include "state/bind.h"

#include <string.h>

#include "grad/op.h"
#include "sample/choice.h"
#include "sample/draw_cols.h"
#include "sample/drift.h"

/* --- options ---------------------------------------------------------------------------------- */

/* Pushes the option `name` and returns its place among `words`; the first is the default. `wanted`
 * is how the message lists them. */
static int word_option(lua_State *L, int arg, const char *where, const char *name,
                       const char *const *words, const char *wanted)
{
    if (!bind_option(L, arg, name))
        return 0;
    for (int i = 0; words[i] && lua_type(L, -1) == LUA_TSTRING; i++)
        if (strcmp(words[i], lua_tostring(L, -1)) == 0)
            return i;
    return bind_error(L, "%s: %s must be %s, got %s", where, name, wanted, bind_show(L, -1));
}

/* --- alias tables ----------------------------------------------------------------------------- */

static ld_alias *to_alias(lua_State *L, int arg)
{
    return bind_to_object(L, arg, BIND_ALIAS);
}

static int alias_new(lua_State *L)
{
    const ld_tensor *p = bind_tensor(L, 1);
    bind_collect(L);
    ld_alias **a = lua_newuserdatauv(L, sizeof(ld_alias *), 0);
    *a = NULL;
    luaL_setmetatable(L, BIND_ALIAS);
    bind_check(L, ld_alias_new(a, p));
    return 1;
}

static void drop(void *alias)
{
    ld_alias_unref(alias);
}

static int alias_gc(lua_State *L)
{
    bind_drop(L, bind_check_userdata(L, 1, BIND_ALIAS), drop);
    return 0;
}

static int alias_len(lua_State *L)
{
    const ld_alias *a = bind_object(L, 1, BIND_ALIAS);
    lua_pushinteger(L, a->p->n_rows);
    return 1;
}

static int alias_tostring(lua_State *L)
{
    if (bind_push_closed(L, 1, BIND_ALIAS))
        return 1;
    const ld_alias *a = bind_object(L, 1, BIND_ALIAS);
    lua_pushfstring(L, "Alias %I, %I positive", (LUAI_UACINT)a->p->n_rows, (LUAI_UACINT)a->size);
    return 1;
}

static int alias_get(lua_State *L)
{
    return bind_no_field(L, BIND_ALIAS);
}

/* --- choice ----------------------------------------------------------------------------------- */

/* What a table says of a choice; the stack keeps what the options hold. */
static ld_choice_options choice_options(lua_State *L, int arg, const char *where)
{
    static const char *const draws[] = {"wor", "wr", "poisson", NULL};
    static const char *const unions[] = {"pre", "post", NULL};
    ld_choice_options o = {
        .draw = (ld_choice_draw)word_option(L, arg, where, "draw", draws, "wor, wr or poisson"),
        .debias = bind_option_boolean(L, arg, "debias", false),
        .unite = word_option(L, arg, where, "union", unions, "pre or post") == 1,
        .always = bind_option_index(L, arg, where, "always"),
    };
    return o;
}

static int sampling_choice(lua_State *L)
{
    static const char *const names[] = {"draw", "debias", "always", "union", "rng", NULL};
    const ld_alias *table = to_alias(L, 1);
    const ld_tensor *p = table ? table->p : bind_to_tensor(L, 1);
    if (!p)
        return bind_type_error(L, 1, "Tensor or Alias");
    lua_Integer k = bind_check_integer(L, 2);
    bind_check_options(L, 3, "choice", names);
    ld_choice_options o = choice_options(L, 3, "choice");
    ld_rng *rng = bind_option_rng(L, 3, "choice");
    ld_index **pick = bind_new_index(L);
    ld_tensor **w = bind_new_tensor(L);
    bind_check(L, ld_choice(pick, w, p, table, k, o, rng));
    return 2;
}

static int matrix_draw_cols(lua_State *L)
{
    static const char *const names[] = {"power", "draw", "debias", "always",
                                        "union", "way",  "rng",    NULL};
    static const char *const ways[] = {"cost", "scan", "two stages", NULL};
    ld_csr *a = bind_matrix(L, 1);
    ld_index *rows = bind_index(L, 2);
    lua_Integer k = bind_check_integer(L, 3);
    bind_check_options(L, 4, "draw_cols", names);
    lua_Number power = bind_option_number(L, 4, "draw_cols", "power", 2);
    if (power != 1 && power != 2)
        return bind_error(L, "draw_cols: power must be 1 or 2, got %f", power);
    ld_draw_options o = {
        .power = (int)power,
        .choice = choice_options(L, 4, "draw_cols"),
        .way = (ld_draw_way)word_option(L, 4, "draw_cols", "way", ways, "cost, scan or two stages"),
    };
    ld_rng *rng = bind_option_rng(L, 4, "draw_cols");
    ld_csr **u = bind_new_matrix(L);
    ld_index **src = bind_new_index(L);
    bind_check(L, ld_draw_cols(u, src, bind_new_tensor(L), a, rows, k, o, rng));
    bind_check(L, ld_csr_settle(u));
    return 3;
}

static int sampling_uniform(lua_State *L)
{
    static const char *const names[] = {"replace", "rng", NULL};
    lua_Integer n = bind_check_integer(L, 1), k = bind_check_integer(L, 2);
    bind_check_options(L, 3, "uniform", names);
    bool replace = bind_option_boolean(L, 3, "replace", false);
    ld_rng *rng = bind_option_rng(L, 3, "uniform");
    bind_check(L, ld_choice_uniform(bind_new_index(L), n, k, replace, rng));
    return 1;
}

static int sampling_permutation(lua_State *L)
{
    int64_t n = bind_count(L, 1, "permutation: n");
    ld_rng *rng = bind_rng(L, 2);
    bind_check(L, ld_index_permutation(bind_new_index(L), n, n, rng));
    return 1;
}

static int sampling_drift(lua_State *L)
{
    const ld_index *ids = bind_index(L, 1);
    lua_Number t = bind_check_number(L, 2);
    ld_rng *from = bind_rng(L, 3), *to = bind_rng(L, 4);
    bind_check(L, ld_drift(bind_new_tensor(L), ids, t, from, to));
    return 1;
}

/* --- index vectors ---------------------------------------------------------------------------- */

static int sampling_unique(lua_State *L)
{
    const ld_index *x = bind_index(L, 1);
    bind_check(L, ld_index_unique(bind_new_index(L), x));
    return 1;
}

static int sampling_concat(lua_State *L)
{
    bind_check_type(L, 1, LUA_TTABLE);
    lua_Integer n = (lua_Integer)lua_rawlen(L, 1);
    ld_index **parts = lua_newuserdatauv(L, (size_t)n * sizeof *parts + 1, 0);
    for (lua_Integer i = 0; i < n; i++) {
        lua_rawgeti(L, 1, i + 1);
        parts[i] = bind_index(L, -1);
        lua_pop(L, 1);
    }
    bind_check(L, ld_index_concat(bind_new_index(L), parts, n));
    return 1;
}

static int sampling_union(lua_State *L)
{
    ld_index *parts[] = {bind_index(L, 1), bind_index(L, 2)}, **both = bind_new_index(L);
    bind_check(L, ld_index_concat(both, parts, 2));
    bind_check(L, ld_index_unique(bind_new_index(L), *both));
    return 1;
}

static int sampling_find(lua_State *L)
{
    const ld_index *a = bind_index(L, 1), *b = bind_index(L, 2);
    bind_check(L, ld_index_find(bind_new_index(L), a, b));
    return 1;
}

static const bind_function functions[] = {
    {"choice", sampling_choice,
     "sampling.choice(p: Tensor | Alias, k, {rng=, draw=\"wor\", debias=false, always=Index,\n"
     "  union=string}) -> pick, w\n"
     "k positions drawn in proportion to p, a vector or sampling.alias(p), and their design\n"
     "weights w: the sum of w[i] * f[pick[i]] estimates the sum of f over all positions. p need\n"
     "not sum to 1; in the weights below it does.\n"
     "draw \"wor\" (default): without replacement, in draw order; weight 1/(k p), biased;\n"
     "  with debias = true the unbiased weights of Chen et al., TMLR 2023.\n"
     "draw \"wr\": with replacement; each position once, weight m/(k p) for m draws; unbiased.\n"
     "draw \"poisson\": each position on its own with probability pi = min(1, c p), where the\n"
     "  pi sum to k; weight 1/pi; unbiased; the number of positions is random.\n"
     "Zeros are never drawn. When no more than k are positive, wor and poisson take them all\n"
     "with weight 1; wr still draws k.\n"
     "always (an Index of positions): these come first, with weight 1, and k further ones are\n"
     "  drawn from p renormalised outside of them.\n"
     "union = \"post\" (wor; the program of the LADIES authors): k are drawn from the whole p,\n"
     "  those of always that are missing are added, every weight is 1/p (1 where p is zero).\n"
     "The result depends on the rng's sub-stream, p, k and the options alone; for \"wr\" with\n"
     "always also on whether p is a vector or a table, whose draws are made again where they fall\n"
     "on what is certain."},
    {"alias", alias_new,
     "sampling.alias(p: Tensor) -> Alias\n"
     "A table for drawing from the vector p with replacement any number of times, each draw in\n"
     "O(1); choice takes it in place of p. Walker 1977, Vose 1991."},
    {"uniform", sampling_uniform,
     "sampling.uniform(n, k, {rng=, replace=false}) -> Index\n"
     "k of the positions 1 .. n, each equally likely, in draw order; at most n of them without\n"
     "replacement."},
    {"permutation", sampling_permutation,
     "sampling.permutation(n, rng) -> Index\nThe positions 1 .. n in random order."},
    {"drift", sampling_drift,
     "sampling.drift(ids: Index, t: number, from: Rng, to: Rng) -> Tensor\n"
     "For every id a number that is uniform in (0, 1) and depends on it alone, and moves, as t goes\n"
     "from 0 to 1, from that of the generator `from` to that of `to`: Phi(cos(pi t / 2) z +\n"
     "sin(pi t / 2) z') with their standard normal numbers z and z'. With rng:at(i) two calls have\n"
     "the same numbers. Cooperative mini-batching: Balin et al. 2023."},
    {"unique", sampling_unique,
     "sampling.unique(idx) -> Index\nThe distinct elements in order of first appearance."},
    {"concat", sampling_concat,
     "sampling.concat(list: Index[]) -> Index\nThe Indexes of a list one after the other."},
    {"union", sampling_union,
     "sampling.union(a: Index, b: Index) -> Index\n"
     "The distinct elements of a, then those that only b has."},
    {"find", sampling_find,
     "sampling.find(a: Index, b: Index) -> Index\n"
     "Positions in a of those elements of b that occur in a, in b's order."},
    {NULL, NULL, NULL},
};

void bind_open_sampling(lua_State *L)
{
    static const bind_function methods[] = {{NULL, NULL, NULL}};
    static const bind_function of_matrix[] = {
        {"draw_cols", matrix_draw_cols,
         "A:draw_cols(dst, k, {rng=, power=2, draw=\"wor\", debias=false, always=Index,\n"
         "  union=string, way=\"cost\"}) -> U, src, w\n"
         "k columns src drawn in proportion to the sums of |entry|^power, power 1 or 2, over the\n"
         "rows dst, U = A:slice(dst, src), and design weights w. In distribution the same as\n"
         "  U, src = A:slice(dst, {first = always});  p = U:col_sums(power)\n"
         "  pick, w = sampling.choice(p, k, {rng = rng, always = range(1, #always), ...})\n"
         "  U, src = U:pick_cols(pick), src[pick]\n"
         "with draw, debias and union as in sampling.choice and the columns `always`, whether\n"
         "these rows touch them or not; but without reading all of the rows where it can be had for\n"
         "less. For that sums of A's rows, once made, are kept with A, whose values are frozen.\n"
         "way \"cost\" (default) goes by the numbers of rows, columns, entries and draws; \"scan\" is\n"
         "the lines above, \"two stages\" draws a row by its sum, then a column of it, and draws\n"
         "columns that are there already again (draw wor and wr, finite entries of at least 0 for\n"
         "power 1; else it scans). The result depends on the rng's sub-stream and the arguments."},
        {NULL, NULL, NULL},
    };
    static const luaL_Reg meta[] = {
        {"__gc", alias_gc},
        {"__len", alias_len},
        {"__tostring", alias_tostring},
        {NULL, NULL},
    };
    static const char *const properties[] = {NULL};
    bind_class(L, BIND_ALIAS, methods, meta, properties, alias_get);
    bind_methods(L, BIND_MATRIX, of_matrix);
    lua_newtable(L);
    bind_functions(L, functions);
    lua_setfield(L, -2, "sampling");
}

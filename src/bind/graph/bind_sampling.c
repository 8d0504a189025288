/* ladies.sampling: random choice with design weights, alias tables, and functions of index
 * vectors. */
#include "grad/op.h"
#include "sample/choice.h"
#include "sample/draw_cols.h"
#include "sample/drift.h"
#include "sample/negatives.h"
#include "state/bind.h"

/* --- choice ----------------------------------------------------------------------------------- */

static ld_status alias_new(bind_call *c)
{
    return ld_alias_new((ld_alias **)bind_new_object(c->L, BIND_ALIAS), c->in[0].tensor);
}

static ld_status alias_len(bind_call *c)
{
    c->out[0].integer = ((const ld_alias *)bind_object(c->L, 1, BIND_ALIAS))->p->n_rows;
    return LD_OK;
}

static void alias_describe(lua_State *L, const void *object)
{
    const ld_alias *a = object;
    lua_pushfstring(L, "Alias %I, %I positive", (LUAI_UACINT)a->p->n_rows, (LUAI_UACINT)a->size);
}

static ld_status sampling_choice(bind_call *c)
{
    const bind_value *in = c->in;
    const ld_alias *table = bind_to_object(c->L, 1, BIND_ALIAS);
    const ld_tensor *p = table ? table->p : bind_to_tensor(c->L, 1);
    enum { OPTIONS = 2, RNG, DRAW, UNION, DEBIAS, ALWAYS };
    ld_choice_options o = {.draw = (ld_choice_draw)in[DRAW].integer,
                           .unite = in[UNION].integer,
                           .debias = in[DEBIAS].flag,
                           .always = in[ALWAYS].index};
    if (!p)
        bind_type_error(c->L, 1, "Tensor or Alias");
    return ld_choice(c->out[0].index, c->out[1].tensor, p, table, in[1].integer, o, in[RNG].rng);
}

static ld_status matrix_draw_cols(bind_call *c)
{
    enum { OPTIONS = 3, RNG, POWER, DRAW, UNION, WAY, DEBIAS, ALWAYS };
    const bind_value *in = c->in;
    ld_draw_options o = {
        .power = (int)in[POWER].integer,
        .choice = {.draw = (ld_choice_draw)in[DRAW].integer,
                   .unite = in[UNION].integer,
                   .debias = in[DEBIAS].flag,
                   .always = in[ALWAYS].index},
        .way = (ld_draw_way)in[WAY].integer,
    };
    if (in[POWER].integer != 1 && in[POWER].integer != 2)
        return ld_fail(LD_VALUE, "draw_cols: power must be 1 or 2, got %lld",
                       (long long)in[POWER].integer);
    bind_check(c->L, ld_draw_cols(c->out[0].matrix, c->out[1].index, c->out[2].tensor, in[0].matrix,
                                  in[1].index, in[2].integer, o, in[RNG].rng));
    return ld_csr_settle(c->out[0].matrix);
}

static ld_status sampling_uniform(bind_call *c)
{
    return ld_choice_uniform(c->out[0].index, c->in[0].integer, c->in[1].integer, c->in[4].flag,
                             c->in[3].rng);
}

static ld_status sampling_permutation(bind_call *c)
{
    return ld_index_permutation(c->out[0].index, c->in[0].integer, c->in[0].integer, c->in[1].rng);
}

static ld_status sampling_drift(bind_call *c)
{
    return ld_drift(c->out[0].tensor, c->in[0].index, c->in[1].number, c->in[2].rng, c->in[3].rng);
}

static ld_status sampling_negatives(bind_call *c)
{
    enum { OPTIONS = 3, RNG, LOOPS, P };
    const bind_value *in = c->in;
    ld_negative_options o = {.p = in[P].object, .loops = in[LOOPS].flag};
    return ld_negatives(c->out[0].index, in[0].matrix, in[1].index, in[2].integer, o, in[RNG].rng);
}

static ld_status sampling_non_edges(bind_call *c)
{
    return ld_non_edges(c->out[0].index, c->out[1].index, c->in[0].matrix, c->in[1].integer,
                        c->in[4].flag, c->in[3].rng);
}

/* --- index vectors ---------------------------------------------------------------------------- */

static ld_status sampling_unique(bind_call *c)
{
    return ld_index_unique(c->out[0].index, c->in[0].index);
}

static ld_status sampling_concat(bind_call *c)
{
    int64_t n;
    ld_index **parts = bind_push_list(c->L, 1, BIND_INDEX, &n);
    return ld_index_concat(c->out[0].index, parts, n);
}

static ld_status sampling_union(bind_call *c)
{
    ld_index *parts[] = {c->in[0].index, c->in[1].index}, **both = bind_new_index(c->L);
    bind_check(c->L, ld_index_concat(both, parts, 2));
    return ld_index_unique(c->out[0].index, *both);
}

static ld_status sampling_find(bind_call *c)
{
    return ld_index_find(c->out[0].index, c->in[0].index, c->in[1].index,
                         (ld_absent)c->in[3].integer);
}

static const bind_function functions[] = {
    {"choice", sampling_choice,
     "sampling.choice(p: Tensor | Alias, k: integer, {rng=, draw = \"wor\" | \"wr\" | \"poisson\" |\n"
     "  \"systematic\" | \"pivotal\" | \"sampford\", union = \"pre\" | \"post\", debias=false\n"
     "  [, always=Index]}) -> pick, w\n"
     "k positions drawn in proportion to p, a vector or sampling.alias(p), and their design\n"
     "weights w: the sum of w[i] * f[pick[i]] estimates the sum of f over all positions. p need\n"
     "not sum to 1; in the weights below it does.\n"
     "draw \"wor\" (default): without replacement, in draw order; weight 1/(k p), biased;\n"
     "  with debias = true the unbiased weights of Chen et al., TMLR 2023.\n"
     "draw \"wr\": with replacement; each position once, weight m/(k p) for m draws; unbiased.\n"
     "draw \"poisson\": each position on its own with probability pi = min(1, c p), where the\n"
     "  pi sum to k; weight 1/pi; unbiased; the number of positions is random.\n"
     "draw \"systematic\", \"pivotal\", \"sampford\": exactly k positions, each with the pi of\n"
     "  poisson, and weight 1/pi; unbiased. They differ in what is drawn together, which is what\n"
     "  sampling.joint_probabilities has: systematic (Madow 1949) and pivotal (ordered; Deville and\n"
     "  Tille 1998) keep neighbours in p apart, so p may be put in an order that spreads what is\n"
     "  alike; for sampford (1967) the order does not matter, every pair has a chance, and a draw\n"
     "  costs as some to some hundred others where k is large.\n"
     "Zeros are never drawn. When no more than k are positive, all but wr take them all with weight\n"
     "1; wr still draws k.\n"
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
     "sampling.uniform(n: integer, k: integer, {rng=, replace=false}) -> Index\n"
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
    {"negatives", sampling_negatives,
     "sampling.negatives(A: Matrix, ids: Index, k: integer, {rng=, loops=false [, p=Alias]}) -> Index\n"
     "For each of the rows ids, which may repeat, k columns in which it has no entry, one after the\n"
     "other: those of ids[i] are elements (i - 1) k + 1 to i k. Each is drawn on its own, with\n"
     "replacement, uniformly or in proportion to the probabilities of sampling.alias(p), of which A has\n"
     "a column each, such as degrees; an entry is never among them, however dense its row is. Of a\n"
     "square A the diagonal counts as entries, unless loops is true. For heads of edges these are\n"
     "tails that they do not have, and with A:transpose() heads that tails do not have. An error names\n"
     "a row without such a column. The result depends on the rng's sub-stream and the arguments.",
     .reads = "A"},
    {"non_edges", sampling_non_edges,
     "sampling.non_edges(A: Matrix, k: integer, {rng=, loops=false}) -> Index, Index\n"
     "k pairs of a row and a column without an entry of A, each drawn on its own, with replacement,\n"
     "uniformly among all of them. Of a square A the diagonal counts as entries, unless loops is\n"
     "true. An error where every pair is an entry.",
     .reads = "A"},
    {"unique", sampling_unique,
     "sampling.unique(idx) -> Index\nThe distinct elements in order of first appearance."},
    {"concat", sampling_concat,
     "sampling.concat(list: Index[]) -> Index\nThe Indexes of a list one after the other."},
    {"union", sampling_union,
     "sampling.union(a: Index, b: Index) -> Index\n"
     "The distinct elements of a, then those that only b has."},
    {"find", sampling_find,
     "sampling.find(a: Index, b: Index [, {absent = \"dropped\" | \"zero\" | \"error\"}]) -> Index\n"
     "Positions in a of the elements of b, in b's order. Those that do not occur in a are dropped, so\n"
     "that there may be fewer positions than elements of b; with absent = \"zero\" there is a 0 for each\n"
     "(\"none\"), and pairs of two results stay in step; \"error\" names the first."},
    {NULL, NULL, NULL},
};

static const bind_function of_matrix[] = {
    {"draw_cols", matrix_draw_cols,
     "A:draw_cols(dst, k: integer, {rng=, power=2, draw = \"wor\" | \"wr\" | \"poisson\" |\n"
     "  \"systematic\" | \"pivotal\" | \"sampford\", union = \"pre\" | \"post\",\n"
     "  way = \"cost\" | \"scan\" | \"two stages\", debias=false [, always=Index]}) -> U, src, w\n"
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

static const bind_function alias_operators[] = {
    {"__len", alias_len, "#alias -> integer\nThe number of positions that it draws from."},
    {NULL, NULL, NULL},
};

static const bind_class alias_class = {
    .name = BIND_ALIAS,
    .drop = ld_alias_drop,
    .operators = alias_operators,
    .describe = alias_describe,
};

const bind_subject bind_subject_sampling = {.classes = {&alias_class},
                                            .extends = {{&bind_matrix_class, of_matrix}},
                                            .functions = {{functions, "sampling"}}};

/* Matrix: sampling of entries row by row. */
#include "grad/op.h"
#include "sample/rows.h"
#include "state/bind.h"

static int matrix_sample_rows(lua_State *L)
{
    static const char *const names[] = {"replace", "debias", "count", "p", "p_cols",
                                        "always",  "first",  "rng",   NULL};
    ld_csr *a = bind_matrix_operand(L, 1);
    ld_index *rows = bind_index(L, 2);
    lua_Integer k = bind_check_integer(L, 3);
    lua_settop(L, 4);
    bind_check_options(L, 4, "sample_rows", names);
    ld_sample_options o = {
        .replace = bind_option_boolean(L, 4, "replace", false),
        .debias = bind_option_boolean(L, 4, "debias", false),
        .count = bind_option_boolean(L, 4, "count", false),
        .p = bind_option_tensor(L, 4, "sample_rows", "p"),
        .p_cols = bind_option_tensor(L, 4, "sample_rows", "p_cols"),
        .always = bind_option_index(L, 4, "sample_rows", "always"),
        .first = bind_option_index(L, 4, "sample_rows", "first"),
    };
    ld_rng *rng = bind_option_rng(L, 4, "sample_rows");
    ld_csr **s = bind_new_matrix(L);
    ld_index **src = bind_new_index(L);
    bind_check(L, ld_sample_rows(s, src, bind_new_tensor(L), a, rows, k, o, rng));
    bind_check(L, ld_op_csr_part(bind_tape(L), s, a, rows, *src));
    return 3;
}

static int matrix_poisson_rows(lua_State *L)
{
    static const char *const names[] = {"pi", "shared", "r", "always", "first", "rng", NULL};
    ld_csr *a = bind_matrix_operand(L, 1);
    ld_index *rows = bind_index(L, 2);
    ld_tensor *c = bind_tensor(L, 3);
    lua_settop(L, 4);
    bind_check_options(L, 4, "poisson_rows", names);
    ld_poisson_options o = {
        .pi = bind_option_tensor(L, 4, "poisson_rows", "pi"),
        .shared = bind_option_boolean(L, 4, "shared", false),
        .r = bind_option_tensor(L, 4, "poisson_rows", "r"),
        .always = bind_option_index(L, 4, "poisson_rows", "always"),
        .first = bind_option_index(L, 4, "poisson_rows", "first"),
    };
    ld_rng *rng = bind_option_rng(L, 4, "poisson_rows");
    ld_csr **s = bind_new_matrix(L);
    ld_index **src = bind_new_index(L);
    bind_check(L, ld_poisson_rows(s, src, bind_new_tensor(L), a, rows, c, o, rng));
    bind_check(L, ld_op_csr_part(bind_tape(L), s, a, rows, *src));
    return 3;
}

static int matrix_poisson_factors(lua_State *L)
{
    static const char *const names[] = {"pi", "always", NULL};
    ld_csr *a = bind_any_matrix(L, 1);
    ld_index *rows = bind_index(L, 2);
    lua_Integer k = bind_check_integer(L, 3);
    lua_settop(L, 4);
    bind_check_options(L, 4, "poisson_factors", names);
    ld_tensor *pi = bind_option_tensor(L, 4, "poisson_factors", "pi");
    ld_index *always = bind_option_index(L, 4, "poisson_factors", "always");
    bind_check(L, ld_poisson_factors(bind_new_tensor(L), a, rows, k, pi, always));
    return 1;
}

void bind_open_sample_rows(lua_State *L)
{
    static const bind_function methods[] = {
        {"sample_rows", matrix_sample_rows,
         "A:sample_rows(dst, k, {rng=, replace=false, p=Tensor, p_cols=Tensor, debias=false,\n"
         "  count=false, always=Index, first=Index}) -> S, src, w\n"
         "At most k entries of each of the rows dst, drawn without reading the others; columns are\n"
         "compacted as by slice, `first` as there. S has A's values, in which it is differentiable,\n"
         "S.edge the positions in A, and each entry once, in A's order. w holds an entry's design\n"
         "weight: with it,\n"
         "S:scale_entries(w) estimates the whole rows. With d entries to draw from:\n"
         "  uniformly (default): every k of them equally likely; weight d/k; unbiased\n"
         "  replace = true: k independent draws; weight m d/k for m draws of the entry; unbiased\n"
         "  p = Tensor, a number for every entry of A, or p_cols, one for every column: in\n"
         "    proportion to it within the row; weight 1/(k p), biased; with debias = true the\n"
         "    unbiased weights of sampling.choice; with replace = true m/(k p), unbiased\n"
         "Where no more than k can be drawn they are all taken with weight 1 (with replace k are\n"
         "still drawn). p of zero: never drawn; a row with no other stays empty.\n"
         "count = true: w holds how often each entry was drawn instead.\n"
         "always (Index, for every row of A the place of an entry in it or 0, such as A:diagonal()):\n"
         "  this entry is always included, with weight 1, and k others are drawn.\n"
         "A row's draws depend on the rng's sub-stream, the row's number and its entries alone."},
        {"poisson_rows", matrix_poisson_rows,
         "A:poisson_rows(dst, c: Tensor, {rng=, pi=Tensor, shared=false, r=Tensor,\n"
         "  always=Index, first=Index}) -> S, src, w\n"
         "Entries of the rows dst, each on its own: entry (dst[i], u) is kept with probability\n"
         "q = min(1, c[i] pi[u]), pi being a vector with a number for every column (default: ones).\n"
         "w is 1/q, unbiased; S, src, `always` and `first` as in sample_rows. With shared = true one\n"
         "random number of column u decides in all rows, and with rng:at(i) in all layers, so that\n"
         "they agree on their columns. r = Tensor, a number in (0, 1) for every column, is these\n"
         "numbers: an entry is kept where r[u] <= q. LABOR: Balin and Catalyurek, NeurIPS 2023."},
        {"poisson_factors", matrix_poisson_factors,
         "A:poisson_factors(dst, k, {pi=Tensor, always=Index}) -> Tensor\n"
         "The c for poisson_rows with which row v, of d entries, has the variance of k neighbours drawn\n"
         "without replacement: the sum of 1 / min(1, c pi[u]) over its entries is d^2 / k. Where\n"
         "d <= k it is the least c that keeps them all. pi, positive, has a number for every column\n"
         "(default: ones, with which c = k / d); an entry of `always`, as in sample_rows, is none of\n"
         "the d. LABOR: Balin and Catalyurek, NeurIPS 2023."},
        {NULL, NULL, NULL},
    };
    bind_methods(L, BIND_MATRIX, methods);
}

/* Index: vectors of ids and positions, also as numbers: arithmetic, comparisons, and the way to a
 * Tensor. This is the one file that converts ids from 1-based to 0-based and back. */
#include "tensor/bind_tensor.h"
#include "tensor/index_numbers.h"

/* Returns the id or position at arg, which Lua counts from 1, counted from 0. */
static int32_t to_core(lua_State *L, int arg, const char *where, lua_Integer position)
{
    int whole;
    lua_Integer v = lua_tointegerx(L, arg, &whole);
    if (!whole || v < 0 || v > INT32_MAX)
        bind_error(L, "%s: element %d must be an integer 0 to %d, got %s", where, (int)position,
                   INT32_MAX, bind_show(L, arg));
    return (int32_t)(v - 1);
}

static ld_status index_new(bind_call *c)
{
    int64_t n = (int64_t)lua_rawlen(c->L, 1);
    bind_check(c->L, ld_index_new(c->out[0].index, n));
    for (int64_t i = 0; i < n; i++) {
        lua_rawgeti(c->L, 1, i + 1);
        (*c->out[0].index)->data[i] = to_core(c->L, -1, "index", i + 1);
        lua_pop(c->L, 1);
    }
    return LD_OK;
}

static ld_status index_range(bind_call *c)
{
    lua_Integer first = c->in[0].integer, last = c->in[1].integer;
    bind_arg_check(c->L, first >= 1 && first <= INT32_MAX, 1, "ids start at 1");
    bind_arg_check(c->L, last >= first - 1 && last <= INT32_MAX, 2,
                   "must not lie before the first");
    return ld_index_range(c->out[0].index, (int32_t)(first - 1), last - first + 1);
}

static ld_status index_len(bind_call *c)
{
    c->out[0].integer = bind_index(c->L, 1)->size;
    return LD_OK;
}

static void index_describe(lua_State *L, const void *object)
{
    lua_pushfstring(L, "Index %I", (LUAI_UACINT)((const ld_index *)object)->size);
}

static ld_status index_element(bind_call *c)
{
    lua_State *L = c->L;
    ld_index *x = bind_index(L, 1), *pick = bind_to_index(L, 2);
    if (bind_to_tensor(L, 2))
        pick = bind_push_positions(L, 2, x->size);
    if (pick)
        return ld_index_gather(bind_new_index(L), x, pick);
    if (lua_type(L, 2) != LUA_TNUMBER)
        bind_no_position(L, 2, "an Index");
    lua_pushinteger(L, (lua_Integer)x->data[bind_position(L, 2, x->size, "an Index")] + 1);
    return LD_OK;
}

static ld_status index_concat(bind_call *c)
{
    ld_index *parts[] = {bind_index(c->L, 1), bind_index(c->L, 2)};
    return ld_index_concat(c->out[0].index, parts, 2);
}

static ld_status index_eq(bind_call *c)
{
    const ld_index *a = bind_to_index(c->L, 1), *b = bind_to_index(c->L, 2);
    c->out[0].flag = a && b && ld_index_equal(a, b);
    return LD_OK;
}

/* Pushes the elements as a table, each with `more` added. */
static void push_table(lua_State *L, const ld_index *x, lua_Integer more)
{
    lua_createtable(L, (int)x->size, 0);
    for (int64_t i = 0; i < x->size; i++) {
        lua_pushinteger(L, x->data[i] + more);
        lua_rawseti(L, -2, i + 1);
    }
}

static ld_status index_to_table(bind_call *c)
{
    push_table(c->L, c->in[0].index, 1);
    return LD_OK;
}

static ld_status index_sort(bind_call *c)
{
    return ld_index_sort(c->out[0].index, c->in[0].index);
}

static ld_status index_slice(bind_call *c)
{
    int64_t first, count = bind_range(c->L, 2, &first);
    return ld_index_slice(c->out[0].index, c->in[0].index, first, count);
}

static ld_status index_hash(bind_call *c)
{
    uint64_t hash = 0;
    ld_status st = ld_index_hash(&hash, c->in[0].index);
    bind_push_hash(c->L, hash);
    return st;
}

/* Finds the largest or the smallest element: `kind` is 1 or -1. */
static ld_status index_extreme(bind_call *c)
{
    int32_t id = 0;
    ld_status st = ld_index_extreme(&id, c->in[0].index, c->kind);
    c->out[0].integer = (lua_Integer)id + 1;
    return st;
}

static ld_status index_check_unique(bind_call *c)
{
    return ld_index_check_unique(c->in[0].index, c->in[1].text ? c->in[1].text : "id");
}

static ld_status index_counts(bind_call *c)
{
    ld_index **counts = bind_new_index(c->L);
    bind_check(c->L, ld_index_counts(counts, c->in[0].index, c->in[1].integer));
    push_table(c->L, *counts, 0);
    return LD_OK;
}

static ld_status index_repeated(bind_call *c)
{
    return ld_index_repeated(c->out[0].index, c->in[0].index);
}

static ld_status index_group(bind_call *c)
{
    return ld_index_group(c->out[0].index, c->out[1].index, c->in[0].index, c->in[1].integer);
}

/* --- numbers ---------------------------------------------------------------------------------- */

/* The Index at arg, or the integer there. */
static ld_numbers to_numbers(lua_State *L, int arg)
{
    ld_numbers n = {.index = bind_to_index(L, arg)};
    if (!n.index) {
        if (!lua_isnumber(L, arg))
            bind_type_error(L, arg, "Index or integer");
        n.number = bind_check_integer(L, arg);
        bind_arg_check(L, n.number >= -INT32_MAX && n.number <= INT32_MAX, arg,
                       "an Index, or an integer of less than 2^31 either way, expected");
    }
    return n;
}

static ld_status arithmetic(bind_call *c)
{
    ld_numbers a = to_numbers(c->L, 1), b = to_numbers(c->L, 2);
    return ld_index_arith(c->out[0].index, (ld_id_arith)c->kind, a, b);
}

static ld_status comparison(bind_call *c)
{
    return ld_index_compare(c->out[0].tensor, (ld_comparison)c->kind, c->in[0].index,
                            to_numbers(c->L, 2));
}

static ld_status index_to_tensor(bind_call *c)
{
    return ld_index_to_tensor(c->out[0].tensor, c->in[0].index);
}

/* --- tables ----------------------------------------------------------------------------------- */

static const bind_function functions[] = {
    {"index", index_new,
     "ladies.index(ids: integer[]) -> Index\n"
     "A vector of ids or positions from a Lua table of integers; ids start at 1, and 0 stands for\n"
     "\"none\" (an unlabelled node). An Index is immutable. idx[i] is element i, an error outside of\n"
     "1 .. #idx; idx[other] the elements at the positions in an Index, idx[mask] those where a vector\n"
     "of as many elements, such as idx:above(i) gives, is not 0; idx == other when all elements are;\n"
     "idx .. other is one after the other. + - * // % go element by element, between two of one\n"
     "length or with an integer, as those of Lua do; what is no id, 0 to 2^31 - 1, is an error that\n"
     "names its position."},
    {"range", index_range,
     "ladies.range(first, last) -> Index\nThe ids first, first + 1, ..., last."},
    {NULL, NULL, NULL},
};

static const bind_function methods[] = {
    {"to_table", index_to_table, "idx:to_table() -> table\nThe ids as a Lua table of integers."},
    {"sort", index_sort, "idx:sort() -> Index\nAn ascending copy."},
    {"slice", index_slice, "idx:slice(first, last) -> Index\nA copy of elements first .. last."},
    {"hash", index_hash, "idx:hash() -> string\n16 hexadecimal digits that depend on every bit."},
    {"max", index_extreme, "idx:max() -> integer\nThe largest element; an error when empty.",
     .kind = 1},
    {"min", index_extreme, "idx:min() -> integer\nThe smallest element; an error when empty.",
     .kind = -1},
    {"check_unique", index_check_unique,
     "idx:check_unique([what: string])\n"
     "Raises an error that names the element when one occurs twice."},
    {"counts", index_counts,
     "idx:counts(n) -> table\nHow often each of the ids 1 .. n occurs; zeros (none) are left out."},
    {"repeated", index_repeated,
     "idx:repeated() -> Index\n"
     "Each position as often as its element says: 2, 0, 3 gives 1, 1, 3, 3, 3."},
    {"group", index_group,
     "idx:group(n) -> Index, Index\n"
     "The positions of each of the ids 1 .. n, as two Indexes, order and ends: those of id i are\n"
     "order:slice(ends[i], ends[i + 1] - 1), ascending. An error for an id outside."},
    {"above", comparison,
     "idx:above(x: Index | integer) -> Tensor\n"
     "1 where an element is greater than the integer x, or than the element of the Index x, 0\n"
     "elsewhere: a mask, as t:above gives; idx[mask] and mask:positions() are what it marks.",
     .kind = LD_ABOVE},
    {"below", comparison,
     "idx:below(x: Index | integer) -> Tensor\n"
     "1 where an element is less than x, 0 elsewhere, as idx:above.",
     .kind = LD_BELOW},
    {"equals", comparison,
     "idx:equals(x: Index | integer) -> Tensor\n"
     "1 where an element equals x, 0 elsewhere, as idx:above. (idx == x is whether all of two\n"
     "Indexes do.)",
     .kind = LD_EQUALS},
    {"to_tensor", index_to_tensor,
     "idx:to_tensor() -> Tensor\n"
     "The elements as a vector of numbers; an error above 2^24, where float32 would round."},
    {NULL, NULL, NULL},
};

static const bind_function operators[] = {
    {"__index", NULL,
     "idx[i] -> integer | Index\n"
     "Element i, an error outside of 1 .. #idx: loop by for i = 1, #idx, not by ipairs, which asks\n"
     "for one more; idx[other] are the elements at the positions in an Index, idx[mask] those where\n"
     "a vector of as many elements, such as idx:above(i), is not 0."},
    {"__len", index_len, "#idx -> integer\nThe number of elements."},
    {"__concat", index_concat,
     "idx .. other -> Index\nThe elements of one after those of the other."},
    {"__eq", index_eq,
     "idx == other -> boolean\n"
     "True if length and all elements are equal. See idx:equals(x)."},
    {"__add", arithmetic,
     "idx + x -> Index\n"
     "The sum, element by element, with an Index of the same length or an integer. A result that is\n"
     "no id, 0 to 2^31 - 1, is an error that names its position; so it is with - * // %.",
     .kind = LD_INDEX_ADD},
    {"__sub", arithmetic, "idx - x -> Index\nThe difference, as idx + x.", .kind = LD_INDEX_SUB},
    {"__mul", arithmetic, "idx * x -> Index\nThe product, as idx + x.", .kind = LD_INDEX_MUL},
    {"__idiv", arithmetic, "idx // x -> Index\nThe quotient, rounded down, as idx + x.",
     .kind = LD_INDEX_DIV},
    {"__div", NULL, "idx / x\nAn Index has no /: idx // x is the quotient, rounded down.",
     .raw = bind_absent},
    {"__mod", arithmetic, "idx % x -> Index\nThe remainder, as idx + x.", .kind = LD_INDEX_MOD},
    {NULL, NULL, NULL},
};

const bind_class bind_index_class = {
    .name = BIND_INDEX,
    .drop = ld_index_drop,
    .methods = methods,
    .operators = operators,
    .element = index_element,
    .describe = index_describe,
};

const bind_subject bind_subject_index = {.classes = {&bind_index_class},
                                         .functions = {{functions}}};

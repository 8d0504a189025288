/* Index: its elements as numbers: arithmetic, comparisons, and the way to a Tensor. */
#include "tensor/index_numbers.h"

#include "tensor/bind_tensor.h"

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

static const bind_function methods[] = {
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
    {"__add", arithmetic,
     "idx + x -> Index\n"
     "The sum, element by element, with an Index of the same length or an integer. A result that is\n"
     "no id, 0 to 2^31 - 1, is an error that names its position; so it is with - * // %.",
     .kind = LD_INDEX_ADD},
    {"__sub", arithmetic, "idx - x -> Index\nThe difference, as idx + x.", .kind = LD_INDEX_SUB},
    {"__mul", arithmetic, "idx * x -> Index\nThe product, as idx + x.", .kind = LD_INDEX_MUL},
    {"__idiv", arithmetic, "idx // x -> Index\nThe quotient, rounded down, as idx + x.",
     .kind = LD_INDEX_DIV},
    {"__mod", arithmetic, "idx % x -> Index\nThe remainder, as idx + x.", .kind = LD_INDEX_MOD},
    {NULL, NULL, NULL},
};

const bind_subject bind_subject_index_numbers = {
    .extends = {{&bind_index_class, methods, operators}}};

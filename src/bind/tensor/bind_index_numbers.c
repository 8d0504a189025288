/* Index: its elements as numbers: arithmetic, comparisons, and the way to a Tensor. */
#include "tensor/index_numbers.h"

#include "state/bind.h"

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

static int arithmetic(lua_State *L, ld_id_arith kind)
{
    ld_numbers a = to_numbers(L, 1), b = to_numbers(L, 2);
    bind_check(L, ld_index_arith(bind_new_index(L), kind, a, b));
    return 1;
}

static int index_add(lua_State *L)
{
    return arithmetic(L, LD_INDEX_ADD);
}

static int index_sub(lua_State *L)
{
    return arithmetic(L, LD_INDEX_SUB);
}

static int index_mul(lua_State *L)
{
    return arithmetic(L, LD_INDEX_MUL);
}

static int index_idiv(lua_State *L)
{
    return arithmetic(L, LD_INDEX_DIV);
}

static int index_mod(lua_State *L)
{
    return arithmetic(L, LD_INDEX_MOD);
}

static int comparison(lua_State *L, ld_comparison kind)
{
    ld_index *x = bind_index(L, 1);
    ld_numbers b = to_numbers(L, 2);
    bind_check(L, ld_index_compare(bind_new_tensor(L), kind, x, b));
    return 1;
}

static int index_above(lua_State *L)
{
    return comparison(L, LD_ABOVE);
}

static int index_below(lua_State *L)
{
    return comparison(L, LD_BELOW);
}

static int index_equals(lua_State *L)
{
    return comparison(L, LD_EQUALS);
}

static int index_to_tensor(lua_State *L)
{
    ld_index *x = bind_index(L, 1);
    bind_check(L, ld_index_to_tensor(bind_new_tensor(L), x));
    return 1;
}

static const bind_function methods[] = {
    {"above", index_above,
     "idx:above(x: Index | integer) -> Tensor\n"
     "1 where an element is greater than the integer x, or than the element of the Index x, 0\n"
     "elsewhere: a mask, as t:above gives; idx[mask] and mask:positions() are what it marks."},
    {"below", index_below,
     "idx:below(x: Index | integer) -> Tensor\n"
     "1 where an element is less than x, 0 elsewhere, as idx:above."},
    {"equals", index_equals,
     "idx:equals(x: Index | integer) -> Tensor\n"
     "1 where an element equals x, 0 elsewhere, as idx:above. (idx == x is whether all of two\n"
     "Indexes do.)"},
    {"to_tensor", index_to_tensor,
     "idx:to_tensor() -> Tensor\n"
     "The elements as a vector of numbers; an error above 2^24, where float32 would round."},
    {NULL, NULL, NULL},
};

static const bind_function operators[] = {
    {"__add", index_add,
     "idx + x -> Index\n"
     "The sum, element by element, with an Index of the same length or an integer. A result that is\n"
     "no id, 0 to 2^31 - 1, is an error that names its position; so it is with - * // %."},
    {"__sub", index_sub, "idx - x -> Index\nThe difference, as idx + x."},
    {"__mul", index_mul, "idx * x -> Index\nThe product, as idx + x."},
    {"__idiv", index_idiv, "idx // x -> Index\nThe quotient, rounded down, as idx + x."},
    {"__mod", index_mod, "idx % x -> Index\nThe remainder, as idx + x."},
    {NULL, NULL, NULL},
};

void bind_open_index_numbers(lua_State *L)
{
    bind_methods(L, BIND_INDEX, methods);
    bind_operators(L, BIND_INDEX, operators);
}

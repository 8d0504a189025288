/* Index: vectors of ids and positions. The one place where 1-based becomes 0-based and back. */
#include "state/bind.h"

ld_index *bind_to_index(lua_State *L, int arg)
{
    return bind_to_object(L, arg, BIND_INDEX);
}

ld_index *bind_index(lua_State *L, int arg)
{
    return bind_object(L, arg, BIND_INDEX);
}

ld_index *bind_option_index(lua_State *L, int arg, const char *where, const char *name)
{
    return bind_option_object(L, arg, where, name, BIND_INDEX) ? bind_index(L, -1) : NULL;
}

ld_index **bind_new_index(lua_State *L)
{
    bind_collect(L);
    ld_index **x = lua_newuserdatauv(L, sizeof(ld_index *), 0);
    *x = NULL;
    luaL_setmetatable(L, BIND_INDEX);
    return x;
}

ld_index *bind_push_positions(lua_State *L, int arg, int64_t n)
{
    ld_tensor *mask = bind_tensor(L, arg);
    if (mask->ndim != 1 || mask->n_rows != n)
        bind_error(L, "a mask of %s for %I elements or rows", ld_tensor_shape(mask),
                   (LUAI_UACINT)n);
    ld_index **positions = bind_new_index(L);
    bind_check(L, ld_tensor_positions(positions, mask));
    return *positions;
}

/* A Lua id or position as core has it. */
static int32_t to_core(lua_State *L, int arg, const char *where, lua_Integer position)
{
    int whole;
    lua_Integer v = lua_tointegerx(L, arg, &whole);
    if (!whole || v < 0 || v > INT32_MAX)
        bind_error(L, "%s: element %d must be an integer 0 to %d, got %s", where, (int)position,
                   INT32_MAX, bind_show(L, arg));
    return (int32_t)(v - 1);
}

static int index_new(lua_State *L)
{
    bind_check_type(L, 1, LUA_TTABLE);
    int64_t n = (int64_t)lua_rawlen(L, 1);
    ld_index **x = bind_new_index(L);
    bind_check(L, ld_index_new(x, n));
    for (int64_t i = 0; i < n; i++) {
        lua_rawgeti(L, 1, i + 1);
        (*x)->data[i] = to_core(L, -1, "index", i + 1);
        lua_pop(L, 1);
    }
    return 1;
}

static int index_range(lua_State *L)
{
    lua_Integer first = bind_check_integer(L, 1), last = bind_check_integer(L, 2);
    bind_arg_check(L, first >= 1 && first <= INT32_MAX, 1, "ids start at 1");
    bind_arg_check(L, last >= first - 1 && last <= INT32_MAX, 2, "must not lie before the first");
    bind_check(L, ld_index_range(bind_new_index(L), (int32_t)(first - 1), last - first + 1));
    return 1;
}

static void drop(void *index)
{
    ld_index_unref(index);
}

static int index_gc(lua_State *L)
{
    bind_drop(L, bind_check_userdata(L, 1, BIND_INDEX), drop);
    return 0;
}

static int index_len(lua_State *L)
{
    lua_pushinteger(L, bind_index(L, 1)->size);
    return 1;
}

static int index_tostring(lua_State *L)
{
    if (!bind_push_closed(L, 1, BIND_INDEX))
        lua_pushfstring(L, "Index %I", (LUAI_UACINT)bind_index(L, 1)->size);
    return 1;
}

static int index_get(lua_State *L)
{
    ld_index *x = bind_index(L, 1), *pick = bind_to_index(L, 2);
    if (bind_to_tensor(L, 2))
        pick = bind_push_positions(L, 2, x->size);
    if (pick) {
        bind_check(L, ld_index_gather(bind_new_index(L), x, pick));
        return 1;
    }
    if (lua_type(L, 2) != LUA_TNUMBER)
        return bind_no_field(L, BIND_INDEX);
    int64_t i = bind_position(L, 2, x->size, "an Index");
    lua_pushinteger(L, (lua_Integer)x->data[i] + 1);
    return 1;
}

static int index_concat(lua_State *L)
{
    ld_index *parts[] = {bind_index(L, 1), bind_index(L, 2)};
    bind_check(L, ld_index_concat(bind_new_index(L), parts, 2));
    return 1;
}

static int index_eq(lua_State *L)
{
    ld_index *a = bind_to_index(L, 1), *b = bind_to_index(L, 2);
    lua_pushboolean(L, a && b && ld_index_equal(a, b));
    return 1;
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

static int index_to_table(lua_State *L)
{
    push_table(L, bind_index(L, 1), 1);
    return 1;
}

static int index_sort(lua_State *L)
{
    ld_index *x = bind_index(L, 1);
    bind_check(L, ld_index_sort(bind_new_index(L), x));
    return 1;
}

static int index_slice(lua_State *L)
{
    ld_index *x = bind_index(L, 1);
    int64_t first, count = bind_range(L, 2, &first);
    bind_check(L, ld_index_slice(bind_new_index(L), x, first, count));
    return 1;
}

static int index_hash(lua_State *L)
{
    uint64_t hash;
    bind_check(L, ld_index_hash(&hash, bind_index(L, 1)));
    bind_push_hash(L, hash);
    return 1;
}

static int extreme(lua_State *L, int sign)
{
    int32_t id;
    bind_check(L, ld_index_extreme(&id, bind_index(L, 1), sign));
    lua_pushinteger(L, (lua_Integer)id + 1);
    return 1;
}

static int index_max(lua_State *L)
{
    return extreme(L, 1);
}

static int index_min(lua_State *L)
{
    return extreme(L, -1);
}

static int index_check_unique(lua_State *L)
{
    bind_check(L, ld_index_check_unique(bind_index(L, 1), bind_opt_string(L, 2, "id")));
    return 0;
}

static int index_counts(lua_State *L)
{
    ld_index *x = bind_index(L, 1), **counts;
    int64_t n = bind_count(L, 2, "counts: the number of ids");
    counts = bind_new_index(L);
    bind_check(L, ld_index_counts(counts, x, n));
    push_table(L, *counts, 0);
    return 1;
}

static int index_group(lua_State *L)
{
    ld_index *x = bind_index(L, 1);
    int64_t n = bind_count(L, 2, "group: the number of ids");
    ld_index **order = bind_new_index(L);
    bind_check(L, ld_index_group(order, bind_new_index(L), x, n));
    return 2;
}

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
    {"max", index_max, "idx:max() -> integer\nThe largest element; an error when empty."},
    {"min", index_min, "idx:min() -> integer\nThe smallest element; an error when empty."},
    {"check_unique", index_check_unique,
     "idx:check_unique([what: string])\nAn error that names the element when one occurs twice."},
    {"counts", index_counts,
     "idx:counts(n) -> table\nHow often each of the ids 1 .. n occurs; zeros (none) are left out."},
    {"group", index_group,
     "idx:group(n) -> Index, Index\n"
     "The positions of each of the ids 1 .. n, as two Indexes, order and ends: those of id i are\n"
     "order:slice(ends[i], ends[i + 1] - 1), ascending. An error for an id outside."},
    {NULL, NULL, NULL},
};

static const bind_function operators[] = {
    {"__index", NULL,
     "idx[i] -> integer | Index\n"
     "Element i, an error outside of 1 .. #idx; idx[other] are the elements at the positions in an\n"
     "Index, idx[mask] those where a vector of as many elements, such as idx:above(i), is not 0."},
    {"__len", index_len, "#idx -> integer\nThe number of elements."},
    {"__concat", index_concat,
     "idx .. other -> Index\nThe elements of one after those of the other."},
    {"__eq", index_eq,
     "idx == other -> boolean\nWhether length and all elements are equal. See idx:equals(x)."},
    {NULL, NULL, NULL},
};

void bind_open_index(lua_State *L)
{
    static const luaL_Reg meta[] = {
        {"__gc", index_gc},
        {"__tostring", index_tostring},
        {NULL, NULL},
    };
    static const char *const properties[] = {NULL};
    bind_class(L, BIND_INDEX, methods, meta, properties, index_get);
    bind_operators(L, BIND_INDEX, operators);
    bind_functions(L, functions);
}

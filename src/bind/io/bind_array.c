/* Converts Lua values to arrays that core can write to files: numbers and tables of numbers or
 * strings to the type that they need, or to the one that npz.int16 and its like ask for. */
#include "io/bind_array.h"

#include <stdio.h>

#include "io/array/npy_values.h"

static const ld_npy_type INT64 = {'i', 8}, FLOAT64 = {'f', 8}, FLOAT32 = {'f', 4}, INT32 = {'i', 4},
                         UINT8 = {'u', 1};

static void check(lua_State *L, const char *where, ld_status status)
{
    if (status != LD_OK)
        bind_error(L, "%s: %s", where, ld_message());
}

/* Pushes an Array with room for its elements and returns that room. */
static void *new_array(lua_State *L, ld_npy_header h, const char *where)
{
    int64_t bytes;
    if (__builtin_mul_overflow(h.n_rows * h.n_cols, h.type.size, &bytes))
        bind_error(L, "%s: too large", where);
    ld_npy_array *a = lua_newuserdatauv(L, sizeof *a + (size_t)bytes, 0);
    *a = (ld_npy_array){NULL, h, a + 1};
    luaL_setmetatable(L, BIND_ARRAY);
    return a + 1;
}

/* Fills in the shape of a value: a number or a string has no dimension, a table one, and a table of
 * tables two. */
static void measure(lua_State *L, int arg, ld_npy_header *h, const char *where)
{
    h->n_rows = h->n_cols = 1;
    h->ndim = 0;
    if (!lua_istable(L, arg))
        return;
    h->ndim = 1;
    h->n_rows = (int64_t)lua_rawlen(L, arg);
    if (lua_rawgeti(L, arg, 1) == LUA_TTABLE) {
        h->ndim = 2;
        h->n_cols = (int64_t)lua_rawlen(L, -1);
    }
    lua_pop(L, 1);
    for (int64_t r = 1; h->ndim == 2 && r <= h->n_rows; r++) {
        if (lua_rawgeti(L, arg, r) != LUA_TTABLE || (int64_t)lua_rawlen(L, -1) != h->n_cols)
            bind_error(L, "%s: row %d must be a table of %d elements, like the first", where,
                       (int)r, (int)h->n_cols);
        lua_pop(L, 1);
    }
}

/* Pushes element k. One of another Lua type than `type` is an error. */
static void push_element(lua_State *L, int arg, const ld_npy_header *h, int64_t k, int type,
                         const char *where)
{
    if (h->ndim == 0) {
        lua_pushvalue(L, arg);
    } else if (h->ndim == 1) {
        lua_rawgeti(L, arg, k + 1);
    } else {
        lua_rawgeti(L, arg, k / h->n_cols + 1);
        lua_rawgeti(L, -1, k % h->n_cols + 1);
        lua_remove(L, -2);
    }
    if (lua_type(L, -1) != type)
        bind_error(L, "%s: element %d must be a %s, got a %s", where, (int)k + 1,
                   lua_typename(L, type), luaL_typename(L, -1));
}

/* Returns the type for numbers that the user gave none for: int64 when all of them are integers to
 * Lua, else float64. */
static ld_npy_type natural_type(lua_State *L, int arg, const ld_npy_header *h, const char *where)
{
    bool whole = ld_npy_count(h) > 0;
    for (int64_t k = 0; whole && k < ld_npy_count(h); k++) {
        push_element(L, arg, h, k, LUA_TNUMBER, where);
        whole = lua_isinteger(L, -1);
        lua_pop(L, 1);
    }
    return whole ? INT64 : FLOAT64;
}

static void push_numbers(lua_State *L, int arg, const ld_npy_type *type, const char *where)
{
    ld_npy_header h = {.fortran = false};
    measure(L, arg, &h, where);
    h.type = type ? *type : natural_type(L, arg, &h, where);
    char *item = new_array(L, h, where);
    for (int64_t k = 0; k < ld_npy_count(&h); k++, item += h.type.size) {
        push_element(L, arg, &h, k, LUA_TNUMBER, where);
        check(L, where,
              lua_isinteger(L, -1) ? ld_npy_put_integer(item, h.type, k, lua_tointeger(L, -1))
                                   : ld_npy_put_number(item, h.type, k, lua_tonumber(L, -1)));
        lua_pop(L, 1);
    }
}

/* Pushes an Array of strings. All elements of such an array have one size in a file, which is that
 * of the longest. */
static void push_texts(lua_State *L, int arg, char kind, const char *where)
{
    ld_npy_header h = {.type = {kind, kind == 'U' ? 4 : 1}};
    size_t length;
    measure(L, arg, &h, where);
    for (int64_t k = 0; k < ld_npy_count(&h); k++) {
        int64_t size = 0;
        push_element(L, arg, &h, k, LUA_TSTRING, where);
        const char *text = lua_tolstring(L, -1, &length);
        if (ld_npy_text_size(&size, kind, text, (int64_t)length) != LD_OK)
            bind_error(L, "%s: element %d %s", where, (int)k + 1, ld_message());
        h.type.size = size > h.type.size ? size : h.type.size;
        lua_pop(L, 1);
    }
    void *items = new_array(L, h, where);
    for (int64_t k = 0; k < ld_npy_count(&h); k++) {
        push_element(L, arg, &h, k, LUA_TSTRING, where);
        const char *text = lua_tolstring(L, -1, &length);
        ld_npy_put_text(items, h.type, k, text, (int64_t)length);
        lua_pop(L, 1);
    }
}

/* Returns true if the first element of a table, or of the table that is its first element, is a
 * string. */
static bool holds_texts(lua_State *L, int arg)
{
    int top = lua_gettop(L);
    int type = lua_rawgeti(L, arg, 1);
    if (type == LUA_TTABLE)
        type = lua_rawgeti(L, -1, 1);
    lua_settop(L, top);
    return type == LUA_TSTRING;
}

/* Returns true for a table that has elements 1, 2, ..., or nothing at all. Another one, as an object
 * is, would become an empty array. */
static bool is_list(lua_State *L, int arg)
{
    if (!lua_istable(L, arg) || lua_rawlen(L, arg) > 0)
        return lua_istable(L, arg);
    lua_pushnil(L);
    if (!lua_next(L, arg))
        return true;
    lua_pop(L, 2);
    return false;
}

static ld_npy_header header_of(ld_npy_type type, int ndim, int64_t n_rows, int64_t n_cols)
{
    return (ld_npy_header){.type = type, .ndim = ndim, .n_rows = n_rows, .n_cols = n_cols};
}

static ld_npy_header rows_header(const ld_rows *x)
{
    ld_npy_type type = {x->number == LD_BFLOAT16 ? 'B' : 'f', ld_number_size(x->number)};
    return header_of(type, 2, x->n_rows, x->n_cols);
}

void bind_push_array(lua_State *L, int arg, const char *where)
{
    arg = lua_absindex(L, arg);
    const ld_rows *rows = bind_to_object(L, arg, BIND_ROWS);
    if (rows && rows->parts) {
        void *items = new_array(L, rows_header(rows), where);
        check(L, where, ld_rows_copy(items, rows, NULL, rows->n_rows));
        return;
    }
    if (bind_to_operand(L, arg) || bind_to_index(L, arg) || rows ||
        luaL_testudata(L, arg, BIND_ARRAY) || lua_type(L, arg) == LUA_TSTRING) {
        lua_pushvalue(L, arg);
        return;
    }
    if (lua_type(L, arg) == LUA_TNUMBER) {
        push_numbers(L, arg, NULL, where);
        return;
    }
    if (!is_list(L, arg))
        bind_error(
            L,
            "%s: a Tensor, Index, Rows, string, number or table of numbers or strings expected, "
            "got %s",
            where, bind_show(L, arg));
    if (holds_texts(L, arg))
        push_texts(L, arg, 'U', where);
    else
        push_numbers(L, arg, NULL, where);
}

ld_npy_array bind_to_array(lua_State *L, int arg)
{
    ld_npy_array *a = luaL_testudata(L, arg, BIND_ARRAY);
    if (a)
        return *a;
    ld_tensor *t = bind_to_operand(L, arg);
    if (t)
        return (ld_npy_array){NULL, header_of(FLOAT32, t->ndim, t->n_rows, t->n_cols), t->data};
    ld_rows *rows = bind_to_object(L, arg, BIND_ROWS);
    if (rows)
        return (ld_npy_array){NULL, rows_header(rows), rows->data};
    ld_index *x = bind_to_index(L, arg);
    if (x)
        return (ld_npy_array){NULL, header_of(INT32, 1, x->size, 1), x->data};
    size_t length;
    const char *text = lua_tolstring(L, arg, &length);
    return (ld_npy_array){NULL, header_of(UINT8, 1, (int64_t)length, 1), text};
}

/* Converts everything first, into a table that keeps it alive, since that allocates and a
 * collection may come by; then makes the list for core. */
ld_npy_array *bind_push_arrays(lua_State *L, int64_t *count, int arg, const char *where)
{
    int64_t i = 0;
    lua_newtable(L);
    int kept = lua_gettop(L);
    *count = 0;
    for (lua_pushnil(L); lua_next(L, arg); lua_settop(L, kept + 1), ++*count) {
        if (!bind_is_text(L, kept + 1))
            bind_error(L, "%s: names of arrays must be strings without zero bytes, got %s", where,
                       bind_show(L, kept + 1));
        const char *name = bind_printable(L, kept + 1, false);
        const char *one = lua_pushfstring(L, "%s: \"%s\"", where, name);
        lua_pushvalue(L, kept + 1);
        bind_push_array(L, kept + 2, one);
        lua_rawset(L, kept);
    }
    ld_npy_array *arrays = lua_newuserdatauv(L, (size_t)*count * sizeof *arrays, 0);
    for (lua_pushnil(L); lua_next(L, kept); lua_pop(L, 1), i++) {
        arrays[i] = bind_to_array(L, -1);
        arrays[i].name = lua_tolstring(L, -2, NULL);
    }
    return arrays;
}

/* Gives the Array on top of the stack the shape of the option at 3, if there is one. */
static void set_shape(lua_State *L, const char *where)
{
    ld_npy_array *a = lua_touserdata(L, -1);
    ld_npy_header h = a->header;
    int64_t sizes[LD_NPY_DIMENSIONS], count;
    if (lua_isnil(L, 3))
        return;
    int n = lua_istable(L, 3) ? (int)lua_rawlen(L, 3) : -1;
    bool fits = n >= 0 && n <= LD_NPY_DIMENSIONS;
    for (int i = 0; fits && i < n; i++) {
        fits = lua_rawgeti(L, 3, i + 1) == LUA_TNUMBER && lua_isinteger(L, -1);
        sizes[i] = lua_tointeger(L, -1);
        fits = fits && sizes[i] >= 0;
        lua_pop(L, 1);
    }
    fits = fits && ld_npy_set_shape(&h, n, sizes) &&
           !__builtin_mul_overflow(h.n_rows, h.n_cols, &count) && count == ld_npy_count(&a->header);
    if (!fits)
        bind_error(L,
                   "%s: shape must be a table of at most %d sizes of %I elements together, those "
                   "before the last two 1",
                   where, LD_NPY_DIMENSIONS, (LUAI_UACINT)ld_npy_count(&a->header));
    a->header = h;
}

ld_status bind_convert_array(bind_call *c)
{
    static const ld_npy_type types[] = {{'b', 1}, {'i', 1}, {'i', 2}, {'i', 4}, {'i', 8},
                                        {'u', 1}, {'u', 2}, {'u', 4}, {'u', 8}, {'f', 2},
                                        {'f', 4}, {'f', 8}, {'B', 2}};
    lua_State *L = c->L;
    ld_npy_type type = types[c->kind];
    ld_tensor *t = bind_to_operand(L, 1);
    ld_index *x = bind_to_index(L, 1);
    char text[LD_NPY_TEXT], where[LD_NPY_TEXT + 16];
    snprintf(where, sizeof where, "%s.%s", c->kind == BIND_BFLOAT16 ? "safetensors" : "npz",
             ld_npy_type_name(text, type));
    if (!t && !x) {
        if (!lua_istable(L, 1) && lua_type(L, 1) != LUA_TNUMBER)
            bind_type_error(L, 1, "Tensor, Index, number or table");
        push_numbers(L, 1, &type, where);
        set_shape(L, where);
        return LD_OK;
    }
    ld_npy_header h = bind_to_array(L, 1).header;
    h.type = type;
    char *items = new_array(L, h, where);
    int64_t n = ld_npy_count(&h);
    if (t)
        check(L, where, ld_npy_put_floats(items, type, t->data, 0, n, 0));
    for (int64_t i = 0; x && i < n; i++)
        check(L, where, ld_npy_put_integer(items + i * type.size, type, i, x->data[i]));
    set_shape(L, where);
    return LD_OK;
}

static ld_status array_bytes(bind_call *c)
{
    if (!lua_istable(c->L, 1) && lua_type(c->L, 1) != LUA_TSTRING)
        bind_type_error(c->L, 1, "string or table");
    push_texts(c->L, 1, 'S', "npz.bytes");
    return LD_OK;
}

static void array_describe(lua_State *L, const void *object)
{
    char type[LD_NPY_TEXT], shape[LD_NPY_TEXT];
    const ld_npy_array *a = object;
    lua_pushfstring(L, "Array %s, %s", ld_npy_type_name(type, a->header.type),
                    ld_npy_shape(shape, &a->header));
}

#define CONVERTER(name, of)                                                                          \
    {                                                                                                \
#name, bind_convert_array,                                                                   \
            "npz." #name "(Tensor | Index | number | table [, {shape = any}]) -> Array\n"            \
            "The numbers as " #name ", to be written; an error when it cannot hold one of them.\n"   \
            "Elements of an Index count from 0 in files; other numbers stay as they are. shape is\n" \
            "another one for as many elements, of up to 4 dimensions: those before the last two 1.", \
            .kind = of                                                                               \
    }

static const bind_function functions[] = {
    CONVERTER(bool, 0),
    CONVERTER(int8, 1),
    CONVERTER(int16, 2),
    CONVERTER(int32, 3),
    CONVERTER(int64, 4),
    CONVERTER(uint8, 5),
    CONVERTER(uint16, 6),
    CONVERTER(uint32, 7),
    CONVERTER(uint64, 8),
    CONVERTER(float16, 9),
    CONVERTER(float32, 10),
    CONVERTER(float64, 11),
    {"bytes", array_bytes,
     "npz.bytes(string | string[]) -> Array\n"
     "Texts as NumPy's bytes (S), to be written: a quarter of the size of the usual U."},
    {NULL, NULL, NULL},
};

static const bind_class class = {.name = BIND_ARRAY, .describe = array_describe};

const bind_subject bind_subject_array = {.classes = {&class}, .functions = {{functions, "npz"}}};

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

/* Pushes an Array with room for its elements. */
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

/* The shape of a number, a text, a table or a table of tables. */
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

/* Pushes element k, which must have a Lua type. */
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

/* int64 when all numbers are integers to Lua, else float64. */
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
    void *items = new_array(L, h, where);
    for (int64_t k = 0; k < ld_npy_count(&h); k++) {
        push_element(L, arg, &h, k, LUA_TNUMBER, where);
        check(L, where,
              lua_isinteger(L, -1) ? ld_npy_put_integer(items, h.type, k, lua_tointeger(L, -1))
                                   : ld_npy_put_number(items, h.type, k, lua_tonumber(L, -1)));
        lua_pop(L, 1);
    }
}

/* The longest text decides the size of all. */
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

/* Whether the first element of a table, or of the table that is its first element, is a string. */
static bool holds_texts(lua_State *L, int arg)
{
    int top = lua_gettop(L);
    int type = lua_rawgeti(L, arg, 1);
    if (type == LUA_TTABLE)
        type = lua_rawgeti(L, -1, 1);
    lua_settop(L, top);
    return type == LUA_TSTRING;
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
    if (!lua_istable(L, arg))
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

/* First everything that allocates, into a table that keeps it alive; then the list for core. */
ld_npy_array *bind_push_arrays(lua_State *L, int64_t *count, int arg, const char *where)
{
    int64_t i = 0;
    lua_newtable(L);
    int kept = lua_gettop(L);
    *count = 0;
    for (lua_pushnil(L); lua_next(L, arg); lua_settop(L, kept + 1), ++*count) {
        if (lua_type(L, kept + 1) != LUA_TSTRING)
            bind_error(L, "%s: names of arrays must be strings, got %s", where,
                       bind_show(L, kept + 1));
        const char *one = lua_pushfstring(L, "%s: \"%s\"", where, lua_tostring(L, kept + 1));
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

/* Gives the Array on top of the stack the option shape, which is at 2 where it is given. */
static void set_shape(lua_State *L, const char *where)
{
    ld_npy_array *a = lua_touserdata(L, -1);
    ld_npy_header h = a->header;
    int64_t sizes[LD_NPY_DIMENSIONS], count;
    if (!bind_option(L, 2, "shape")) {
        lua_pop(L, 1);
        return;
    }
    int n = lua_istable(L, -1) ? (int)lua_rawlen(L, -1) : -1;
    bool fits = n >= 0 && n <= LD_NPY_DIMENSIONS;
    for (int i = 0; fits && i < n; i++) {
        fits = lua_rawgeti(L, -1, i + 1) == LUA_TNUMBER && lua_isinteger(L, -1);
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
    lua_pop(L, 1);
    a->header = h;
}

int bind_convert_array(lua_State *L, const char *room, const char *name)
{
    static const char *const options[] = {"shape", NULL};
    ld_npy_type type = {0, 0};
    ld_tensor *t = bind_to_operand(L, 1);
    ld_index *x = bind_to_index(L, 1);
    ld_npy_type_named(&type, name);
    char where[32];
    snprintf(where, sizeof where, "%s.%s", room, name);
    bind_check_options(L, 2, where, options);
    if (!t && !x) {
        if (!lua_istable(L, 1) && lua_type(L, 1) != LUA_TNUMBER)
            bind_type_error(L, 1, "Tensor, Index, number or table");
        push_numbers(L, 1, &type, where);
        set_shape(L, where);
        return 1;
    }
    ld_npy_header h = bind_to_array(L, 1).header;
    h.type = type;
    void *items = new_array(L, h, where);
    int64_t n = ld_npy_count(&h);
    if (t)
        check(L, where, ld_npy_put_floats(items, type, t->data, 0, n));
    for (int64_t i = 0; x && i < n; i++)
        check(L, where, ld_npy_put_integer(items, type, i, x->data[i]));
    set_shape(L, where);
    return 1;
}

#define CONVERTER(name)                                                                            \
    static int array_##name(lua_State *L)                                                          \
    {                                                                                              \
        return bind_convert_array(L, "npz", #name);                                                \
    }

CONVERTER(bool)
CONVERTER(int8)
CONVERTER(int16)
CONVERTER(int32)
CONVERTER(int64)
CONVERTER(uint8)
CONVERTER(uint16)
CONVERTER(uint32)
CONVERTER(uint64)
CONVERTER(float16)
CONVERTER(float32)
CONVERTER(float64)

static int array_bytes(lua_State *L)
{
    if (!lua_istable(L, 1) && lua_type(L, 1) != LUA_TSTRING)
        bind_type_error(L, 1, "string or table");
    push_texts(L, 1, 'S', "npz.bytes");
    return 1;
}

static int array_tostring(lua_State *L)
{
    char type[LD_NPY_TEXT], shape[LD_NPY_TEXT];
    const ld_npy_array *a = bind_check_userdata(L, 1, BIND_ARRAY);
    lua_pushfstring(L, "Array %s, %s", ld_npy_type_name(type, a->header.type),
                    ld_npy_shape(shape, &a->header));
    return 1;
}

static int array_get(lua_State *L)
{
    return bind_no_field(L, BIND_ARRAY);
}

#define CONVERTER_ENTRY(name)                                                                        \
    {                                                                                                \
#name, array_##name,                                                                         \
            "npz." #name "(Tensor | Index | number | table [, {shape = {...}}]) -> Array\n"          \
            "The numbers as " #name ", to be written; an error when it cannot hold one of them.\n"   \
            "Elements of an Index count from 0 in files; other numbers stay as they are. shape is\n" \
            "another one for as many elements, of up to 4 dimensions: those before the last two 1."  \
    }

static const bind_function functions[] = {
    CONVERTER_ENTRY(bool),
    CONVERTER_ENTRY(int8),
    CONVERTER_ENTRY(int16),
    CONVERTER_ENTRY(int32),
    CONVERTER_ENTRY(int64),
    CONVERTER_ENTRY(uint8),
    CONVERTER_ENTRY(uint16),
    CONVERTER_ENTRY(uint32),
    CONVERTER_ENTRY(uint64),
    CONVERTER_ENTRY(float16),
    CONVERTER_ENTRY(float32),
    CONVERTER_ENTRY(float64),
    {"bytes", array_bytes,
     "npz.bytes(string | string[]) -> Array\n"
     "Texts as NumPy's bytes (S), to be written: a quarter of the size of the usual U."},
    {NULL, NULL, NULL},
};

void bind_open_array(lua_State *L)
{
    static const bind_function methods[] = {{NULL, NULL, NULL}};
    static const luaL_Reg meta[] = {{"__tostring", array_tostring}, {NULL, NULL}};
    static const char *const properties[] = {NULL};
    bind_class(L, BIND_ARRAY, methods, meta, properties, array_get);
    bind_functions(L, functions);
}

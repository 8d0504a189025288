/* safetensors: weights in files. The methods are those of npz archives. */
#include "io/array/safetensors.h"

#include <stdlib.h>
#include <string.h>

#include "io/bind_array.h"
#include "state/bind.h"

#define BIND_SAFETENSORS "ladies.Safetensors"

static ld_safetensors *opened(lua_State *L, int arg)
{
    return bind_object(L, arg, BIND_SAFETENSORS);
}

static int st_open(lua_State *L)
{
    static const char *const options[] = {"mapped", NULL};
    const char *path = bind_check_string(L, 1);
    bind_check_options(L, 2, "safetensors.open", options);
    bool mapped = bind_option_boolean(L, 2, "mapped", false);
    ld_safetensors **f = lua_newuserdatauv(L, sizeof *f, 0);
    *f = NULL;
    luaL_setmetatable(L, BIND_SAFETENSORS);
    bind_check(L, ld_safetensors_open(f, path));
    (*f)->least_mapped = mapped ? LD_NPY_LEAST_MAPPED : 0;
    return 1;
}

static void drop(void *file)
{
    ld_safetensors_close(file);
}

static int st_close(lua_State *L)
{
    bind_drop(L, bind_check_userdata(L, 1, BIND_SAFETENSORS), drop);
    return 0;
}

static int st_names(lua_State *L)
{
    const ld_safetensors *f = opened(L, 1);
    lua_newtable(L);
    for (int64_t i = 0; i < f->count; i++) {
        lua_pushstring(L, f->tensors[i].name);
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

static int st_has(lua_State *L)
{
    const ld_safetensors *f = opened(L, 1);
    lua_pushboolean(L, ld_safetensors_find(f, bind_check_string(L, 2)) != NULL);
    return 1;
}

static int st_metadata(lua_State *L)
{
    const ld_safetensors *f = opened(L, 1);
    lua_newtable(L);
    for (int64_t i = 0; i < f->n_texts; i++) {
        lua_pushstring(L, f->texts[i].value);
        lua_setfield(L, -2, f->texts[i].key);
    }
    return 1;
}

static ld_status begin(ld_npy_header *h, ld_source **s, void *file, const char *name)
{
    return ld_safetensors_read(h, s, file, name);
}

static int st_shape(lua_State *L)
{
    return bind_read_shape(L, opened(L, 1), begin);
}

static int st_dtype(lua_State *L)
{
    return bind_read_dtype(L, opened(L, 1), begin);
}

static int st_tensor(lua_State *L)
{
    return bind_read_array(L, opened(L, 1), begin, BIND_FORM_TENSOR);
}

static int st_index(lua_State *L)
{
    return bind_read_array(L, opened(L, 1), begin, BIND_FORM_INDEX);
}

static int st_numbers(lua_State *L)
{
    return bind_read_array(L, opened(L, 1), begin, BIND_FORM_NUMBERS);
}

static int st_rows(lua_State *L)
{
    return bind_read_array(L, opened(L, 1), begin, BIND_FORM_ROWS);
}

static int st_csr(lua_State *L)
{
    static const char *const names[] = {"offsets", "columns",   "n_rows", "n_cols",
                                        "checked", "symmetric", "looped", NULL};
    ld_safetensors *f = opened(L, 1);
    bind_check_type(L, 2, LUA_TTABLE);
    bind_check_options(L, 2, "csr", names);
    lua_settop(L, 2);
    lua_getfield(L, 2, "offsets");
    lua_getfield(L, 2, "columns");
    lua_getfield(L, 2, "n_rows");
    lua_getfield(L, 2, "n_cols");
    ld_mapped_csr given = {
        .offsets = bind_check_string(L, 3),
        .columns = bind_check_string(L, 4),
        .n_rows = bind_count(L, 5, "csr: n_rows"),
        .n_cols = bind_count(L, 6, "csr: n_cols"),
        .checked = bind_option_boolean(L, 2, "checked", false),
        .symmetric = bind_option_boolean(L, 2, "symmetric", false),
        .looped = bind_option_boolean(L, 2, "looped", false),
    };
    ld_csr **a = bind_new_matrix(L);
    bind_check(L, ld_safetensors_map_csr(a, f, &given));
    if (!*a)
        lua_pushnil(L);
    return 1;
}

static int st_identity(lua_State *L)
{
    char text[LD_FILE_IDENTITY];
    bind_check(L, ld_file_identity(text, opened(L, 1)->file));
    lua_pushstring(L, text);
    return 1;
}

static int st_text(lua_State *L)
{
    return bind_read_array(L, opened(L, 1), begin, BIND_FORM_TEXT);
}

static int st_tostring(lua_State *L)
{
    if (bind_push_closed(L, 1, BIND_SAFETENSORS))
        return 1;
    const ld_safetensors *f = opened(L, 1);
    lua_pushfstring(L, "Safetensors %s, %I tensor%s", f->file->label.text + strlen("safetensors: "),
                    (LUAI_UACINT)f->count, f->count == 1 ? "" : "s");
    return 1;
}

static int st_get(lua_State *L)
{
    return bind_no_field(L, BIND_SAFETENSORS);
}

/* The string at `arg`, which must have no zeros in it: core's texts end with one. */
static const char *check_text(lua_State *L, int arg, const char *what)
{
    size_t length = 0;
    const char *text = lua_type(L, arg) == LUA_TSTRING ? lua_tolstring(L, arg, &length) : NULL;
    if (!text || strlen(text) != length)
        bind_error(L, "safetensors.write: %s must be strings without zero bytes, got %s", what,
                   bind_show(L, arg));
    return text;
}

static int compare_keys(const void *a, const void *b)
{
    return strcmp(((const ld_safetensors_text *)a)->key, ((const ld_safetensors_text *)b)->key);
}

/* Pushes the option metadata and a list of its texts, sorted by key. */
static ld_safetensors_text *push_texts(lua_State *L, int64_t *count)
{
    *count = 0;
    bool given = bind_option(L, 3, "metadata");
    int table = lua_gettop(L);
    if (given && !lua_istable(L, table))
        bind_error(L, "safetensors.write: metadata must be a table of strings, got %s",
                   bind_show(L, table));
    for (lua_pushnil(L); given && lua_next(L, table); lua_pop(L, 1), ++*count) {
        check_text(L, -2, "keys of metadata");
        check_text(L, -1, "values of metadata");
    }
    lua_settop(L, table);
    ld_safetensors_text *texts = lua_newuserdatauv(L, (size_t)*count * sizeof *texts, 0);
    int64_t i = 0;
    for (lua_pushnil(L); given && lua_next(L, table); lua_pop(L, 1), i++)
        texts[i] = (ld_safetensors_text){lua_tostring(L, -2), lua_tostring(L, -1)};
    lua_settop(L, table + 1);
    qsort(texts, (size_t)*count, sizeof *texts, compare_keys);
    return texts;
}

static int st_write(lua_State *L)
{
    static const char *const options[] = {"metadata", NULL};
    const char *path = bind_check_string(L, 1);
    int64_t count, n_texts;
    bind_check_type(L, 2, LUA_TTABLE);
    bind_check_options(L, 3, "safetensors.write", options);
    lua_settop(L, 3);
    for (lua_pushnil(L); lua_next(L, 2); lua_pop(L, 1))
        check_text(L, -2, "names of tensors");
    const ld_npy_array *arrays = bind_push_arrays(L, &count, 2, "safetensors.write");
    const ld_safetensors_text *texts = push_texts(L, &n_texts);
    bind_check(L, ld_safetensors_write(path, arrays, count, texts, n_texts));
    return 0;
}

static int st_bfloat16(lua_State *L)
{
    return bind_convert_array(L, "safetensors", "bfloat16");
}

static const bind_function functions[] = {
    {"open", st_open,
     "safetensors.open(path [, {mapped = false}]) -> Safetensors\n"
     "Opens a .safetensors file for reading. What its header says is checked: tensors fill the\n"
     "file without overlaps or gaps, each as many bytes as its type and shape need.\n"
     "f:close(), a <close> variable or the collector closes it. With mapped = true, large F32 and\n"
     "I32 tensors become Tensors and Indexes over the file itself, as with npz.open."},
    {"write", st_write,
     "safetensors.write(path, {name = array, ...} [, {metadata = {key = text, ...}}])\n"
     "Writes a .safetensors file, byte for byte as Python's library does. Arrays are those of\n"
     "npz.write, but tables of strings, which the format does not have; metadata are texts beside\n"
     "them. The file appears whole or not at all."},
    {"bfloat16", st_bfloat16,
     "safetensors.bfloat16(Tensor | Index | number | table [, {shape = {...}}]) -> Array\n"
     "The numbers as bfloat16, the nearest ones, as npz.float16 has them; .npz files have no such."},
    {NULL, NULL, NULL},
};

static const bind_function methods[] = {
    {"names", st_names, "f:names() -> string[]\nThe names of the tensors, sorted."},
    {"has", st_has, "f:has(name) -> boolean\nWhether there is a tensor of this name."},
    {"metadata", st_metadata, "f:metadata() -> table\nThe texts beside the tensors, by key."},
    {"shape", st_shape,
     "f:shape(name) -> table\n"
     "The dimensions: {}, {n} or {n_rows, n_cols}; of more than two, those before are 1."},
    {"dtype", st_dtype,
     "f:dtype(name) -> string\n"
     "The type of the elements as NumPy prints it, float32 or int64; bfloat16 besides."},
    {"tensor", st_tensor,
     "f:tensor(name) -> Tensor\n"
     "Numbers of any type, rounded to float32; an error when a float64 is too large for that."},
    {"index", st_index,
     "f:index(name) -> Index\n"
     "Integers, as the method of npz archives: 0 reads as 1, -1 (none) as 0; booleans of one\n"
     "dimension, a mask, give the positions of those that are true."},
    {"numbers", st_numbers,
     "f:numbers(name) -> number | table\n"
     "Numbers of any type as they are in the file."},
    {"rows", st_rows,
     "f:rows(name) -> Rows\n"
     "Numbers of float16, bfloat16 or float32 in two dimensions that stay in the file, if it was\n"
     "opened with mapped = true and the array is large: a few rows at a time become a Tensor."},
    {"csr", st_csr,
     "f:csr({offsets = string, columns = string, n_rows =, n_cols =, checked = false,\n"
     "  symmetric = false, looped = false}) -> Matrix | nil\n"
     "The matrix of ones whose offsets, an I64 tensor of n_rows + 1, and columns, an I32 tensor, have\n"
     "these names: over the file itself, of any size; nil where they are of other types or small, or\n"
     "the file was not opened with mapped = true. Rows must be sorted, without a column twice: an\n"
     "error says where they are not. checked = true leaves that out, for a file of f:identity() that\n"
     "passed before; with symmetric or looped = true the matrix is known to be so without a look."},
    {"identity", st_identity,
     "f:identity() -> string\n"
     "Which file it is, and when it was last changed in any way: another text after every change."},
    {"text", st_text, "f:text(name) -> string\nA tensor of uint8 as one string."},
    {"close", st_close, "f:close()\nCloses the file; what was read stays."},
    {NULL, NULL, NULL},
};

void bind_open_safetensors(lua_State *L)
{
    static const luaL_Reg meta[] = {
        {"__gc", st_close}, {"__close", st_close}, {"__tostring", st_tostring}, {NULL, NULL}};
    static const char *const properties[] = {NULL};
    bind_class(L, BIND_SAFETENSORS, methods, meta, properties, st_get);
    lua_newtable(L);
    bind_functions(L, functions);
    lua_setfield(L, -2, "safetensors");
}

/* npz and npy: arrays in files. Reading pushes what Lua must own, then lets core read, then
 * converts. */
#include "io/array/npz.h"

#include <string.h>

#include "io/archive/gz.h"
#include "io/array/npy_values.h"
#include "io/bind_array.h"
#include "io/bind_pickle.h"
#include "state/bind.h"

#define BIND_NPZ "ladies.Npz"
#define BIND_GZ  "ladies.Gz"

/* --- archives --------------------------------------------------------------------------------- */

static ld_zip *archive(lua_State *L, int arg)
{
    return bind_object(L, arg, BIND_NPZ);
}

static int npz_open(lua_State *L)
{
    static const char *const options[] = {"mapped", NULL};
    const char *path = bind_check_string(L, 1);
    bind_check_options(L, 2, "npz.open", options);
    bool mapped = bind_option_boolean(L, 2, "mapped", false);
    ld_zip **z = lua_newuserdatauv(L, sizeof *z, 0);
    *z = NULL;
    luaL_setmetatable(L, BIND_NPZ);
    bind_check(L, ld_zip_open(z, path, "npz"));
    (*z)->least_mapped = mapped ? LD_NPY_LEAST_MAPPED : 0;
    return 1;
}

static void drop(void *archive)
{
    ld_zip_close(archive);
}

static int npz_close(lua_State *L)
{
    bind_drop(L, bind_check_userdata(L, 1, BIND_NPZ), drop);
    return 0;
}

static int npz_names(lua_State *L)
{
    ld_zip *z = archive(L, 1);
    lua_newtable(L);
    for (int64_t i = 0, count = 0; i < z->count; i++) {
        int length = ld_npz_name_length(&z->members[i]);
        if (length < 0)
            continue;
        lua_pushlstring(L, z->members[i].name, (size_t)length);
        lua_rawseti(L, -2, ++count);
    }
    return 1;
}

static int npz_has(lua_State *L)
{
    const ld_zip *z = archive(L, 1);
    lua_pushboolean(L, ld_npz_has(z, bind_check_string(L, 2)));
    return 1;
}

static ld_status begin(ld_npy_header *h, ld_source **s, void *file, const char *name)
{
    return ld_npz_read(h, s, file, name);
}

static int npz_shape(lua_State *L)
{
    return bind_read_shape(L, archive(L, 1), begin);
}

static int npz_dtype(lua_State *L)
{
    return bind_read_dtype(L, archive(L, 1), begin);
}

static int npz_tensor(lua_State *L)
{
    return bind_read_array(L, archive(L, 1), begin, BIND_FORM_TENSOR);
}

static int npz_index(lua_State *L)
{
    return bind_read_array(L, archive(L, 1), begin, BIND_FORM_INDEX);
}

static int npz_numbers(lua_State *L)
{
    return bind_read_array(L, archive(L, 1), begin, BIND_FORM_NUMBERS);
}

static int npz_strings(lua_State *L)
{
    return bind_read_array(L, archive(L, 1), begin, BIND_FORM_STRINGS);
}

static int npz_text(lua_State *L)
{
    return bind_read_array(L, archive(L, 1), begin, BIND_FORM_TEXT);
}

static int npz_rows(lua_State *L)
{
    return bind_read_array(L, archive(L, 1), begin, BIND_FORM_ROWS);
}

static int npz_object(lua_State *L)
{
    ld_npy_header h;
    ld_source *s;
    ld_zip *z = archive(L, 1);
    const char *name = bind_check_string(L, 2);
    ld_pickle **p = bind_new_pickle(L);
    lua_toclose(L, -1);
    bind_check(L, ld_npz_read(&h, &s, z, name));
    bind_check(L, ld_npy_expect(&h, s, "O", "object"));
    bind_check(L, ld_pickle_read(p, s));
    bind_push_pickle(L, *p);
    if (h.ndim == 0 && lua_istable(L, -1))
        lua_rawgeti(L, -1, 1);
    return 1;
}

static int npz_tostring(lua_State *L)
{
    if (bind_push_closed(L, 1, BIND_NPZ))
        return 1;
    const ld_zip *z = archive(L, 1);
    int64_t count = 0;
    for (int64_t i = 0; i < z->count; i++)
        count += ld_npz_name_length(&z->members[i]) >= 0;
    lua_pushfstring(L, "Npz %s, %I array%s", z->file->label.text + strlen("npz: "),
                    (LUAI_UACINT)count, count == 1 ? "" : "s");
    return 1;
}

static int npz_get(lua_State *L)
{
    return bind_no_field(L, BIND_NPZ);
}

static int npz_write(lua_State *L)
{
    static const char *const options[] = {"compress", NULL};
    const char *path = bind_check_string(L, 1);
    bind_check_type(L, 2, LUA_TTABLE);
    bind_check_options(L, 3, "npz.write", options);
    bool compress = bind_option_boolean(L, 3, "compress", true);
    int64_t count;
    const ld_npy_array *arrays = bind_push_arrays(L, &count, 2, "npz.write");
    bind_check(L, ld_npz_write(path, arrays, count, compress));
    return 0;
}

/* --- single arrays ---------------------------------------------------------------------------- */

static int gz_close(lua_State *L)
{
    ld_gz **g = bind_check_userdata(L, 1, BIND_GZ);
    ld_gz_close(*g);
    *g = NULL;
    return 0;
}

static int npy_read(lua_State *L)
{
    static const char *const options[] = {"as", NULL};
    const char *path = bind_check_string(L, 1), *name = NULL;
    const bind_form *as = NULL;
    bind_check_options(L, 2, "npy.read", options);
    if (bind_option(L, 2, "as"))
        name = bind_show(L, -1);
    for (int i = 0; name && i < BIND_FORMS; i++)
        as = strcmp(name, bind_forms[i].name) == 0 ? &bind_forms[i] : as;
    if (name && !as)
        return bind_error(L,
                          "npy.read: as must be \"tensor\", \"index\", \"numbers\", \"strings\" "
                          "or \"text\", got %s",
                          name);
    ld_npy_header h;
    ld_gz **g = lua_newuserdatauv(L, sizeof *g, 0);
    *g = NULL;
    luaL_setmetatable(L, BIND_GZ);
    lua_toclose(L, -1);
    bind_check(L, ld_gz_open(g, path, "npy"));
    bind_check(L, ld_npy_read_header(&h, &(*g)->source));
    if (!as)
        as = bind_natural_form(&h);
    void *place = as->prepare(L);
    bind_check(L, as->load(place, &h, &(*g)->source));
    if (as->convert)
        as->convert(L, &h, place);
    return 1;
}

static int npy_write(lua_State *L)
{
    const char *path = bind_check_string(L, 1);
    bind_check_any(L, 2);
    bind_push_array(L, 2, "npy.write");
    ld_npy_array array = bind_to_array(L, -1);
    bind_check(L, ld_npy_write(path, &array));
    return 0;
}

static const bind_function npz_functions[] = {
    {"open", npz_open,
     "npz.open(path [, {mapped = false}]) -> Npz\n"
     "Opens an .npz archive (stored or deflated members, zip64) for reading. Every member is "
     "checked\n"
     "when it is read: its lengths, its CRC, its header. f:close(), a <close> variable or the\n"
     "collector closes it. With mapped = true, large float32 and int32 arrays that are stored as\n"
     "they are (npz.write with compress = false) become Tensors and Indexes over the file itself,\n"
     "which must then not be shortened; changes stay in this process."},
    {"write", npz_write,
     "npz.write(path, {name = array, ...} [, {compress = true}])\n"
     "Writes an .npz archive that NumPy reads. An array is a Tensor (float32), an Index (int32, "
     "from\n"
     "0), a string (uint8), a number, a table of numbers or of equally long rows (int64 when all\n"
     "are integers, else float64), a table of strings (U), or npz.int16(...) and its like for\n"
     "another type. Names are sorted and no times stored: equal arrays give equal bytes. The file\n"
     "appears whole or not at all."},
    {NULL, NULL, NULL},
};

static const bind_function npz_methods[] = {
    {"names", npz_names, "f:names() -> string[]\nThe names of the arrays, sorted as members."},
    {"has", npz_has, "f:has(name) -> boolean\nWhether there is an array of this name."},
    {"shape", npz_shape,
     "f:shape(name) -> table\n"
     "The dimensions: {}, {n} or {n_rows, n_cols}; of more than two, those before are 1."},
    {"dtype", npz_dtype,
     "f:dtype(name) -> string\nThe type of the elements as NumPy prints it: float32, int64, <U12."},
    {"tensor", npz_tensor,
     "f:tensor(name) -> Tensor\n"
     "Numbers of any type, rounded to float32; an error when a float64 is too large for that. An\n"
     "array of objects, which holds pickled Python, is read by f:object."},
    {"index", npz_index,
     "f:index(name) -> Index\n"
     "Integers; of two dimensions row by row. Files count from 0 and Lua from 1, so 0 reads as 1,\n"
     "and -1 (none) as 0; values must lie in -1 .. 2^31 - 2. A mask, booleans of one dimension,\n"
     "gives the positions of those that are true."},
    {"numbers", npz_numbers,
     "f:numbers(name) -> number | table\n"
     "Numbers of any type as they are in the file."},
    {"strings", npz_strings, "f:strings(name) -> string | table\nTexts (U as UTF-8, S as it is)."},
    {"text", npz_text, "f:text(name) -> string\nAn array of uint8 as one string."},
    {"rows", npz_rows,
     "f:rows(name) -> Rows\n"
     "Numbers of float16, bfloat16 or float32 in two dimensions that stay in the file, if it was\n"
     "opened with mapped = true and the array is large: a few rows at a time become a Tensor."},
    {"object", npz_object,
     "f:object(name) -> value\n"
     "An array of objects, which is a pickle: a table of its elements, or the element where there\n"
     "is one without dimensions. pickle.load says what is read of it."},
    {"close", npz_close, "f:close()\nCloses the archive; what was read stays."},
    {NULL, NULL, NULL},
};

static const bind_function npy_functions[] = {
    {"read", npy_read,
     "npy.read(path [, {as = string}]) -> Tensor | Index | Matrix | table\n"
     "Reads an .npy file, also one packed with gzip. `as` is \"tensor\", \"index\", \"numbers\",\n"
     "\"strings\" or \"text\", as the methods of an npz archive; without it, integers of one\n"
     "dimension give an Index, other numbers a Tensor, texts strings."},
    {"write", npy_write,
     "npy.write(path, array: any)\nWrites an .npy file; arrays are those of npz.write."},
    {NULL, NULL, NULL},
};

void bind_open_npz(lua_State *L)
{
    static const luaL_Reg meta[] = {
        {"__gc", npz_close}, {"__close", npz_close}, {"__tostring", npz_tostring}, {NULL, NULL}};
    static const char *const properties[] = {NULL};
    bind_class(L, BIND_NPZ, npz_methods, meta, properties, npz_get);
    bind_open_forms(L);
    bind_hidden_class(L, BIND_GZ, gz_close);
    lua_newtable(L);
    bind_functions(L, npz_functions);
    bind_open_array(L);
    lua_setfield(L, -2, "npz");
    lua_newtable(L);
    bind_functions(L, npy_functions);
    lua_setfield(L, -2, "npy");
}

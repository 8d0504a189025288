/* ladies.npz and ladies.npy: arrays in files of NumPy's formats. Functions that read push the
 * userdata of the result first, then let core read, then convert, so that an error leaves nothing
 * behind. */
#include "io/array/npz.h"

#include <string.h>

#include "io/archive/gz.h"
#include "io/array/npy_values.h"
#include "io/bind_array.h"
#include "io/bind_pickle.h"
#include "state/bind.h"

/* --- archives --------------------------------------------------------------------------------- */

static ld_status npz_open(bind_call *c)
{
    ld_zip **z = (ld_zip **)bind_new_object(c->L, BIND_NPZ);
    bind_check(c->L, ld_zip_open(z, c->in[0].text, "npz"));
    (*z)->least_mapped = c->in[2].flag ? LD_NPY_LEAST_MAPPED : 0;
    return LD_OK;
}

static ld_status npz_names(bind_call *c)
{
    const ld_zip *z = c->in[0].object;
    lua_newtable(c->L);
    for (int64_t i = 0, count = 0; i < z->count; i++) {
        int length = ld_npz_name_length(&z->members[i]);
        if (length < 0)
            continue;
        lua_pushlstring(c->L, z->members[i].name, (size_t)length);
        lua_rawseti(c->L, -2, ++count);
    }
    return LD_OK;
}

static ld_status npz_has(bind_call *c)
{
    c->out[0].flag = ld_npz_has(c->in[0].object, c->in[1].text);
    return LD_OK;
}

static ld_status npz_object(bind_call *c)
{
    ld_npy_header h;
    ld_source *s;
    ld_pickle **p = bind_new_pickle(c->L);
    lua_toclose(c->L, -1);
    bind_check(c->L, ld_npz_read(&h, &s, c->in[0].object, c->in[1].text));
    bind_check(c->L, ld_npy_expect(&h, s, "O", "object"));
    bind_check(c->L, ld_pickle_read(p, s));
    bind_push_pickle(c->L, *p);
    if (h.ndim == 0 && lua_istable(c->L, -1))
        lua_rawgeti(c->L, -1, 1);
    return LD_OK;
}

static void npz_describe(lua_State *L, const void *object)
{
    const ld_zip *z = object;
    int64_t count = 0;
    for (int64_t i = 0; i < z->count; i++)
        count += ld_npz_name_length(&z->members[i]) >= 0;
    lua_pushfstring(L, "Npz %s, %I array%s", z->file->label.text + strlen("npz: "),
                    (LUAI_UACINT)count, count == 1 ? "" : "s");
}

static ld_status npz_write(bind_call *c)
{
    int64_t count;
    const ld_npy_array *arrays = bind_push_arrays(c->L, &count, 2, "npz.write");
    return ld_npz_write(c->in[0].text, arrays, count, c->in[3].flag);
}

/* --- single arrays ---------------------------------------------------------------------------- */

static ld_status npy_read(bind_call *c)
{
    const bind_form *as = NULL;
    const char *name = lua_isnil(c->L, 3) ? NULL : bind_show(c->L, 3);
    for (int i = 0; name && i < BIND_FORMS; i++)
        as = strcmp(name, bind_forms[i].name) == 0 ? &bind_forms[i] : as;
    if (name && !as)
        return ld_fail(LD_VALUE,
                       "npy.read: as must be \"tensor\", \"index\", \"numbers\", "
                       "\"strings\", \"text\" or \"rows\", got %s",
                       name);
    ld_npy_header h;
    ld_gz **g = (ld_gz **)bind_new_object(c->L, BIND_INPUT);
    lua_toclose(c->L, -1);
    bind_check(c->L, ld_gz_open(g, c->in[0].text, "npy"));
    bind_check(c->L, ld_npy_read_header(&h, &(*g)->source));
    return bind_load(c, as ? as : bind_natural_form(&h), &h, &(*g)->source);
}

static ld_status npy_write(bind_call *c)
{
    if (c->given < 2)
        bind_arg_error(c->L, 2, "value expected");
    bind_push_array(c->L, 2, "npy.write");
    ld_npy_array array = bind_to_array(c->L, -1);
    return ld_npy_write(c->in[0].text, &array);
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
    {"has", npz_has,
     "f:has(name) -> boolean\n"
     "True if there is an array of this name."},
    {"shape", bind_read_shape,
     "f:shape(name) -> table\n"
     "The dimensions: {}, {n} or {n_rows, n_cols}; of more than two, those before are 1."},
    {"dtype", bind_read_dtype,
     "f:dtype(name) -> string\nThe type of the elements as NumPy prints it: float32, int64, <U12."},
    {"tensor", bind_read_array,
     "f:tensor(name) -> Tensor\n"
     "Numbers of any type, rounded to float32; an error when a float64 is too large for that. An\n"
     "array of objects, which holds pickled Python, is read by f:object.",
     .kind = BIND_FORM_TENSOR},
    {"index", bind_read_array,
     "f:index(name) -> Index\n"
     "Integers; of two dimensions row by row. Files count from 0 and Lua from 1, so 0 reads as 1,\n"
     "and -1 (none) as 0; values must lie in -1 .. 2^31 - 2. A mask, booleans of one dimension,\n"
     "gives the positions of those that are true.",
     .kind = BIND_FORM_INDEX},
    {"numbers", bind_read_array,
     "f:numbers(name) -> number | table\n"
     "Numbers of any type as they are in the file.",
     .kind = BIND_FORM_NUMBERS},
    {"strings", bind_read_array,
     "f:strings(name) -> string | table\nTexts (U as UTF-8, S as it is).",
     .kind = BIND_FORM_STRINGS},
    {"text", bind_read_array, "f:text(name) -> string\nAn array of uint8 as one string.",
     .kind = BIND_FORM_TEXT},
    {"rows", bind_read_array,
     "f:rows(name) -> Rows\n"
     "Numbers of float16, bfloat16 or float32 in two dimensions that stay in the file, if it was\n"
     "opened with mapped = true and the array is large: a few rows at a time become a Tensor.",
     .kind = BIND_FORM_ROWS},
    {"object", npz_object,
     "f:object(name) -> value\n"
     "An array of objects, which is a pickle: a table of its elements, or the element where there\n"
     "is one without dimensions. pickle.load says what is read of it."},
    {"close", NULL, "f:close()\nCloses the archive; what was read stays.", .raw = bind_close},
    {NULL, NULL, NULL},
};

static const bind_function npy_functions[] = {
    {"read", npy_read,
     "npy.read(path [, {as = string}]) -> Tensor | Index | Rows | table | string | number\n"
     "Reads an .npy file, also one packed with gzip. `as` is \"tensor\", \"index\", \"numbers\",\n"
     "\"strings\", \"text\" or \"rows\", as the methods of an npz archive; without it, integers of\n"
     "one dimension give an Index, other numbers a Tensor, texts strings."},
    {"write", npy_write,
     "npy.write(path, array: any)\nWrites an .npy file; arrays are those of npz.write."},
    {NULL, NULL, NULL},
};

static const bind_class npz_class = {
    .name = BIND_NPZ,
    .drop = ld_zip_drop,
    .closes = true,
    .methods = npz_methods,
    .describe = npz_describe,
};

const bind_subject bind_subject_npz = {
    .classes = {&npz_class}, .functions = {{npz_functions, "npz"}, {npy_functions, "npy"}}};

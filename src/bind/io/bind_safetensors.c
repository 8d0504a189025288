/* safetensors: weights in files. The methods are those of npz archives. */
#include "io/array/safetensors_write.h"

#include <stdlib.h>
#include <string.h>

#include "io/bind_array.h"
#include "state/bind.h"

#define BIND_SAFETENSORS "ladies.Safetensors"

static ld_status st_open(bind_call *c)
{
    ld_safetensors **f = (ld_safetensors **)bind_new_object(c->L, BIND_SAFETENSORS);
    bind_check(c->L, ld_safetensors_open(f, c->in[0].text));
    (*f)->least_mapped = c->in[2].flag ? LD_NPY_LEAST_MAPPED : 0;
    return LD_OK;
}

static ld_status st_names(bind_call *c)
{
    const ld_safetensors *f = c->in[0].object;
    lua_newtable(c->L);
    for (int64_t i = 0; i < f->count; i++) {
        lua_pushstring(c->L, f->tensors[i].name);
        lua_rawseti(c->L, -2, i + 1);
    }
    return LD_OK;
}

static ld_status st_has(bind_call *c)
{
    c->out[0].flag = ld_safetensors_find(c->in[0].object, c->in[1].text) != NULL;
    return LD_OK;
}

static ld_status st_metadata(bind_call *c)
{
    const ld_safetensors *f = c->in[0].object;
    lua_newtable(c->L);
    for (int64_t i = 0; i < f->n_texts; i++) {
        lua_pushstring(c->L, f->texts[i].value);
        lua_setfield(c->L, -2, f->texts[i].key);
    }
    return LD_OK;
}

static ld_status st_csr(bind_call *c)
{
    ld_mapped_csr given = {
        .offsets = c->in[2].text,
        .columns = c->in[3].text,
        .n_rows = c->in[4].integer,
        .n_cols = c->in[5].integer,
        .checked = c->in[6].flag,
        .symmetric = c->in[7].flag,
        .looped = c->in[8].flag,
    };
    ld_csr **a = bind_new_matrix(c->L);
    bind_check(c->L, ld_safetensors_map_csr(a, c->in[0].object, &given));
    if (!*a)
        lua_pushnil(c->L);
    return LD_OK;
}

static ld_status st_identity(bind_call *c)
{
    char text[LD_FILE_IDENTITY];
    const ld_safetensors *f = c->in[0].object;
    bind_check(c->L, ld_file_identity(text, f->file));
    lua_pushstring(c->L, text);
    return LD_OK;
}

static void st_describe(lua_State *L, const void *object)
{
    const ld_safetensors *f = object;
    lua_pushfstring(L, "Safetensors %s, %I tensor%s", f->file->label.text + strlen("safetensors: "),
                    (LUAI_UACINT)f->count, f->count == 1 ? "" : "s");
}

static void check_text(lua_State *L, int at, const char *what)
{
    if (!bind_is_text(L, at))
        bind_error(L,
                   "safetensors.write: %s of metadata must be strings without zero bytes, got %s",
                   what, bind_show(L, at));
}

static int compare_keys(const void *a, const void *b)
{
    return strcmp(((const ld_safetensors_text *)a)->key, ((const ld_safetensors_text *)b)->key);
}

/* Pushes a list of the texts of the option metadata, which is at 4, sorted by key. */
static ld_safetensors_text *push_texts(lua_State *L, int64_t *count)
{
    *count = 0;
    int table = 4, top = lua_gettop(L);
    bool given = !lua_isnil(L, table);
    if (given && !lua_istable(L, table))
        bind_error(L, "safetensors.write: metadata must be a table of strings, got %s",
                   bind_show(L, table));
    for (lua_pushnil(L); given && lua_next(L, table); lua_pop(L, 1), ++*count) {
        check_text(L, -2, "keys");
        check_text(L, -1, "values");
    }
    lua_settop(L, top);
    ld_safetensors_text *texts = lua_newuserdatauv(L, (size_t)*count * sizeof *texts, 0);
    int64_t i = 0;
    for (lua_pushnil(L); given && lua_next(L, table); lua_pop(L, 1), i++)
        texts[i] = (ld_safetensors_text){lua_tostring(L, -2), lua_tostring(L, -1)};
    lua_settop(L, top + 1);
    qsort(texts, (size_t)*count, sizeof *texts, compare_keys);
    return texts;
}

static ld_status st_write(bind_call *c)
{
    int64_t count, n_texts;
    const ld_npy_array *arrays = bind_push_arrays(c->L, &count, 2, "safetensors.write");
    const ld_safetensors_text *texts = push_texts(c->L, &n_texts);
    return ld_safetensors_write(c->in[0].text, arrays, count, texts, n_texts);
}

static const bind_function functions[] = {
    {"open", st_open,
     "safetensors.open(path [, {mapped = false}]) -> Safetensors\n"
     "Opens a .safetensors file for reading. What its header says is checked: tensors fill the\n"
     "file without overlaps or gaps, each as many bytes as its type and shape need.\n"
     "f:close(), a <close> variable or the collector closes it. With mapped = true, large F32 and\n"
     "I32 tensors become Tensors and Indexes over the file itself, as with npz.open."},
    {"write", st_write,
     "safetensors.write(path, {name = array, ...} [, {metadata = any}])\n"
     "Writes a .safetensors file, byte for byte as Python's library does. Arrays are those of\n"
     "npz.write, but tables of strings, which the format does not have; metadata are texts beside\n"
     "them. The file appears whole or not at all."},
    {"bfloat16", bind_convert_array,
     "safetensors.bfloat16(Tensor | Index | number | table [, {shape = any}]) -> Array\n"
     "The nearest numbers of bfloat16, as npz.float16 has those of float16; .npz files cannot\n"
     "hold them.",
     .kind = BIND_BFLOAT16},
    {NULL, NULL, NULL},
};

static const bind_function methods[] = {
    {"names", st_names, "f:names() -> string[]\nThe names of the tensors, sorted."},
    {"has", st_has,
     "f:has(name) -> boolean\n"
     "True if there is a tensor of this name."},
    {"metadata", st_metadata, "f:metadata() -> table\nThe texts beside the tensors, by key."},
    {"shape", bind_read_shape,
     "f:shape(name) -> table\n"
     "The dimensions: {}, {n} or {n_rows, n_cols}; of more than two, those before are 1."},
    {"dtype", bind_read_dtype,
     "f:dtype(name) -> string\n"
     "The type of the elements as NumPy prints it, float32 or int64; bfloat16 besides."},
    {"tensor", bind_read_array,
     "f:tensor(name) -> Tensor\n"
     "Numbers of any type, rounded to float32; an error when a float64 is too large for that.",
     .kind = BIND_FORM_TENSOR},
    {"index", bind_read_array,
     "f:index(name) -> Index\n"
     "Integers, as the method of npz archives: 0 reads as 1, -1 (none) as 0; booleans of one\n"
     "dimension, a mask, give the positions of those that are true.",
     .kind = BIND_FORM_INDEX},
    {"numbers", bind_read_array,
     "f:numbers(name) -> number | table\n"
     "Numbers of any type as they are in the file.",
     .kind = BIND_FORM_NUMBERS},
    {"rows", bind_read_array,
     "f:rows(name) -> Rows\n"
     "Numbers of float16, bfloat16 or float32 in two dimensions that stay in the file, if it was\n"
     "opened with mapped = true and the array is large: a few rows at a time become a Tensor.",
     .kind = BIND_FORM_ROWS},
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
     "A text that tells which file this is and when it was last changed: every change makes\n"
     "another."},
    {"text", bind_read_array, "f:text(name) -> string\nA tensor of uint8 as one string.",
     .kind = BIND_FORM_TEXT},
    {"close", NULL, "f:close()\nCloses the file; what was read stays.", .raw = bind_close},
    {NULL, NULL, NULL},
};

static const bind_class class = {
    .name = BIND_SAFETENSORS,
    .drop = ld_safetensors_drop,
    .closes = true,
    .methods = methods,
    .describe = st_describe,
};

const bind_subject bind_subject_safetensors = {.classes = {&class},
                                               .functions = {{functions, "safetensors"}}};

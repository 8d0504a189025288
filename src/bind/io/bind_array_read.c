/* Arrays of files as Lua values. A form is one of the kinds of value that an array can become: a
 * Tensor, an Index, Rows, tables of numbers or strings, or one string. */
#include <string.h>

#include "io/array/npy_values.h"
#include "io/array/npz.h"
#include "io/array/safetensors.h"
#include "io/bind_array.h"
#include "memory/memory.h"

static ld_status load_rows(void *place, const ld_npy_header *h, ld_source *s)
{
    return ld_npy_read_rows(place, h, s);
}

static ld_status load_tensor(void *place, const ld_npy_header *h, ld_source *s)
{
    return ld_npy_read_tensor(place, h, s);
}

static ld_status load_index(void *place, const ld_npy_header *h, ld_source *s)
{
    return ld_npy_read_ids(place, h, s);
}

static ld_status load_numbers(void *place, const ld_npy_header *h, ld_source *s)
{
    void **buffer = place;
    LD_CHECK(ld_npy_expect(h, s, "biufB", "numbers")); /* or nothing bounds the room */
    *buffer = ld_alloc_array(ld_npy_count(h), sizeof(double), LD_MEM_IO);
    if (!*buffer)
        return LD_NOMEM;
    return ld_npy_is_float(h->type) ? ld_npy_read_doubles(*buffer, h, s)
                                    : ld_npy_read_integers(*buffer, h, s);
}

static ld_status load_strings(void *place, const ld_npy_header *h, ld_source *s)
{
    void **buffer = place;
    LD_CHECK(ld_npy_expect(h, s, "US", "texts (U or S)"));
    *buffer = ld_alloc((size_t)ld_npy_bytes(h), LD_MEM_IO);
    return *buffer ? ld_npy_read_texts(*buffer, h, s) : LD_NOMEM;
}

static ld_status load_text(void *place, const ld_npy_header *h, ld_source *s)
{
    void **buffer = place;
    LD_CHECK(ld_npy_expect(h, s, h->type.size == 1 ? "u" : "", "uint8"));
    *buffer = ld_alloc((size_t)ld_npy_bytes(h), LD_MEM_IO);
    return *buffer ? ld_npy_read_bytes(*buffer, h, s) : LD_NOMEM;
}

typedef void push_function(lua_State *L, const ld_npy_header *h, const void *items, int64_t k);

static void push_number(lua_State *L, const ld_npy_header *h, const void *items, int64_t k)
{
    if (ld_npy_is_float(h->type))
        lua_pushnumber(L, ((const double *)items)[k]);
    else
        lua_pushinteger(L, ((const int64_t *)items)[k]);
}

static void push_string(lua_State *L, const ld_npy_header *h, const void *items, int64_t k)
{
    const char *text = (const char *)items + k * h->type.size;
    lua_pushlstring(L, text, (size_t)ld_npy_text_length(text, h->type.size));
}

static void push_table(lua_State *L, int64_t size)
{
    lua_createtable(L, size <= INT32_MAX ? (int)size : 0, 0);
}

/* Pushes the elements by the array's dimensions: one element for 0, a table for 1, a table of
 * tables for 2. The table is empty whenever there are no elements. */
static void push_elements(lua_State *L, const ld_npy_header *h, const void *items,
                          push_function *push)
{
    if (h->ndim == 0) {
        push(L, h, items, 0);
        return;
    }
    int64_t n_rows = ld_npy_count(h) > 0 ? h->n_rows : 0;
    push_table(L, n_rows);
    for (int64_t r = 0; r < n_rows; r++) {
        if (h->ndim == 1) {
            push(L, h, items, r);
        } else {
            push_table(L, h->n_cols);
            for (int64_t c = 0; c < h->n_cols; c++) {
                push(L, h, items, r * h->n_cols + c);
                lua_rawseti(L, -2, c + 1);
            }
        }
        lua_rawseti(L, -2, r + 1);
    }
}

/* Frees the buffer below the top of the stack, which may be large, without waiting for the
 * collector, and leaves the top. */
static void drop_buffer(lua_State *L, void **buffer)
{
    ld_free(*buffer);
    *buffer = NULL;
    lua_remove(L, -2);
}

static void convert_numbers(lua_State *L, const ld_npy_header *h, void *place)
{
    push_elements(L, h, *(void **)place, push_number);
    drop_buffer(L, place);
}

static void convert_strings(lua_State *L, const ld_npy_header *h, void *place)
{
    push_elements(L, h, *(void **)place, push_string);
    drop_buffer(L, place);
}

static void convert_text(lua_State *L, const ld_npy_header *h, void *place)
{
    lua_pushlstring(L, *(void **)place, (size_t)ld_npy_bytes(h));
    drop_buffer(L, place);
}

const bind_form bind_forms[BIND_FORMS] = {
    {"tensor", BIND_TENSOR, load_tensor, NULL},
    {"index", BIND_INDEX, load_index, NULL},
    {"numbers", BIND_BUFFER, load_numbers, convert_numbers},
    {"strings", BIND_BUFFER, load_strings, convert_strings},
    {"text", BIND_BUFFER, load_text, convert_text},
    {"rows", BIND_ROWS, load_rows, NULL},
};

ld_status bind_load(bind_call *c, const bind_form *as, const ld_npy_header *h, ld_source *s)
{
    bool is_made = c->n_made > 0;
    void *place = is_made ? (void *)c->out[0].tensor : bind_new_object(c->L, as->type);
    bind_check(c->L, as->load(place, h, s));
    if (as->convert)
        as->convert(c->L, h, place);
    return LD_OK;
}

void bind_push_shape(lua_State *L, const ld_npy_header *h)
{
    lua_createtable(L, h->ndim, 0);
    for (int i = 1; i <= h->ndim; i++) {
        bool is_last = i == h->ndim && i > 1;
        lua_pushinteger(L, is_last ? h->n_cols : i >= h->ndim - 1 ? h->n_rows : 1);
        lua_rawseti(L, -2, i);
    }
}

/* Begins to read the array that a call of a method of an open file names. */
static void begin(bind_call *c, ld_npy_header *h, ld_source **s)
{
    const char *name = c->in[1].text;
    bool is_npz = strcmp(c->class->name, BIND_NPZ) == 0;
    bind_check(c->L, is_npz ? ld_npz_read(h, s, c->in[0].object, name)
                            : ld_safetensors_read(h, s, c->in[0].object, name));
}

ld_status bind_read_array(bind_call *c)
{
    ld_npy_header h;
    ld_source *s;
    begin(c, &h, &s);
    return bind_load(c, &bind_forms[c->kind], &h, s);
}

ld_status bind_read_shape(bind_call *c)
{
    ld_npy_header h;
    ld_source *s;
    begin(c, &h, &s);
    bind_push_shape(c->L, &h);
    return LD_OK;
}

ld_status bind_read_dtype(bind_call *c)
{
    char text[LD_NPY_TEXT];
    ld_npy_header h;
    ld_source *s;
    begin(c, &h, &s);
    lua_pushstring(c->L, ld_npy_type_name(text, h.type));
    return LD_OK;
}

const bind_form *bind_natural_form(const ld_npy_header *h)
{
    switch (h->type.kind) {
    case 'U':
    case 'S': return &bind_forms[BIND_FORM_STRINGS];
    case 'i':
    case 'u': return &bind_forms[h->ndim == 1 ? BIND_FORM_INDEX : BIND_FORM_TENSOR];
    default: return &bind_forms[BIND_FORM_TENSOR];
    }
}

static const bind_class class = {.name = BIND_BUFFER, .drop = ld_free, .closes = true};

const bind_subject bind_subject_forms = {.classes = {&class}};

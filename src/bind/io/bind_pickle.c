/* pickle: what Python wrote, as far as it is data. */
#include "io/bind_pickle.h"

#include <math.h>

#include "io/bind_array.h"

#define BIND_PICKLE  "ladies.Pickle"
#define BIND_PICKLED "ladies.PickledArray"

/* --- arrays ----------------------------------------------------------------------------------- */

/* An array holds on to the pickle whose bytes it is made of. */
typedef struct {
    ld_pickle *owner;
    const ld_pickle_array *array;
} pickled;

static pickled *pickled_array(lua_State *L)
{
    bind_object(L, 1, BIND_PICKLED);
    return lua_touserdata(L, 1);
}

static void drop(void *owner)
{
    ld_pickle_unref(owner);
}

static int pickled_gc(lua_State *L)
{
    bind_drop(L, bind_check_userdata(L, 1, BIND_PICKLED), drop);
    return 0;
}

static void push_pickled(lua_State *L, ld_pickle *p, const ld_pickle_array *array)
{
    pickled *a = lua_newuserdatauv(L, sizeof *a, 0);
    *a = (pickled){ld_pickle_ref(p), array};
    luaL_setmetatable(L, BIND_PICKLED);
}

static int read_pickled(lua_State *L, const bind_form *as)
{
    pickled a = *pickled_array(L);
    const ld_npy_header *h = &a.array->header;
    void *place = as->prepare(L);
    ld_memory_source s = ld_memory_source_of(a.array->data, ld_npy_bytes(h), a.owner->name);
    bind_check(L, as->load(place, h, &s.source));
    if (as->convert)
        as->convert(L, h, place);
    return 1;
}

static int pickled_tensor(lua_State *L)
{
    return read_pickled(L, &bind_forms[BIND_FORM_TENSOR]);
}

static int pickled_index(lua_State *L)
{
    return read_pickled(L, &bind_forms[BIND_FORM_INDEX]);
}

static int pickled_numbers(lua_State *L)
{
    return read_pickled(L, &bind_forms[BIND_FORM_NUMBERS]);
}

static int pickled_strings(lua_State *L)
{
    return read_pickled(L, &bind_forms[BIND_FORM_STRINGS]);
}

static int pickled_shape(lua_State *L)
{
    const ld_npy_header *h = &pickled_array(L)->array->header;
    int64_t sizes[] = {h->n_rows, h->n_cols};
    lua_createtable(L, h->ndim, 0);
    for (int i = 0; i < h->ndim; i++) {
        lua_pushinteger(L, sizes[i]);
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

static int pickled_dtype(lua_State *L)
{
    char text[LD_NPY_TEXT];
    lua_pushstring(L, ld_npy_type_name(text, pickled_array(L)->array->header.type));
    return 1;
}

static int pickled_tostring(lua_State *L)
{
    char shape[LD_NPY_TEXT], type[LD_NPY_TEXT];
    if (bind_push_closed(L, 1, BIND_PICKLED))
        return 1;
    const ld_npy_header *h = &pickled_array(L)->array->header;
    lua_pushfstring(L, "PickledArray %s, %s", ld_npy_shape(shape, h),
                    ld_npy_type_name(type, h->type));
    return 1;
}

static int pickled_get(lua_State *L)
{
    return bind_no_field(L, BIND_PICKLED);
}

/* --- values ----------------------------------------------------------------------------------- */

/* A walk through the tree in the order in which values are met. Each value that is an object in
 * Lua is made once and kept in the table at `seen` under its number, value.visit; those that have
 * elements form a queue, linked by value.next, and are filled in turn. So depth costs nothing, and
 * cycles and shared values come out as they were. */
typedef struct {
    lua_State *L;
    ld_pickle *p;
    int seen;
    int32_t count;
    ld_pickle_value **tail;
    int64_t budget;
} walk;

static void fail_walk(walk *w, const char *what)
{
    bind_error(w->L, "%s: %s", w->p->name, what);
}

/* Pushes what is an object in Lua; a table is still empty. */
static void push_object(walk *w, ld_pickle_value *v)
{
    lua_State *L = w->L;
    switch (v->kind) {
    case LD_PICKLE_BYTES:
    case LD_PICKLE_TEXT: lua_pushlstring(L, v->bytes.data, (size_t)v->bytes.size); return;
    case LD_PICKLE_LIST:
    case LD_PICKLE_TUPLE: lua_createtable(L, (int)v->list.count, 0); break;
    case LD_PICKLE_DICT: lua_newtable(L); break;
    case LD_PICKLE_ARRAY:
        if (!v->array)
            fail_walk(w, "an array has no elements");
        push_pickled(L, w->p, v->array);
        return;
    case LD_PICKLE_MATRIX: {
        ld_csr **a = bind_new_matrix(L);
        bind_check(L, ld_pickle_matrix(a, w->p, v, &w->budget));
        return;
    }
    default:
        bind_error(L, "%s: holds %s, which is not data", w->p->name, ld_pickle_kind_name(v->kind));
    }
    *w->tail = v;
    w->tail = &v->next;
}

static void push_value(walk *w, ld_pickle_value *v)
{
    lua_State *L = w->L;
    switch (v->kind) {
    case LD_PICKLE_NONE: lua_pushlightuserdata(L, NULL); return;
    case LD_PICKLE_BOOL: lua_pushboolean(L, v->truth); return;
    case LD_PICKLE_INTEGER: lua_pushinteger(L, v->integer); return;
    case LD_PICKLE_NUMBER: lua_pushnumber(L, v->number); return;
    default: break;
    }
    if (v->visit > 0) {
        lua_rawgeti(L, w->seen, v->visit);
        return;
    }
    push_object(w, v);
    v->visit = ++w->count;
    lua_pushvalue(L, -1);
    lua_rawseti(L, w->seen, v->visit);
}

/* Pushes the key of a dict. */
static void push_key(walk *w, ld_pickle_value *v)
{
    bool fits = v->kind == LD_PICKLE_BOOL || v->kind == LD_PICKLE_INTEGER ||
                (v->kind == LD_PICKLE_NUMBER && !isnan(v->number)) || v->kind == LD_PICKLE_BYTES ||
                v->kind == LD_PICKLE_TEXT;
    if (!fits)
        bind_error(w->L, "%s: a dict has %s as a key; numbers and texts are read", w->p->name,
                   ld_pickle_kind_name(v->kind));
    push_value(w, v);
}

/* Fills the table on top of the stack. */
static void fill(walk *w, ld_pickle_value *v)
{
    lua_State *L = w->L;
    for (int64_t i = 0; i < v->list.count; i++) {
        if (v->kind == LD_PICKLE_DICT) {
            push_key(w, v->list.items[i++]);
            push_value(w, v->list.items[i]);
            lua_rawset(L, -3);
        } else {
            push_value(w, v->list.items[i]);
            lua_rawseti(L, -2, i + 1);
        }
    }
}

void bind_push_pickle(lua_State *L, ld_pickle *p)
{
    ld_pickle_value *first = NULL;
    luaL_checkstack(L, 8, "pickle");
    lua_newtable(L);
    walk w = {L, p, lua_gettop(L), 0, &first, p->size};
    push_value(&w, p->root);
    for (ld_pickle_value *v = first; v; v = v->next) {
        bind_check(L, ld_poll());
        lua_rawgeti(L, w.seen, v->visit);
        fill(&w, v);
        lua_pop(L, 1);
    }
    lua_remove(L, w.seen);
}

/* --- module ----------------------------------------------------------------------------------- */

static int pickle_gc(lua_State *L)
{
    ld_pickle **p = bind_check_userdata(L, 1, BIND_PICKLE);
    ld_pickle_unref(*p);
    *p = NULL;
    return 0;
}

ld_pickle **bind_new_pickle(lua_State *L)
{
    bind_collect(L);
    ld_pickle **p = lua_newuserdatauv(L, sizeof *p, 0);
    *p = NULL;
    luaL_setmetatable(L, BIND_PICKLE);
    return p;
}

static int pickle_load(lua_State *L)
{
    const char *path = bind_check_string(L, 1);
    ld_pickle **p = bind_new_pickle(L);
    lua_toclose(L, -1);
    bind_check(L, ld_pickle_load(p, path));
    bind_push_pickle(L, *p);
    return 1;
}

static int pickle_decode(lua_State *L)
{
    size_t size;
    const char *bytes = bind_check_lstring(L, 1, &size);
    ld_pickle **p = bind_new_pickle(L);
    lua_toclose(L, -1);
    bind_check(L, ld_pickle_decode(p, bytes, (int64_t)size, "pickle"));
    bind_push_pickle(L, *p);
    return 1;
}

static const bind_function functions[] = {
    {"load", pickle_load,
     "pickle.load(path) -> value\n"
     "What a file holds that Python pickled, protocols 0 to 5, as far as it is data. Nothing in it\n"
     "is run: only a fixed list of classes is known (arrays, scalars and dtypes of NumPy, sparse\n"
     "matrices of SciPy in CSR, CSC and COO form, defaultdict), and any other is an error that names\n"
     "it. Numbers, texts and bytes are themselves, lists, tuples and dicts tables, None is\n"
     "pickle.none, an array a PickledArray (see its tensor, index, numbers, strings), a sparse matrix\n"
     "a Matrix. Integers are as in the file: ids from 0."},
    {"decode", pickle_decode,
     "pickle.decode(bytes: string) -> value\nThe same for a pickle that is a string already."},
    {NULL, NULL, NULL},
};

static const bind_function pickled_methods[] = {
    {"shape", pickled_shape, "a:shape() -> table\nThe dimensions: {}, {n} or {n_rows, n_cols}."},
    {"dtype", pickled_dtype,
     "a:dtype() -> string\nThe type of the elements as NumPy prints it: float32, int64, <U12."},
    {"tensor", pickled_tensor, "a:tensor() -> Tensor\nNumbers of any type, rounded to float32."},
    {"index", pickled_index,
     "a:index() -> Index\nIntegers of one dimension, counted from 1 where the file has them from "
     "0."},
    {"numbers", pickled_numbers,
     "a:numbers() -> number | table\nNumbers of any type as they are in the file."},
    {"strings", pickled_strings, "a:strings() -> string | table\nTexts (U as UTF-8, S as it is)."},
    {NULL, NULL, NULL},
};

void bind_open_pickle(lua_State *L)
{
    static const luaL_Reg meta[] = {
        {"__gc", pickled_gc}, {"__tostring", pickled_tostring}, {NULL, NULL}};
    static const char *const properties[] = {NULL};
    bind_hidden_class(L, BIND_PICKLE, pickle_gc);
    bind_class(L, BIND_PICKLED, pickled_methods, meta, properties, pickled_get);
    lua_newtable(L);
    bind_functions(L, functions);
    lua_pushlightuserdata(L, NULL);
    lua_setfield(L, -2, "none");
    lua_setfield(L, -2, "pickle");
}

/* ladies.pickle: reads files that Python pickled, as far as they hold data, without running any
 * code in them. */
#include "io/bind_pickle.h"

#include <math.h>

#include "io/bind_array.h"

#define BIND_PICKLE  "ladies.Pickle"
#define BIND_PICKLED "ladies.PickledArray"

/* --- arrays ----------------------------------------------------------------------------------- */

/* A PickledArray; it keeps the pickle alive, since its elements lie in the pickle's bytes. */
typedef struct {
    ld_pickle *owner;
    const ld_pickle_array *array;
} pickled;

static void push_pickled(lua_State *L, ld_pickle *p, const ld_pickle_array *array)
{
    pickled *a = lua_newuserdatauv(L, sizeof *a, 0);
    *a = (pickled){ld_pickle_ref(p), array};
    luaL_setmetatable(L, BIND_PICKLED);
}

/* Returns the array whose method is called. The object in c is only the pickle that owns it. */
static const ld_pickle_array *array_of(const bind_call *c)
{
    return ((const pickled *)lua_touserdata(c->L, 1))->array;
}

static ld_status pickled_read(bind_call *c)
{
    const ld_pickle *owner = c->in[0].object;
    const ld_pickle_array *a = array_of(c);
    ld_memory_source s = ld_memory_source_of(a->data, ld_npy_bytes(&a->header), owner->name);
    return bind_load(c, &bind_forms[c->kind], &a->header, &s.source);
}

static ld_status pickled_shape(bind_call *c)
{
    bind_push_shape(c->L, &array_of(c)->header);
    return LD_OK;
}

static ld_status pickled_dtype(bind_call *c)
{
    char text[LD_NPY_TEXT];
    lua_pushstring(c->L, ld_npy_type_name(text, array_of(c)->header.type));
    return LD_OK;
}

static void pickled_describe(lua_State *L, const void *owner)
{
    char shape[LD_NPY_TEXT], type[LD_NPY_TEXT];
    const ld_npy_header *h = &((const pickled *)lua_touserdata(L, 1))->array->header;
    (void)owner;
    lua_pushfstring(L, "PickledArray %s, %s", ld_npy_shape(shape, h),
                    ld_npy_type_name(type, h->type));
}

/* --- values ----------------------------------------------------------------------------------- */

/* A walk through the pickle's tree that makes a Lua value of each node. Each value that is an
 * object in Lua is made once and kept in the table at `seen` under its number, value.visit. Those
 * that have elements form a queue, linked by value.next, and are filled in turn. So deep nesting
 * needs no recursion, and cycles and shared values come out as they were. */
typedef struct {
    lua_State *L;
    ld_pickle *p;
    int seen;
    int32_t count;
    ld_pickle_value **tail;
    int64_t budget;
} walk;

/* Pushes a new Lua object for a value, such as a string, a table or a Matrix. A table is still
 * empty and joins the queue. */
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
            bind_error(L, "%s: an array has no elements", w->p->name);
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

/* Pushes the key of a dict, which must be a number, a boolean or a string: other keys would not be
 * found in a Lua table. */
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

/* Fills the table on top of the stack with the elements of a list, a tuple or a dict. */
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

ld_pickle **bind_new_pickle(lua_State *L)
{
    return (ld_pickle **)bind_new_object(L, BIND_PICKLE);
}

static ld_status pickle_load(bind_call *c)
{
    ld_pickle **p = bind_new_pickle(c->L);
    lua_toclose(c->L, -1);
    bind_check(c->L, ld_pickle_load(p, c->in[0].text));
    bind_push_pickle(c->L, *p);
    return LD_OK;
}

static ld_status pickle_decode(bind_call *c)
{
    ld_pickle **p = bind_new_pickle(c->L);
    lua_toclose(c->L, -1);
    bind_check(c->L, ld_pickle_decode(p, c->in[0].text, (int64_t)lua_rawlen(c->L, 1), "pickle"));
    bind_push_pickle(c->L, *p);
    return LD_OK;
}

static const bind_function functions[] = {
    {"load", pickle_load,
     "pickle.load(path) -> value\n"
     "Reads a file that Python pickled, protocols 0 to 5, as far as it holds data. Nothing in it\n"
     "is run: only a fixed list of classes is known (arrays, scalars and dtypes of NumPy, sparse\n"
     "matrices of SciPy in CSR, CSC and COO form, defaultdict), and any other is an error that\n"
     "names it. Numbers, texts and bytes are themselves, lists, tuples and dicts tables, None is\n"
     "pickle.none, an array a PickledArray (see its tensor, index, numbers, strings), a sparse\n"
     "matrix a Matrix. Integers are as in the file: ids from 0."},
    {"decode", pickle_decode,
     "pickle.decode(text) -> value\n"
     "Reads a pickle that is a string already, as pickle.load does a file."},
    {NULL, NULL, NULL},
};

static const bind_function pickled_methods[] = {
    {"shape", pickled_shape, "a:shape() -> table\nThe dimensions: {}, {n} or {n_rows, n_cols}."},
    {"dtype", pickled_dtype,
     "a:dtype() -> string\nThe type of the elements as NumPy prints it: float32, int64, <U12."},
    {"tensor", pickled_read, "a:tensor() -> Tensor\nNumbers of any type, rounded to float32.",
     .kind = BIND_FORM_TENSOR},
    {"index", pickled_read,
     "a:index() -> Index\nIntegers of one dimension, counted from 1 where the file has them from "
     "0.",
     .kind = BIND_FORM_INDEX},
    {"numbers", pickled_read,
     "a:numbers() -> number | table\nNumbers of any type as they are in the file.",
     .kind = BIND_FORM_NUMBERS},
    {"strings", pickled_read, "a:strings() -> string | table\nTexts (U as UTF-8, S as it is).",
     .kind = BIND_FORM_STRINGS},
    {NULL, NULL, NULL},
};

static const bind_class pickled_class = {
    .name = BIND_PICKLED,
    .drop = ld_pickle_drop,
    .methods = pickled_methods,
    .describe = pickled_describe,
};

static const bind_class pickle_class = {
    .name = BIND_PICKLE, .drop = ld_pickle_drop, .closes = true};

static void add_none(lua_State *L)
{
    lua_getfield(L, -1, "pickle");
    lua_pushlightuserdata(L, NULL);
    lua_setfield(L, -2, "none");
    lua_pop(L, 1);
}

const bind_subject bind_subject_pickle = {.classes = {&pickle_class, &pickled_class},
                                          .functions = {{functions, "pickle"}},
                                          .more = add_none};

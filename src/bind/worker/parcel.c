/* What parcels are made of; pack.c fills them, unpack.c empties them. */
#include "worker/parcel.h"

#include <string.h>

#include "base/memory.h"
#include "grad/tape.h"
#include "sample/alias.h"

#define BIND_PARCEL "ladies.Parcel"

/* --- shared objects ---------------------------------------------------------------------------- */

/* Every state has a tensor of its own, over the one storage. */
static ld_status share_tensor(void **out, void *object)
{
    ld_tensor *t = object, *view = NULL;
    ld_status st = ld_tensor_freeze(t);
    if (st == LD_OK)
        st = ld_tensor_view(&view, t, t->ndim, t->n_rows, t->n_cols);
    *out = view;
    return st;
}

static void drop_tensor(void *object)
{
    ld_tensor_unref(object);
}

static ld_status share_index(void **out, void *object)
{
    *out = ld_index_ref(object);
    return LD_OK;
}

static void drop_index(void *object)
{
    ld_index_unref(object);
}

static ld_status share_rows(void **out, void *object)
{
    *out = ld_rows_ref(object);
    return LD_OK;
}

static void drop_rows(void *object)
{
    ld_rows_unref(object);
}

static ld_status share_matrix(void **out, void *object)
{
    if (ld_csr_wants_grad(object))
        return ld_fail(LD_STATE, "the matrix carries a gradient; use :detach()");
    ld_status st = ld_csr_freeze(object);
    *out = st == LD_OK ? ld_csr_ref(object) : NULL;
    return st;
}

static void drop_matrix(void *object)
{
    ld_csr_unref(object);
}

static ld_status share_alias(void **out, void *object)
{
    *out = ld_alias_ref(object);
    return LD_OK;
}

static void drop_alias(void *object)
{
    ld_alias_unref(object);
}

const bind_shared_class bind_shared_classes[] = {
    {BIND_TENSOR, share_tensor, drop_tensor}, {BIND_INDEX, share_index, drop_index},
    {BIND_ROWS, share_rows, drop_rows},       {BIND_MATRIX, share_matrix, drop_matrix},
    {BIND_ALIAS, share_alias, drop_alias},    {NULL, NULL, NULL},
};

/* --- parcels ----------------------------------------------------------------------------------- */

/* Makes room for `more` elements after the first n. */
static ld_status reserve(void **array, size_t *capacity, size_t n, size_t more, size_t element)
{
    if (more <= *capacity - n)
        return LD_OK;
    size_t wanted = n + more > 2 * *capacity ? n + more + 64 : 2 * *capacity;
    void *larger = ld_alloc_array((int64_t)wanted, element, LD_MEM_SCRATCH);
    if (!larger)
        return LD_NOMEM;
    if (n > 0)
        memcpy(larger, *array, n * element);
    ld_free(*array);
    *array = larger;
    *capacity = wanted;
    return LD_OK;
}

ld_status bind_parcel_write(bind_parcel *p, const void *bytes, size_t n)
{
    ld_status st = reserve((void **)&p->bytes, &p->capacity, p->size, n, 1);
    if (st != LD_OK)
        return st;
    if (n > 0)
        memcpy(p->bytes + p->size, bytes, n);
    p->size += n;
    return LD_OK;
}

ld_status bind_parcel_add(bind_parcel *p, const bind_shared_class *class, void *object)
{
    ld_status st =
        reserve((void **)&p->objects, &p->object_capacity, p->n_objects, 1, sizeof *p->objects);
    void *shared = NULL;
    if (st == LD_OK)
        st = class->share(&shared, object);
    if (st == LD_OK)
        p->objects[p->n_objects++] = (bind_shared_object){class, shared};
    return st;
}

void bind_parcel_free(bind_parcel *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->n_objects; i++)
        p->objects[i].class->drop(p->objects[i].object);
    ld_free(p->objects);
    ld_free(p->bytes);
    ld_free(p);
}

static int parcel_release(lua_State *L)
{
    bind_parcel **p = bind_check_userdata(L, 1, BIND_PARCEL);
    bind_parcel_free(*p);
    *p = NULL;
    return 0;
}

bind_parcel **bind_new_parcel(lua_State *L)
{
    bind_parcel **p = lua_newuserdatauv(L, sizeof *p, 0);
    *p = NULL;
    luaL_setmetatable(L, BIND_PARCEL);
    return p;
}

void bind_open_parcels(lua_State *L)
{
    bind_hidden_class(L, BIND_PARCEL, parcel_release);
}

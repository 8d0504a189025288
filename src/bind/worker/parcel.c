/* Parcels as containers: their bytes, and the objects of core that several states share.
 * parcel_pack.c fills them, parcel_unpack.c empties them. */
#include "worker/parcel.h"

#include <string.h>

#include "grad/tape.h"
#include "memory/memory.h"
#include "sample/alias.h"

#define BIND_PARCEL "ladies.Parcel"

/* --- shared objects --------------------------------------------------------------------------- */

/* Makes another tensor over t's memory, which is frozen: every state has a tensor of its own. */
static ld_status share_tensor(void **out, void *object)
{
    ld_tensor *t = object, *view = NULL;
    ld_status st = ld_tensor_freeze(t);
    if (st == LD_OK)
        st = ld_tensor_view(&view, t, t->ndim, t->n_rows, t->n_cols);
    *out = view;
    return st;
}

static ld_status share_index(void **out, void *object)
{
    *out = ld_index_ref(object);
    return LD_OK;
}

static ld_status share_rows(void **out, void *object)
{
    *out = ld_rows_ref(object);
    return LD_OK;
}

static ld_status share_matrix(void **out, void *object)
{
    if (ld_csr_wants_grad(object))
        return ld_fail(LD_STATE, "the matrix carries a gradient; use :detach()");
    ld_status st = ld_csr_freeze(object);
    *out = st == LD_OK ? ld_csr_ref(object) : NULL;
    return st;
}

static ld_status share_alias(void **out, void *object)
{
    *out = ld_alias_ref(object);
    return LD_OK;
}

const bind_shared_class bind_shared_classes[] = {
    {BIND_TENSOR, share_tensor, ld_tensor_drop}, {BIND_INDEX, share_index, ld_index_drop},
    {BIND_ROWS, share_rows, ld_rows_drop},       {BIND_MATRIX, share_matrix, ld_csr_drop},
    {BIND_ALIAS, share_alias, ld_alias_drop},    {NULL, NULL, NULL},
};

/* --- parcels ---------------------------------------------------------------------------------- */

ld_status bind_parcel_write(bind_parcel *p, const void *bytes, size_t n)
{
    LD_CHECK(ld_reserve(&p->bytes, &p->capacity, (int64_t)p->size, (int64_t)n, 1, LD_MEM_SCRATCH));
    if (n > 0)
        memcpy(p->bytes + p->size, bytes, n);
    p->size += n;
    return LD_OK;
}

ld_status bind_parcel_add(bind_parcel *p, const bind_shared_class *class, void *object)
{
    void *shared = NULL;
    LD_CHECK(ld_reserve(&p->objects, &p->object_capacity, (int64_t)p->n_objects, 1,
                        sizeof *p->objects, LD_MEM_SCRATCH));
    LD_CHECK(class->share(&shared, object));
    p->objects[p->n_objects++] = (bind_shared_object){class, shared};
    return LD_OK;
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

bind_parcel **bind_new_parcel(lua_State *L)
{
    return (bind_parcel **)bind_new_object(L, BIND_PARCEL);
}

static const bind_class class = {.name = BIND_PARCEL, .drop = bind_parcel_drop, .closes = true};

const bind_subject bind_subject_parcels = {.classes = {&class}};

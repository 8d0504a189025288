#include "tensor/tensor.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "memory/memory.h"

/* Makes storage over `data`. This is a block, which it takes, freeing it after a failure too, or
 * memory in a mapping. */
static ld_status storage_over(ld_storage **out, float *data, int64_t size, ld_mapping *mapping)
{
    ld_storage *s = ld_calloc_array(1, sizeof *s, LD_MEM_TENSOR);
    if (!s) {
        if (!mapping)
            ld_free(data);
        return LD_NOMEM;
    }
    atomic_init(&s->refs, 1);
    s->data = data;
    s->size = size;
    s->mapping = mapping ? ld_mapping_ref(mapping) : NULL;
    *out = s;
    return LD_OK;
}

static ld_status storage_in_memory(ld_storage **out, int64_t size)
{
    float *block = ld_alloc_array(size, sizeof *block, LD_MEM_TENSOR);
    return block ? storage_over(out, block, size, NULL) : LD_NOMEM;
}

/* Makes storage that a room counts, in memory or in the file, which it takes over. */
static ld_status storage_counted(ld_storage **out, int64_t size, ld_room *room, ld_mapping *file)
{
    int64_t bytes = size * (int64_t)sizeof(float);
    ld_status st =
        file ? storage_over(out, (float *)file->data, size, file) : storage_in_memory(out, size);
    if (st == LD_OK)
        (*out)->room = ld_room_ref(room);
    else
        ld_room_give(room, bytes, file);
    ld_mapping_unref(file);
    return st;
}

/* Makes storage that a room counts, in memory or in a file of the room. */
static ld_status storage_in_room(ld_storage **out, int64_t size, ld_room *room)
{
    ld_mapping *file;
    LD_CHECK(ld_room_take(&file, room, size * (int64_t)sizeof(float)));
    return storage_counted(out, size, room, file);
}

/* Makes storage in a file of the room, new where `file` is NULL, which it takes over. */
static ld_status storage_in_file(ld_storage **out, int64_t size, ld_room *room, ld_mapping *file)
{
    LD_CHECK(ld_room_take_file(&file, room, size * (int64_t)sizeof(float)));
    return storage_counted(out, size, room, file);
}

/* Makes storage of its own. A size whose bytes no int64_t holds goes to ld_alloc, which refuses it
 * with a message. */
static ld_status storage_new(ld_storage **out, int64_t size)
{
    int64_t bytes;
    bool counted = !__builtin_mul_overflow(size, (int64_t)sizeof(float), &bytes);
    ld_room *room = counted ? ld_room_for(bytes) : NULL;
    return room ? storage_in_room(out, size, room) : storage_in_memory(out, size);
}

static ld_storage *storage_ref(ld_storage *s)
{
    atomic_fetch_add_explicit(&s->refs, 1, memory_order_relaxed);
    return s;
}

static void storage_unref(ld_storage *s)
{
    if (s && atomic_fetch_sub_explicit(&s->refs, 1, memory_order_acq_rel) == 1) {
        if (s->within) { /* whose are the memory, its mapping and its room */
            storage_unref(s->within);
            ld_free(s);
            return;
        }
        if (s->room)
            ld_room_give(s->room, s->size * (int64_t)sizeof(float), s->mapping);
        ld_room_unref(s->room);
        if (s->mapping)
            ld_mapping_unref(s->mapping);
        else
            ld_free(s->data);
        ld_free(s);
    }
}

/* Makes a tensor over `storage`, whose reference it takes over. */
static ld_status header_new(ld_tensor **out, ld_storage *storage, float *data, int ndim,
                            int64_t n_rows, int64_t n_cols)
{
    ld_tensor *t = ld_calloc_array(1, sizeof *t, LD_MEM_TENSOR);
    if (!t) {
        storage_unref(storage);
        return LD_NOMEM;
    }
    atomic_init(&t->refs, 1);
    t->ndim = ndim;
    t->n_rows = n_rows;
    t->n_cols = n_cols;
    t->data = data;
    t->storage = storage;
    *out = t;
    return LD_OK;
}

static ld_status check_shape(int ndim, int64_t n_rows, int64_t n_cols)
{
    if (n_rows < 0 || n_cols < 0 || n_rows > INT32_MAX || n_cols > INT32_MAX)
        return ld_fail(LD_SHAPE, "tensor: a dimension must be 0 to %d, got %" PRId64 " x %" PRId64,
                       INT32_MAX, n_rows, n_cols);
    if (ndim != 2 && !(ndim == 1 && n_cols == 1))
        return ld_fail(LD_SHAPE, "tensor: one or two dimensions expected, got %d", ndim);
    return LD_OK;
}

ld_status ld_tensor_new(ld_tensor **out, int ndim, int64_t n_rows, int64_t n_cols)
{
    ld_storage *storage;
    LD_CHECK(check_shape(ndim, n_rows, n_cols));
    LD_CHECK(storage_new(&storage, n_rows * n_cols));
    return header_new(out, storage, storage->data, ndim, n_rows, n_cols);
}

ld_status ld_tensor_of_block(ld_tensor **out, float *block, int ndim, int64_t n_rows,
                             int64_t n_cols)
{
    LD_FREED float *given = block;
    ld_storage *storage;
    LD_CHECK(check_shape(ndim, n_rows, n_cols));
    LD_CHECK(storage_over(&storage, ld_take(&given), n_rows * n_cols, NULL));
    return header_new(out, storage, storage->data, ndim, n_rows, n_cols);
}

ld_status ld_tensor_over(ld_tensor **out, int ndim, int64_t n_rows, int64_t n_cols, float *data,
                         ld_mapping *mapping)
{
    ld_storage *storage;
    LD_CHECK(check_shape(ndim, n_rows, n_cols));
    LD_CHECK(storage_over(&storage, data, n_rows * n_cols, mapping));
    return header_new(out, storage, data, ndim, n_rows, n_cols);
}

ld_status ld_tensor_full(ld_tensor **out, int ndim, int64_t n_rows, int64_t n_cols, float value)
{
    ld_tensor *t;
    LD_CHECK(ld_tensor_new(&t, ndim, n_rows, n_cols));
    for (int64_t i = 0, n = ld_tensor_size(t); i < n; i++)
        t->data[i] = value;
    *out = t;
    return LD_OK;
}

ld_status ld_tensor_like(ld_tensor **out, const ld_tensor *t)
{
    return ld_tensor_new(out, t->ndim, t->n_rows, t->n_cols);
}

ld_status ld_tensor_view(ld_tensor **out, ld_tensor *t, int ndim, int64_t n_rows, int64_t n_cols)
{
    LD_CHECK(check_shape(ndim, n_rows, n_cols));
    if (n_rows * n_cols != ld_tensor_size(t))
        return ld_fail(LD_SHAPE, "reshape: %s does not hold %" PRId64 " x %" PRId64 " elements",
                       ld_tensor_shape(t), n_rows, n_cols);
    return header_new(out, storage_ref(t->storage), t->data, ndim, n_rows, n_cols);
}

ld_status ld_tensor_slice(ld_tensor **out, ld_tensor *t, int64_t first, int64_t count)
{
    if (first < 0 || count < 0 || first > t->n_rows - count)
        return ld_fail(LD_RANGE, "slice: rows %" PRId64 "..%" PRId64 " of a tensor of %" PRId64,
                       first + 1, first + count, t->n_rows);
    return header_new(out, storage_ref(t->storage), t->data + first * t->n_cols, t->ndim, count,
                      t->n_cols);
}

ld_status ld_tensor_clone(ld_tensor **out, const ld_tensor *t)
{
    LD_CHECK(ld_tensor_like(out, t));
    memcpy((*out)->data, t->data, (size_t)ld_tensor_size(t) * sizeof(float));
    return LD_OK;
}

ld_tensor *ld_tensor_ref(ld_tensor *t)
{
    if (t)
        atomic_fetch_add_explicit(&t->refs, 1, memory_order_relaxed);
    return t;
}

void ld_tensor_unref(ld_tensor *t)
{
    if (t && atomic_fetch_sub_explicit(&t->refs, 1, memory_order_acq_rel) == 1) {
        storage_unref(t->storage);
        ld_tensor_unref(t->grad);
        ld_free(t);
    }
}

void ld_tensor_release(ld_tensor *t)
{
    storage_unref(t->storage);
    ld_tensor_unref(t->grad);
    t->storage = NULL;
    t->grad = NULL;
    t->data = NULL;
    t->has_grad = false;
}

ld_status ld_tensor_freeze(ld_tensor *t)
{
    LD_CHECK(ld_tensor_check(t, "freeze"));
    if (t->requires_grad || t->step != 0)
        return ld_fail(LD_STATE, "the tensor %s %s; use :detach():clone()", ld_tensor_shape(t),
                       t->requires_grad ? "requires a gradient" : "belongs to a step");
    if (t->storage->in_optimizer)
        return ld_fail(LD_STATE, "the tensor %s shares the memory of an optimizer",
                       ld_tensor_shape(t));
    atomic_store_explicit(&t->storage->frozen, true, memory_order_relaxed);
    return LD_OK;
}

bool ld_tensor_is_frozen(const ld_tensor *t)
{
    return atomic_load_explicit(&t->storage->frozen, memory_order_relaxed);
}

ld_status ld_tensor_check_change(const ld_tensor *t)
{
    if (!ld_tensor_is_frozen(t))
        return LD_OK;
    return ld_fail(
        LD_STATE,
        "the tensor %s is frozen: others, such as workers or draw_cols, read it; change a "
        ":clone()",
        ld_tensor_shape(t));
}

static atomic_ullong time_now;

uint64_t ld_tensor_time(void)
{
    return atomic_load_explicit(&time_now, memory_order_relaxed);
}

ld_status ld_tensor_change(ld_tensor *t)
{
    LD_CHECK(ld_tensor_check_change(t));
    ld_storage_whole(t->storage)->changed =
        1 + atomic_fetch_add_explicit(&time_now, 1, memory_order_relaxed);
    return LD_OK;
}

bool ld_tensor_has_views(const ld_tensor *t)
{
    return t->storage && atomic_load(&t->storage->refs) > 1;
}

/* Makes storage for a part of `whole`, an optimizer's, which counts its own views. */
static ld_status storage_within(ld_storage **out, ld_storage *whole, float *data, int64_t size)
{
    ld_storage *s = ld_calloc_array(1, sizeof *s, LD_MEM_TENSOR);
    if (!s)
        return LD_NOMEM;
    atomic_init(&s->refs, 1);
    s->in_optimizer = whole->in_optimizer;
    s->data = data;
    s->size = size;
    s->mapping = whole->mapping;
    s->room = whole->room;
    s->within = storage_ref(whole);
    *out = s;
    return LD_OK;
}

ld_status ld_tensor_part(ld_tensor **out, ld_tensor *slab, int64_t first, const ld_tensor *shape)
{
    int64_t size = ld_tensor_size(shape);
    ld_storage *part;
    if (first < 0 || first > ld_tensor_size(slab) - size)
        return ld_fail(LD_RANGE, "part: %" PRId64 " elements from %" PRId64 " on of %" PRId64, size,
                       first + 1, ld_tensor_size(slab));
    ld_status st = storage_within(&part, ld_storage_whole(slab->storage), slab->data + first, size);
    return st == LD_OK
               ? header_new(out, part, part->data, shape->ndim, shape->n_rows, shape->n_cols)
               : st;
}

ld_status ld_tensor_check_move(const ld_tensor *t)
{
    LD_CHECK(ld_tensor_check_change(t));
    if (ld_tensor_has_views(t))
        return ld_fail(LD_STATE,
                       "a tensor of %s cannot become a parameter of an optimizer while a view of "
                       "it (a slice, another shape) is in use; keep a clone instead of the view",
                       ld_tensor_shape(t));
    return LD_OK;
}

void ld_tensor_move(ld_tensor *t, ld_tensor *to)
{
    memcpy(to->data, t->data, (size_t)ld_tensor_size(t) * sizeof(float));
    storage_unref(t->storage);
    t->storage = storage_ref(to->storage);
    t->data = to->data;
}

static ld_status move_to_file(ld_tensor *t, ld_room *room)
{
    ld_storage *file;
    LD_CHECK(storage_in_file(&file, ld_tensor_size(t), room, NULL));
    memcpy(file->data, t->data, (size_t)ld_tensor_size(t) * sizeof(float));
    storage_unref(t->storage);
    t->storage = file;
    t->data = file->data;
    return LD_OK;
}

ld_status ld_tensor_keep(ld_tensor *t, ld_room *room, const char *path)
{
    if (ld_tensor_has_views(t) || t->storage->size != ld_tensor_size(t) || ld_tensor_size(t) == 0)
        return ld_fail(LD_STATE, "a tensor of %s shares its memory with others",
                       ld_tensor_shape(t));
    if (!t->storage->room || !t->storage->mapping)
        LD_CHECK(move_to_file(t, room));
    if (!path)
        return LD_OK;
    LD_CHECK(ld_tensor_freeze(t));
    return ld_mapping_keep(t->storage->mapping, path);
}

ld_status ld_tensor_kept(ld_tensor **out, ld_room *room, const char *path, int ndim, int64_t n_rows,
                         int64_t n_cols)
{
    ld_mapping *file;
    ld_storage *storage;
    LD_CHECK(check_shape(ndim, n_rows, n_cols));
    LD_CHECK(ld_mapping_kept(&file, path, n_rows * n_cols * (int64_t)sizeof(float)));
    LD_CHECK(storage_in_file(&storage, n_rows * n_cols, room, file));
    LD_CHECK(header_new(out, storage, storage->data, ndim, n_rows, n_cols));
    return ld_tensor_freeze(*out);
}

ld_status ld_tensor_check(const ld_tensor *t, const char *where)
{
    if (t->storage)
        return LD_OK;
    return ld_fail(LD_STATE, "%s: the tensor %s belongs to a closed step; use :detach() to keep it",
                   where, ld_tensor_shape(t));
}

const char *ld_tensor_shape(const ld_tensor *t)
{
    static _Thread_local char text[4][48];
    static _Thread_local unsigned turn;
    char *s = text[turn++ % 4];
    if (t->ndim == 1)
        snprintf(s, sizeof text[0], "%" PRId64, t->n_rows);
    else
        snprintf(s, sizeof text[0], "%" PRId64 " x %" PRId64, t->n_rows, t->n_cols);
    return s;
}

/* Changes of a tensor's elements in place. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "random/philox.h"
#include "system/threads.h"
#include "tensor/tensor.h"

enum { GRAIN = 1 << 16, LANES = LD_PHILOX_LANES };

typedef struct {
    float *data;
    float a, b;
    ld_stream stream;
    bool normal;
} random_fill;

static void fill_random(void *ctx, int64_t begin, int64_t end)
{
    random_fill *f = ctx;
    uint32_t words[4 * LANES];
    for (int64_t first = begin; first < end; first += LANES) {
        int64_t n = end - first < LANES ? end - first : LANES;
        ld_philox_lanes(words, f->stream, (uint64_t)first);
        for (int64_t i = 0; i < n; i++) {
            uint64_t u = (uint64_t)words[LANES + i] << 32 | words[i];
            uint64_t v = (uint64_t)words[3 * LANES + i] << 32 | words[2 * LANES + i];
            double x = f->normal ? ld_normal_of_bits(u, v) : ld_uniform_of_bits(u);
            f->data[first + i] = (float)(f->a + f->b * x);
        }
    }
}

ld_status ld_tensor_normal(ld_tensor *t, float deviation, ld_rng *rng)
{
    random_fill f = {t->data, 0.0f, deviation, ld_rng_next(rng), true};
    return ld_parallel_for(ld_tensor_size(t), GRAIN, fill_random, &f);
}

ld_status ld_tensor_uniform(ld_tensor *t, float low, float high, ld_rng *rng)
{
    random_fill f = {t->data, low, high - low, ld_rng_next(rng), false};
    return ld_parallel_for(ld_tensor_size(t), GRAIN, fill_random, &f);
}

void ld_tensor_fill(ld_tensor *t, float value)
{
    for (int64_t i = 0, n = ld_tensor_size(t); i < n; i++)
        t->data[i] = value;
}

ld_status ld_tensor_copy(ld_tensor *t, const ld_tensor *from)
{
    if (!ld_tensor_same_shape(t, from))
        return ld_fail(LD_SHAPE, "copy_: %s into %s", ld_tensor_shape(from), ld_tensor_shape(t));
    memmove(t->data, from->data, (size_t)ld_tensor_size(t) * sizeof(float));
    return LD_OK;
}

/* Puts a copy of *from in its place, which *own keeps, if a change of t one element after the other
 * would change what is read of it. */
static ld_status separate(const ld_tensor **from, ld_tensor **own, const ld_tensor *t)
{
    if (!*from || ld_storage_whole((*from)->storage) != ld_storage_whole(t->storage))
        return LD_OK;
    LD_CHECK(ld_tensor_clone(own, *from));
    *from = *own;
    return LD_OK;
}

ld_status ld_tensor_copy_rows(ld_tensor *t, const ld_index *at, const ld_tensor *rows)
{
    LD_OWN(ld_tensor) *own = NULL;
    if (rows->n_rows != at->size || rows->n_cols != t->n_cols)
        return ld_fail(LD_SHAPE, "copy_rows_: rows of %s at %" PRId64 " positions into %s",
                       ld_tensor_shape(rows), at->size, ld_tensor_shape(t));
    LD_CHECK(ld_index_check(at, 0, t->n_rows, "copy_rows_: row"));
    LD_CHECK(separate(&rows, &own, t));
    for (int64_t i = 0; i < at->size; i++)
        memcpy(t->data + at->data[i] * t->n_cols, rows->data + i * t->n_cols,
               (size_t)t->n_cols * sizeof(float));
    return LD_OK;
}

static ld_status check_at(const ld_tensor *t, const ld_index *at, const ld_tensor *by,
                          const char *name)
{
    char what[32];
    if (t->ndim != 1)
        return ld_fail(LD_SHAPE, "%s: a vector expected, the tensor is %s", name,
                       ld_tensor_shape(t));
    if (by && (by->ndim != 1 || by->n_rows != at->size))
        return ld_fail(LD_SHAPE, "%s: a tensor of %s for %" PRId64 " positions", name,
                       ld_tensor_shape(by), at->size);
    snprintf(what, sizeof what, "%s: position", name);
    return ld_index_check(at, 0, t->n_rows, what);
}

ld_status ld_tensor_add_at(ld_tensor *t, const ld_index *at, const ld_tensor *by, float number)
{
    LD_OWN(ld_tensor) *own = NULL;
    LD_CHECK(check_at(t, at, by, "add_at_"));
    LD_CHECK(separate(&by, &own, t));
    for (int64_t i = 0; i < at->size; i++)
        t->data[at->data[i]] += by ? by->data[i] : number;
    return LD_OK;
}

ld_status ld_tensor_mul_at(ld_tensor *t, const ld_index *at, const ld_tensor *by, float number)
{
    LD_OWN(ld_tensor) *own = NULL;
    LD_CHECK(check_at(t, at, by, "mul_at_"));
    LD_CHECK(separate(&by, &own, t));
    for (int64_t i = 0; i < at->size; i++)
        t->data[at->data[i]] *= by ? by->data[i] : number;
    return LD_OK;
}

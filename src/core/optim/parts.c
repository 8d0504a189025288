/* Optimizers of which each of several processes keeps a part: the moments of some parameters, which
 * it alone changes in a step. Parts are cut between the chunks by which the gradients' norm is
 * summed, so that every sum and every pass over memory is one of those of a whole optimizer. */
#include <inttypes.h>
#include <string.h>

#include "optim/gradient_norm.h"

/* Returns the first place of the slabs, from `at` on, where a chunk begins, or their end. */
static int64_t cut(const ld_optimizer *o, int64_t at)
{
    int64_t first = 0;
    for (int64_t i = 0; i < o->n; i++) {
        int64_t size = ld_tensor_size(o->params[i]), end = first + ld_padded(size);
        if (at < end) {
            int64_t chunks = (at - first + LD_NORM_CHUNK - 1) / LD_NORM_CHUNK;
            return chunks * LD_NORM_CHUNK < size ? first + chunks * LD_NORM_CHUNK : end;
        }
        first = end;
    }
    return first;
}

ld_status ld_optimizer_part(ld_part *part, const ld_optimizer *o, int64_t i, int64_t n)
{
    if (i < 0 || i >= n || n > INT32_MAX)
        return ld_fail(LD_VALUE, "optimizer: there is no part %" PRId64 " of %" PRId64, i + 1, n);
    int64_t size = o->values->n_rows, whole = size / n, rest = size % n;
    part->first = cut(o, i * whole + i * rest / n);
    part->end = cut(o, (i + 1) * whole + (i + 1) * rest / n);
    return LD_OK;
}

/* Replaces moments of the part `before` by those of the part `now`. */
static ld_status keep(ld_tensor **moment, ld_part before, ld_part now)
{
    ld_tensor *kept = NULL;
    LD_CHECK(ld_optimizer_new_slab(&kept, now.end - now.first));
    int64_t first = before.first > now.first ? before.first : now.first;
    int64_t end = before.end < now.end ? before.end : now.end;
    if (first < end)
        memcpy(kept->data + (first - now.first), (*moment)->data + (first - before.first),
               (size_t)(end - first) * sizeof(float));
    ld_tensor_unref(*moment);
    *moment = kept;
    return LD_OK;
}

ld_status ld_optimizer_keep(ld_optimizer *o, int64_t i, int64_t n)
{
    ld_part now;
    LD_OWN(ld_tensor) *first = ld_tensor_ref(o->moment1);
    LD_CHECK(ld_optimizer_part(&now, o, i, n));
    for (int64_t g = 0; n > 1 && g < o->n_groups; g++)
        if (o->groups[g].clip > 0)
            return ld_fail(LD_STATE, "optimizer: the norm of a group's gradients, which its clip "
                                     "bounds, is not known from a part of the optimizer");
    if (o->moment1)
        LD_CHECK(keep(&o->moment1, o->own, now));
    ld_status st = o->moment2 ? keep(&o->moment2, o->own, now) : LD_OK;
    if (st != LD_OK) {
        ld_tensor_unref(o->moment1); /* both moments become their part, or neither does */
        o->moment1 = ld_take(&first);
        return st;
    }
    o->own = now;
    return LD_OK;
}

static ld_status set(ld_tensor *moment, const ld_tensor *from, int64_t first)
{
    ld_status st = ld_tensor_change(moment);
    if (st == LD_OK)
        memmove(moment->data, from->data + first, (size_t)moment->n_rows * sizeof(float));
    return st;
}

ld_status ld_optimizer_set_moments(ld_optimizer *o, const ld_tensor *moment1,
                                   const ld_tensor *moment2)
{
    ld_status st = o->moment1 ? set(o->moment1, moment1, o->own.first) : LD_OK;
    return st == LD_OK && o->moment2 ? set(o->moment2, moment2, o->own.first) : st;
}

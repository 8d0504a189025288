/* Uniform numbers that change slowly with time: each id has two normal numbers, and time rotates
 * from one to the other. */
#include "sample/drift.h"

#include <inttypes.h>
#include <math.h>

#include "system/threads.h"

enum { GRAIN = 1024 };

typedef struct {
    float *out;
    const int32_t *ids;
    ld_stream from, to;
    double of_from, of_to; /* the factors of both normal numbers */
} drift;

static void numbers(void *ctx, int64_t begin, int64_t end)
{
    const drift *d = ctx;
    for (int64_t i = begin; i < end; i++) {
        uint64_t id = (uint64_t)d->ids[i];
        double z = d->of_from * ld_random_normal(d->from, id);
        if (d->of_to > 0.0)
            z += d->of_to * ld_random_normal(d->to, id);
        d->out[i] = (float)(0.5 * erfc(-z * 0.7071067811865476));
    }
}

ld_status ld_drift(ld_tensor **out, const ld_index *ids, double t, ld_rng *from, ld_rng *to)
{
    LD_OWN(ld_tensor) *r = NULL;
    if (!(t >= 0.0 && t <= 1.0))
        return ld_fail(LD_VALUE, "drift: t must be 0 to 1, got %g", t);
    LD_CHECK(ld_index_check(ids, 0, INT32_MAX, "drift: id"));
    LD_CHECK(ld_tensor_new(&r, 1, ids->size, 1));
    drift d = {.out = r->data,
               .ids = ids->data,
               .from = ld_rng_next(from),
               .to = ld_rng_next(to),
               .of_from = cos(1.5707963267948966 * t),
               .of_to = t > 0.0 ? sin(1.5707963267948966 * t) : 0.0};
    LD_CHECK(ld_parallel_for(ids->size, GRAIN, numbers, &d));
    *out = ld_take(&r);
    return LD_OK;
}

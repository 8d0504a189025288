/* Alias tables: any number of draws with replacement from fixed probabilities, each in O(1)
 * (Walker 1977; built in O(n) after Vose 1991). */
#ifndef LD_SAMPLE_ALIAS_H
#define LD_SAMPLE_ALIAS_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/own.h"
#include "base/status.h"
#include "random/rng.h"
#include "tensor/tensor.h"

/* A column of the table: it stands for `own` with probability `keep`, else for `other`. */
typedef struct {
    double keep;
    int32_t own, other;
} ld_alias_column;

typedef struct ld_alias {
    atomic_int refs;
    ld_tensor *p; /* a copy of the unnormalised probabilities */
    double total; /* their sum */
    int64_t size; /* columns: one for each positive probability, so that zeros are never drawn */
    ld_alias_column *columns;
} ld_alias;

/* Makes the table of p, with one reference. Fails with LD_VALUE when an element is negative,
 * infinite or NaN, or when all are zero. */
ld_status ld_alias_new(ld_alias **out, const ld_tensor *p);
ld_alias *ld_alias_ref(ld_alias *a);
void ld_alias_unref(ld_alias *a);
LD_OWNED_BY(ld_alias, ld_alias_unref)

/* Returns the column that draw number `position` of a sub-stream falls on, and where within it. */
static inline const ld_alias_column *ld_alias_column_of(double *fraction, const ld_alias *a,
                                                        ld_stream s, uint64_t position)
{
    uint32_t r[4];
    ld_philox(r, s, position);
    uint64_t low = (uint64_t)r[1] << 32 | r[0], high = (uint64_t)r[3] << 32 | r[2];
    *fraction = (double)(high >> 11) * 0x1p-53;
    return &a->columns[(uint64_t)((ld_uint128)low * (uint64_t)a->size >> 64)];
}

/* Returns draw number `position` of a sub-stream: an element of p, 0-based. */
static inline int32_t ld_alias_draw(const ld_alias *a, ld_stream s, uint64_t position)
{
    double fraction;
    const ld_alias_column *c = ld_alias_column_of(&fraction, a, s, position);
    return fraction < c->keep ? c->own : c->other;
}

enum { LD_ALIAS_GROUP = 32 };

/* Makes draws number position .. position + count - 1, count <= LD_ALIAS_GROUP, which are those of
 * ld_alias_draw. It is faster than one by one when the table is not in the cache. */
void ld_alias_draw_group(int32_t *out, const ld_alias *a, ld_stream s, uint64_t position,
                         int64_t count);

#endif

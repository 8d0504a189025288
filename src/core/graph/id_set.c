/* Most ids are no members: the filter says so of several at a look, without a branch for each. */
#include "graph/id_set.h"

#include "base/memory.h"
#include "base/simd.h"

enum { TOGETHER = 8 }; /* ids of a look */

ld_status ld_id_set_new(ld_id_set *set, const ld_index *ids, int64_t n_ids)
{
    ld_status st = ld_marker_take(&set->places, n_ids);
    if (st != LD_OK)
        return st;
    if (!(set->filter = ld_calloc_array(1, sizeof *set->filter, LD_MEM_SCRATCH)))
        return LD_NOMEM;
    for (int64_t i = 0; i < ids->size; i++) {
        ld_filter_add(set->filter, ids->data[i]);
        ld_marker_set(set->places, ids->data[i], (int32_t)i);
    }
    return LD_OK;
}

void ld_id_set_clear(ld_id_set *set)
{
    ld_marker_put(set->places);
    ld_free(set->filter);
}

/* Which of `ids` may be members: n positions. */
typedef struct {
    int32_t *at;
    int n;
    const int32_t *ids;
    const ld_filter *filter;
} look;

/* Whether any of TOGETHER ids may be in the set. */
static bool any_maybe(const ld_filter *filter, const int32_t *ids)
{
    uint64_t any = 0;
    for (int i = 0; i < TOGETHER; i++)
        any |= ld_filter_shifted(filter, ids[i]);
    return any & 1;
}

LD_CLONES(scan)
{
    look *q = ctx;
    for (int64_t first = begin; first < end; first += TOGETHER) {
        int64_t behind = first + TOGETHER < end ? first + TOGETHER : end;
        if (behind - first == TOGETHER && !any_maybe(q->filter, q->ids + first))
            continue;
        for (int64_t i = first; i < behind; i++) {
            q->at[q->n] = (int32_t)i;
            q->n += ld_filter_maybe(q->filter, q->ids[i]);
        }
    }
}

int ld_id_set_find(int32_t *at, int32_t *place, const int32_t *ids, int n, const ld_id_set *set)
{
    look q = {.at = at, .ids = ids, .filter = set->filter};
    int found = 0;
    scan(&q, 0, n);
    for (int i = 0; i < q.n; i++) {
        place[found] = ld_marker_get(set->places, ids[at[i]]);
        at[found] = at[i];
        found += place[found] >= 0;
    }
    return found;
}

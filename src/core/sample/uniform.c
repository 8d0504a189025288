/* Uniform choices. Without replacement they are Fisher and Yates' shuffle of 0 .. n-1, stopped
 * after k steps. The places that have changed are kept in a marker, so the n - k others cost
 * nothing. */
#include <inttypes.h>

#include "graph/marker.h"
#include "sample/choice.h"

static int32_t value_at(const ld_marker *changed, int64_t place)
{
    int32_t value = ld_marker_get(changed, (int32_t)place);
    return value >= 0 ? value : (int32_t)place;
}

ld_status ld_choice_uniform(ld_index **out, int64_t n, int64_t k, bool replace, ld_rng *rng)
{
    LD_OWN(ld_marker) *changed = NULL;
    LD_OWN(ld_index) *x = NULL;
    if (n < 0 || n > INT32_MAX || k < 0)
        return ld_fail(LD_VALUE,
                       "uniform: n must be 0 to %d and k at least 0, got %" PRId64 " and %" PRId64,
                       INT32_MAX, n, k);
    if (replace && n == 0 && k > 0)
        return ld_fail(LD_VALUE, "uniform: nothing to draw %" PRId64 " times from", k);
    if (!replace && k > n)
        k = n;
    ld_stream s = ld_rng_next(rng);
    LD_CHECK(ld_index_new(&x, k));
    if (!replace)
        LD_CHECK(ld_marker_take(&changed, n));
    for (int64_t i = 0; i < k; i++) {
        int64_t left = replace ? n : n - i;
        int64_t j = n - left + (int64_t)ld_random_below(s, (uint64_t)i, (uint64_t)left);
        x->data[i] = replace ? (int32_t)j : value_at(changed, j);
        if (!replace)
            ld_marker_set(changed, (int32_t)j, value_at(changed, i));
    }
    *out = ld_take(&x);
    return LD_OK;
}

/* Checks and sums unnormalised probabilities. */
#include "sample/mass.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>

ld_status ld_mass_of(ld_mass *out, const ld_tensor *p, const char *where)
{
    ld_mass mass = {0.0, 0};
    if (p->ndim != 1)
        return ld_fail(LD_SHAPE, "%s: the probabilities must be a vector, got %s", where,
                       ld_tensor_shape(p));
    for (int64_t i = 0; i < p->n_rows; i++) {
        float value = p->data[i];
        if (!(value >= 0.0f && value <= FLT_MAX)) /* NaN fails every comparison */
            return ld_fail(LD_VALUE,
                           "%s: a probability must be finite and at least 0, got %g at position "
                           "%" PRId64,
                           where, isnan(value) ? (double)NAN : value, i + 1); /* never "-nan" */
        mass.total += value;
        mass.support += value > 0.0f;
    }
    *out = mass;
    return LD_OK;
}

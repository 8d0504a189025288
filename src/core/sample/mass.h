/* Checks and sums unnormalised probabilities. All samplers do that here. */
#ifndef LD_SAMPLE_MASS_H
#define LD_SAMPLE_MASS_H

#include <stdint.h>

#include "base/status.h"
#include "tensor/tensor.h"

typedef struct {
    double total;    /* the sum */
    int64_t support; /* how many are positive */
} ld_mass;

/* Sums the vector p. Fails with LD_SHAPE when p is no vector, and with LD_VALUE, position and value
 * when an element is negative, infinite or NaN. `where` begins the message. */
ld_status ld_mass_of(ld_mass *out, const ld_tensor *p, const char *where);

#endif

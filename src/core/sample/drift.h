/* Uniform numbers that change slowly with time, for mini-batches that resemble those just before
 * them. */
#ifndef LD_SAMPLE_DRIFT_H
#define LD_SAMPLE_DRIFT_H

#include "base/status.h"
#include "random/rng.h"
#include "tensor/index.h"
#include "tensor/tensor.h"

/* Gives for every id u a number r_u, uniform in (0, 1) for each t in [0, 1]:
 *     r_u  =  Phi(cos(pi t / 2) z_u + sin(pi t / 2) z'_u)
 * with standard normal z_u and z'_u that are functions of u and of the sub-streams of `from` and
 * `to`. Balin, LaSalle and Catalyurek, "Cooperative Minibatching in Graph Neural Networks", 2023.
 * Fails with LD_VALUE for another t, and with LD_RANGE for a negative id. */
ld_status ld_drift(ld_tensor **out, const ld_index *ids, double t, ld_rng *from, ld_rng *to);

#endif

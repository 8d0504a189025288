/* The joint norm of an optimizer's gradients, and the layout of its slabs, for the files of this
 * folder alone. */
#ifndef LD_OPTIM_GRADIENT_NORM_H
#define LD_OPTIM_GRADIENT_NORM_H

#include "optim/optimizer.h"

enum { LD_NORM_CHUNK = 1 << 14, LD_ALIGN = 16 /* floats of a cache line */ };

/* Returns the room that a parameter of that many elements takes in a slab. */
static inline int64_t ld_padded(int64_t size)
{
    return (size + LD_ALIGN - 1) / LD_ALIGN * LD_ALIGN;
}

/* Returns the part of a parameter that is the optimizer's own, counted from the beginning of the
 * parameter, which has `size` elements and begins in the slabs at `first`. The part is empty where
 * first >= end. */
static inline ld_part ld_own_part(const ld_optimizer *o, int64_t first, int64_t size)
{
    ld_part part = {o->own.first - first, o->own.end - first};
    return (ld_part){part.first > 0 ? part.first : 0, part.end < size ? part.end : size};
}

/* Computes the square of the norm of the gradients times the scales of their groups. Fails with
 * LD_STATE where other processes have parts of the gradients. */
ld_status ld_optimizer_square(double *square, const ld_optimizer *o);

/* Finds the scales by which the gradients of groups with a clip come within it; `where` begins the
 * messages. Fails with LD_VALUE when the norm of one is not finite. */
ld_status ld_bound_groups(ld_optimizer *o, const char *where);

/* Makes all scales 1 again. */
void ld_forget_bounds(ld_optimizer *o);

/* Computes the norm of that square, and the factor by which it becomes at most `most`; `where`
 * begins the messages. Fails with LD_VALUE when the norm is not finite. */
ld_status ld_norm_factor(float *factor, double *norm, double square, double most,
                         const char *where);

#endif

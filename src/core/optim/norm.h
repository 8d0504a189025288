/* The joint norm of an optimizer's gradients: for the room alone. */
#ifndef LD_OPTIM_NORM_H
#define LD_OPTIM_NORM_H

#include "optim/optimizer.h"

enum { LD_NORM_CHUNK = 1 << 14, LD_ALIGN = 16 /* floats of a cache line */ };

/* What a parameter of that many elements takes in a slab. */
static inline int64_t ld_padded(int64_t size)
{
    return (size + LD_ALIGN - 1) / LD_ALIGN * LD_ALIGN;
}

/* What of a parameter of `size` elements, which begins in the slabs at `first`, is the optimizer's own
 * part, counted from its beginning; nothing where first >= end. */
static inline ld_part ld_own_part(const ld_optimizer *o, int64_t first, int64_t size)
{
    ld_part part = {o->own.first - first, o->own.end - first};
    return (ld_part){part.first > 0 ? part.first : 0, part.end < size ? part.end : size};
}

/* The square of the norm. LD_STATE where others have parts of the gradients. */
ld_status ld_optimizer_square(double *square, const ld_optimizer *o);

/* The norm of that square, and the factor by which it becomes at most `most`; `where` begins the
 * messages. LD_VALUE when the norm is not finite. */
ld_status ld_norm_factor(float *factor, double *norm, double square, double most,
                         const char *where);

#endif

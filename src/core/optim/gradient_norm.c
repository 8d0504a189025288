/* Computes the joint norm of gradients. Squares are summed in double by chunks of a parameter, and
 * these sums added in their order. So the norm has the same bits for any number of threads, and for
 * any number of optimizers that have parts of the gradients: a part is of whole chunks. */
#include "optim/gradient_norm.h"

#include <math.h>

#include "kernel/reduce.h"
#include "memory/memory.h"

int64_t ld_optimizer_most_squares(const ld_optimizer *o)
{
    return o->grads->n_rows / LD_NORM_CHUNK + o->n;
}

ld_status ld_optimizer_squares(double *sums, int64_t *n, const ld_optimizer *o)
{
    int64_t first = 0;
    *n = 0;
    for (int64_t i = 0; i < o->n; i++) {
        int64_t size = ld_tensor_size(o->params[i]);
        ld_part own = ld_own_part(o, first, size);
        if (o->params[i]->has_grad && own.first < own.end) {
            LD_CHECK(ld_chunk_squares(sums + *n, o->params[i]->grad->data + own.first,
                                      own.end - own.first, LD_NORM_CHUNK));
            int64_t chunks = (own.end - own.first + LD_NORM_CHUNK - 1) / LD_NORM_CHUNK;
            double scale = o->groups[o->group[i]].scale;
            for (int64_t c = 0; scale != 1 && c < chunks; c++)
                sums[*n + c] *= scale * scale;
            *n += chunks;
        }
        first += ld_padded(size);
    }
    return LD_OK;
}

ld_status ld_optimizer_square(double *square, const ld_optimizer *o)
{
    int64_t n;
    if (o->own.end - o->own.first < o->grads->n_rows)
        return ld_fail(LD_STATE, "the norm of gradients of which others have parts is not here");
    LD_FREED double *sums =
        ld_alloc_array(ld_optimizer_most_squares(o), sizeof *sums, LD_MEM_SCRATCH);
    if (!sums)
        return LD_NOMEM;
    LD_CHECK(ld_optimizer_squares(sums, &n, o));
    *square = 0;
    for (int64_t i = 0; i < n; i++)
        *square += sums[i];
    return LD_OK;
}

/* The square of the norm of a group's gradients, whose chunks have room in `sums`. */
static ld_status square_of_group(double *square, double *sums, const ld_optimizer *o, int64_t group)
{
    *square = 0;
    for (int64_t i = 0; i < o->n; i++) {
        int64_t size = ld_tensor_size(o->params[i]);
        if (o->group[i] != group || !o->params[i]->has_grad)
            continue;
        LD_CHECK(ld_chunk_squares(sums, o->params[i]->grad->data, size, LD_NORM_CHUNK));
        for (int64_t c = 0; c < (size + LD_NORM_CHUNK - 1) / LD_NORM_CHUNK; c++)
            *square += sums[c];
    }
    return LD_OK;
}

ld_status ld_bound_groups(ld_optimizer *o, const char *where)
{
    LD_FREED double *sums = NULL;
    for (int64_t g = 0; g < o->n_groups; g++) {
        double square, norm;
        float factor;
        if (!(o->groups[g].clip > 0))
            continue;
        if (!sums &&
            !(sums = ld_alloc_array(ld_optimizer_most_squares(o), sizeof *sums, LD_MEM_SCRATCH)))
            return LD_NOMEM;
        LD_CHECK(square_of_group(&square, sums, o, g));
        LD_CHECK(ld_norm_factor(&factor, &norm, square, o->groups[g].clip, where));
        o->groups[g].scale = factor;
    }
    return LD_OK;
}

void ld_forget_bounds(ld_optimizer *o)
{
    for (int64_t g = 0; g < o->n_groups; g++)
        o->groups[g].scale = 1;
}

ld_status ld_norm_factor(float *factor, double *norm, double square, double most, const char *where)
{
    if (!(most > 0))
        return ld_fail(LD_VALUE, "%s: the largest norm must be positive, got %g", where, most);
    *norm = sqrt(square);
    if (!isfinite(*norm))
        return ld_fail(LD_VALUE, "%s: the gradients' norm is %g", where, *norm);
    *factor = *norm <= most ? 1.0f : (float)(most / (*norm + 1e-6));
    return LD_OK;
}

/* Scales each gradient by `factor` and by the scale of its group. */
static ld_status scale_gradients(ld_optimizer *o, float factor)
{
    for (int64_t i = 0; i < o->n; i++) {
        float scale = factor * (float)o->groups[o->group[i]].scale;
        if (!o->params[i]->has_grad || scale == 1.0f)
            continue;
        LD_CHECK(ld_tensor_change(o->params[i]->grad));
        float *g = o->params[i]->grad->data;
        for (int64_t j = 0, size = ld_tensor_size(o->params[i]); j < size; j++)
            g[j] *= scale;
    }
    return LD_OK;
}

ld_status ld_optimizer_clip(ld_optimizer *o, double most, double *norm)
{
    float factor;
    double square;
    ld_status st;
    LD_TRY(ld_bound_groups(o, "clip_norm"));
    LD_TRY(ld_optimizer_square(&square, o));
    LD_TRY(ld_norm_factor(&factor, norm, square, most, "clip_norm"));
    LD_TRY(scale_gradients(o, factor));
done:
    ld_forget_bounds(o);
    return st;
}

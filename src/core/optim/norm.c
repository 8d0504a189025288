/* The joint norm of gradients. Squares are summed in double by chunks of a parameter, and these sums
 * added in their order, so the norm is the same bits for any number of threads, and for any number of
 * optimizers that have parts of the gradients: a part is of whole chunks. */
#include "optim/norm.h"

#include <math.h>

#include "base/memory.h"
#include "base/simd.h"
#include "base/threads.h"

typedef struct {
    const float *g;
    double *sums; /* one per chunk */
} square_sum;

LD_CLONES(square_sum_chunk)
{
    const square_sum *s = ctx;
    double lane[8] = {0};
    int64_t i = begin;
    for (; i + 8 <= end; i += 8)
        for (int j = 0; j < 8; j++)
            lane[j] += (double)s->g[i + j] * s->g[i + j];
    for (; i < end; i++)
        lane[0] += (double)s->g[i] * s->g[i];
    s->sums[begin / LD_NORM_CHUNK] =
        ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
}

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
            square_sum s = {o->params[i]->grad->data + own.first, sums + *n};
            ld_status st =
                ld_parallel_for(own.end - own.first, LD_NORM_CHUNK, square_sum_chunk, &s);
            if (st != LD_OK)
                return st;
            *n += (own.end - own.first + LD_NORM_CHUNK - 1) / LD_NORM_CHUNK;
        }
        first += ld_padded(size);
    }
    return LD_OK;
}

ld_status ld_optimizer_square(double *square, const ld_optimizer *o)
{
    int64_t n;
    ld_status st;
    if (o->own.end - o->own.first < o->grads->n_rows)
        return ld_fail(LD_STATE, "the norm of gradients of which others have parts is not here");
    double *sums = ld_alloc_array(ld_optimizer_most_squares(o), sizeof *sums, LD_MEM_SCRATCH);
    if (!sums)
        return LD_NOMEM;
    if ((st = ld_optimizer_squares(sums, &n, o)) == LD_OK) {
        *square = 0;
        for (int64_t i = 0; i < n; i++)
            *square += sums[i];
    }
    ld_free(sums);
    return st;
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

ld_status ld_optimizer_clip(ld_optimizer *o, double most, double *norm)
{
    float factor;
    double square;
    ld_status st = ld_optimizer_square(&square, o);
    if (st != LD_OK || (st = ld_norm_factor(&factor, norm, square, most, "clip_norm")) != LD_OK ||
        factor == 1.0f)
        return st;
    for (int64_t i = 0; i < o->n; i++) {
        if (!o->params[i]->has_grad)
            continue;
        if ((st = ld_tensor_change(o->params[i]->grad)) != LD_OK)
            return st;
        float *g = o->params[i]->grad->data;
        for (int64_t j = 0, size = ld_tensor_size(o->params[i]); j < size; j++)
            g[j] *= factor;
    }
    return LD_OK;
}

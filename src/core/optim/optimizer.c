#include "optim/optimizer.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stddef.h>

#include "memory/memory.h"
#include "optim/gradient_norm.h"
#include "system/simd.h"
#include "system/threads.h"

enum { CHUNK = 1 << 12 };

/* Fails unless a factor is 0 or more and finite in float32, in which updates are computed. */
static ld_status check_factor(const char *name, double value)
{
    if (value >= 0 && isfinite((float)value))
        return LD_OK;
    return ld_fail(LD_VALUE, "optimizer: %s must be 0 or more and finite in float32, got %g", name,
                   value);
}

static ld_status check_options(ld_optimizer_kind kind, const ld_optimizer_options *o)
{
    LD_CHECK(check_factor("lr", o->lr));
    LD_CHECK(check_factor("weight_decay", o->weight_decay));
    if (kind == LD_SGD && !(o->momentum >= 0 && o->momentum < 1))
        return ld_fail(LD_VALUE, "optimizer: momentum must be in [0, 1), got %g", o->momentum);
    if (kind != LD_SGD && !(o->beta1 >= 0 && o->beta1 < 1 && o->beta2 >= 0 && o->beta2 < 1))
        return ld_fail(LD_VALUE, "optimizer: beta1 and beta2 must be in [0, 1), got %g and %g",
                       o->beta1, o->beta2);
    if (kind != LD_SGD && !((float)o->eps > 0 && isfinite((float)o->eps)))
        return ld_fail(LD_VALUE, "optimizer: eps must be positive and finite in float32, got %g",
                       o->eps);
    return LD_OK;
}

ld_status ld_optimizer_new_slab(ld_tensor **out, int64_t size)
{
    LD_CHECK(ld_tensor_full(out, 1, size, 1, 0.0f));
    (*out)->storage->in_optimizer = true;
    return LD_OK;
}

/* The place of a parameter and its gradient in the slabs. */
typedef struct {
    ld_tensor *value, *grad;
} place;

static ld_status find_place(place *at, const ld_optimizer *o, const ld_tensor *p, int64_t first)
{
    LD_CHECK(ld_tensor_part(&at->value, o->values, first, p));
    return ld_tensor_part(&at->grad, o->grads, first, p);
}

/* Moves a parameter and its gradient to their place. Both stay the tensors that others may hold. */
static void adopt(ld_tensor *p, const place *at)
{
    ld_tensor_move(p, at->value);
    if (p->grad)
        ld_tensor_move(p->grad, at->grad);
    else
        p->grad = ld_tensor_ref(at->grad);
    p->is_parameter = p->requires_grad = true;
}

static ld_status find_places(place *at, const ld_optimizer *o)
{
    int64_t first = 0;
    for (int64_t i = 0; i < o->n; i++) {
        LD_CHECK(ld_tensor_check_move(o->params[i]));
        LD_CHECK(find_place(&at[i], o, o->params[i], first));
        first += ld_padded(ld_tensor_size(o->params[i]));
    }
    return LD_OK;
}

/* Moves all parameters to the slabs. All is prepared before anything changes, so that a failure
 * leaves every parameter as it was. */
static ld_status adopt_all(ld_optimizer *o)
{
    LD_FREED place *at = ld_calloc_array(o->n, sizeof *at, LD_MEM_SCRATCH);
    if (!at)
        return LD_NOMEM;
    ld_status st = find_places(at, o);
    for (int64_t i = 0; i < o->n; i++) {
        if (st == LD_OK)
            adopt(o->params[i], &at[i]);
        ld_tensor_unref(at[i].value);
        ld_tensor_unref(at[i].grad);
    }
    return st;
}

static ld_status append_group(ld_optimizer *o, ld_optimizer_group group)
{
    LD_CHECK(
        ld_reserve(&o->groups, &o->most_groups, o->n_groups, 1, sizeof *o->groups, LD_MEM_TAPE));
    o->groups[o->n_groups++] = group;
    return LD_OK;
}

ld_status ld_optimizer_new(ld_optimizer **out, ld_optimizer_kind kind,
                           const ld_optimizer_options *options, ld_tensor *const *params, int64_t n)
{
    LD_CHECK(check_options(kind, options));
    LD_OWN(ld_optimizer) *o = ld_calloc_array(1, sizeof *o, LD_MEM_TAPE);
    if (!o)
        return LD_NOMEM;
    o->kind = kind;
    o->options = *options;
    int64_t size = 0;
    if (!(o->params = ld_calloc_array(n, sizeof *o->params, LD_MEM_TAPE)) ||
        !(o->in_sum = ld_calloc_array(n, sizeof *o->in_sum, LD_MEM_TAPE)) ||
        !(o->group = ld_calloc_array(n, sizeof *o->group, LD_MEM_TAPE)) ||
        !(o->steps = ld_calloc_array(n, sizeof *o->steps, LD_MEM_TAPE)))
        return LD_NOMEM;
    LD_CHECK(append_group(o, (ld_optimizer_group){1, options->weight_decay, 0, 1}));
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < i; j++)
            if (params[i] == params[j])
                return ld_fail(LD_STATE,
                               "optimizer: parameters %" PRId64 " and %" PRId64
                               " are the same tensor",
                               j + 1, i + 1);
        if (params[i]->step != 0)
            return ld_fail(LD_STATE, "optimizer: parameter %" PRId64 " was computed in a step",
                           i + 1);
        o->params[o->n++] = ld_tensor_ref(params[i]);
        size += ld_padded(ld_tensor_size(params[i]));
    }
    o->own = (ld_part){0, size};
    LD_CHECK(ld_optimizer_new_slab(&o->values, size));
    LD_CHECK(ld_optimizer_new_slab(&o->grads, size));
    if (kind != LD_SGD || options->momentum > 0)
        LD_CHECK(ld_optimizer_new_slab(&o->moment1, size));
    if (kind != LD_SGD)
        LD_CHECK(ld_optimizer_new_slab(&o->moment2, size));
    LD_CHECK(adopt_all(o));
    *out = ld_take(&o);
    return LD_OK;
}

void ld_optimizer_free(ld_optimizer *o)
{
    if (!o)
        return;
    for (int64_t i = 0; i < o->n; i++)
        ld_tensor_unref(o->params[i]);
    ld_free(o->params);
    ld_free(o->steps);
    ld_free(o->groups);
    ld_free(o->group);
    ld_free(o->in_sum);
    for (int i = 0; i < 2 * LD_LEVELS; i++)
        ld_tensor_unref(o->sums[i].slab);
    ld_tensor_unref(o->values);
    ld_tensor_unref(o->grads);
    ld_tensor_unref(o->moment1);
    ld_tensor_unref(o->moment2);
    ld_free(o);
}

ld_status ld_optimizer_set_lr(ld_optimizer *o, double lr)
{
    ld_status st = check_factor("lr", lr);
    if (st == LD_OK)
        o->options.lr = lr;
    return st;
}

/* The number of a parameter, from 0; -1 for another tensor. */
static int64_t number_of(const ld_optimizer *o, const ld_tensor *t)
{
    for (int64_t i = 0; i < o->n; i++)
        if (o->params[i] == t)
            return i;
    return -1;
}

ld_status ld_optimizer_add_group(ld_optimizer *o, ld_tensor *const *params, int64_t n, double lr,
                                 double weight_decay, double clip)
{
    LD_CHECK(check_factor("lr", lr));
    LD_CHECK(check_factor("weight_decay", weight_decay));
    LD_CHECK(check_factor("clip", clip));
    if (o->options.lr == 0 && lr != 0)
        return ld_fail(LD_VALUE, "group: its lr, %g, is no multiple of the optimizer's, 0", lr);
    if (clip > 0 && o->own.end - o->own.first < o->values->n_rows)
        return ld_fail(LD_STATE, "group: an optimizer that keeps a part has no clip of a group");
    for (int64_t i = 0; i < n; i++)
        if (number_of(o, params[i]) < 0)
            return ld_fail(
                LD_STATE, "group: tensor %" PRId64 " is none of the optimizer's parameters", i + 1);
    double rate = lr == o->options.lr ? 1 : lr / o->options.lr;
    LD_CHECK(append_group(o, (ld_optimizer_group){rate, weight_decay, clip, 1}));
    for (int64_t i = 0; i < n; i++)
        o->group[number_of(o, params[i])] = o->n_groups - 1;
    return LD_OK;
}

ld_status ld_optimizer_check_slabs(const ld_optimizer *o, const char *where)
{
    for (int64_t i = 0; i < o->n; i++)
        if (o->params[i]->storage->within != o->values->storage)
            return ld_fail(LD_STATE, "%s: parameter %" PRId64 " belongs to another optimizer now",
                           where, i + 1);
    return LD_OK;
}

bool ld_optimizer_has(const ld_optimizer *o, const ld_tensor *t)
{
    return number_of(o, t) >= 0;
}

int64_t ld_optimizer_waiting(const ld_optimizer *o)
{
    if (o->n_sums == 0)
        return 0;
    const ld_leaves *last = &o->sums[o->n_sums - 1].leaves;
    return last->first + last->count - o->sums[0].leaves.first;
}

bool ld_optimizer_has_gradient(const ld_optimizer *o)
{
    for (int64_t i = 0; i < o->n; i++)
        if (o->params[i]->has_grad)
            return true;
    return false;
}

void ld_optimizer_clear(ld_optimizer *o)
{
    for (int64_t i = 0; i < o->n; i++)
        o->params[i]->has_grad = o->in_sum[i] = false;
    o->n_sums = 0;
}

/* The update of one parameter; the pointers are into the slabs. */
typedef struct {
    float *p, *m, *v;
    const float *g;
    float scale; /* by which the gradient is multiplied */
    float lr, momentum, beta1, beta2, eps, decay, shrink;
    float rest1, rest2;     /* 1 - beta1, 1 - beta2, of which float32 has few digits left */
    float unbias1, unbias2; /* 1 / (1 - beta1^t), 1 / sqrt(1 - beta2^t) */
} update;

/* Returns x, or 0 for a number below the normal ones. A moment without new gradients would stay
 * there, where processors are ten times as slow, and where it moves no weight. */
static inline __attribute__((always_inline)) float flushed(float x)
{
    return fabsf(x) < FLT_MIN ? 0.0f : x;
}

LD_CLONES(adam_chunk)
{
    const update *u = ctx;
    for (int64_t i = begin; i < end; i++) {
        float p = u->p[i] * u->shrink, g = u->scale * u->g[i] + u->decay * u->p[i];
        float m = u->m[i] = flushed(u->beta1 * u->m[i] + u->rest1 * g);
        float v = u->v[i] = flushed(u->beta2 * u->v[i] + u->rest2 * g * g);
        u->p[i] = p - u->lr * u->unbias1 * m / (sqrtf(v) * u->unbias2 + u->eps);
    }
}

LD_CLONES(sgd_chunk)
{
    const update *u = ctx;
    for (int64_t i = begin; i < end; i++) {
        float g = u->scale * u->g[i] + u->decay * u->p[i];
        if (u->m)
            g = u->m[i] = flushed(u->momentum * u->m[i] + g);
        u->p[i] -= u->lr * g;
    }
}

/* Notes that the moments change, since scripts can see them. */
static ld_status change_moments(ld_optimizer *o)
{
    ld_status st = o->moment1 ? ld_tensor_change(o->moment1) : LD_OK;
    return st == LD_OK && o->moment2 ? ld_tensor_change(o->moment2) : st;
}

/* Updates the optimizer's own part of parameter i, which begins in the slabs at `first`. */
static ld_status update_parameter(ld_optimizer *o, int64_t i, int64_t first, float scale)
{
    const ld_optimizer_options *c = &o->options;
    const ld_optimizer_group *group = &o->groups[o->group[i]];
    double lr = c->lr * group->rate;
    ld_tensor *p = o->params[i];
    ld_part own = ld_own_part(o, first, ld_tensor_size(p));
    LD_CHECK(ld_tensor_change(p));
    double t = (double)++o->steps[i];
    p->has_grad = false;
    if (own.first >= own.end)
        return LD_OK;
    int64_t moment = first + own.first - o->own.first;
    update u = {
        .p = p->data + own.first,
        .g = p->grad->data + own.first,
        .scale = scale * (float)group->scale,
        .m = o->moment1 ? o->moment1->data + moment : NULL,
        .v = o->moment2 ? o->moment2->data + moment : NULL,
        .lr = (float)lr,
        .momentum = (float)c->momentum,
        .beta1 = (float)c->beta1,
        .beta2 = (float)c->beta2,
        .rest1 = (float)(1 - c->beta1),
        .rest2 = (float)(1 - c->beta2),
        .eps = (float)c->eps,
        .decay = o->kind == LD_ADAMW ? 0.0f : (float)group->weight_decay,
        .shrink = o->kind == LD_ADAMW ? (float)(1 - lr * group->weight_decay) : 1.0f,
        .unbias1 = (float)(1 / (1 - pow(c->beta1, t))),
        .unbias2 = (float)(1 / sqrt(1 - pow(c->beta2, t))),
    };
    ld_loop_fn *update_chunk = o->kind == LD_SGD ? sgd_chunk : adam_chunk;
    return ld_parallel_for(own.end - own.first, CHUNK, update_chunk, &u);
}

static ld_status step_scaled(ld_optimizer *o, float scale)
{
    int64_t first = 0;
    ld_status st = LD_OK;
    LD_CHECK(ld_poll());
    LD_CHECK(change_moments(o));
    ld_defer_cancel(true); /* parameters that are half updated would be lost */
    for (int64_t i = 0; i < o->n; i++) {
        if (o->params[i]->has_grad)
            LD_TRY(update_parameter(o, i, first, scale));
        first += ld_padded(ld_tensor_size(o->params[i]));
    }
done:
    ld_defer_cancel(false);
    return st;
}

static ld_status check_complete(const ld_optimizer *o)
{
    if (o->n_sums == 0)
        return LD_OK;
    return ld_fail(LD_STATE, "step: gradients of %" PRId64 " mini-batches wait for more of them",
                   ld_optimizer_waiting(o));
}

ld_status ld_optimizer_step(ld_optimizer *o)
{
    ld_status st = check_complete(o);
    if (st == LD_OK)
        st = ld_bound_groups(o, "step");
    if (st == LD_OK)
        st = step_scaled(o, 1.0f);
    ld_forget_bounds(o);
    return st;
}

ld_status ld_optimizer_step_of(ld_optimizer *o, double most, double square, double *norm)
{
    float factor;
    ld_status st = check_complete(o);
    if (st == LD_OK)
        st = ld_norm_factor(&factor, norm, square, most, "step");
    return st != LD_OK ? st : step_scaled(o, factor);
}

ld_status ld_optimizer_step_clipped(ld_optimizer *o, double most, double *norm)
{
    double square;
    ld_status st = check_complete(o);
    if (st == LD_OK)
        st = ld_bound_groups(o, "step");
    if (st == LD_OK)
        st = ld_optimizer_square(&square, o);
    if (st == LD_OK)
        st = ld_optimizer_step_of(o, most, square, norm);
    ld_forget_bounds(o);
    return st;
}

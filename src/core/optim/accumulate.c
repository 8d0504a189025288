/* The mean of the gradients of S mini-batches, their sum taken in one fixed binary tree: leaves are
 * added in pairs, the sums in pairs, and so on; where S is no power of two, what is left over at the
 * right is added to its left neighbour, the smaller sum first. The shape follows from S alone, so the
 * sum of any 2^l leaves that begin at a multiple of 2^l may be taken elsewhere, by whomever.
 *
 * The leaves come one after the other. A sum of 2^l leaves waits in sums[l] for the one to its right:
 * after i leaves those of the bits of i are there, so memory is log2(S) slabs. */
#include <inttypes.h>
#include <string.h>

#include "base/threads.h"
#include "optim/optimizer.h"

enum { CHUNK = 1 << 14 };

typedef struct {
    float *to;
    const float *left;
    float divisor;
} vectors;

static void add_chunk(void *ctx, int64_t begin, int64_t end)
{
    const vectors *v = ctx;
    for (int64_t i = begin; i < end; i++)
        v->to[i] = v->left[i] + v->to[i];
}

static void divide_chunk(void *ctx, int64_t begin, int64_t end)
{
    const vectors *v = ctx;
    for (int64_t i = begin; i < end; i++)
        v->to[i] /= v->divisor;
}

/* The sum of a node of the tree: that of its left half and that of its right half, which is in the
 * optimizer's slab of gradients and gives way to it. */
static ld_status add_left(ld_optimizer *o, const ld_tensor *left)
{
    return ld_parallel_for(o->grads->n_rows, CHUNK, add_chunk,
                           &(vectors){.to = o->grads->data, .left = left->data});
}

/* The slabs for sums of all but the last of `leaves` leaves. */
static ld_status make_room(ld_optimizer *o, int64_t leaves)
{
    ld_status st;
    for (int l = 0; (leaves - 1) >> l; l++)
        if (!o->sums[l] && (st = ld_optimizer_new_slab(&o->sums[l], o->grads->n_rows)) != LD_OK)
            return st;
    return LD_OK;
}

/* Whether all parameters have their gradients in the slab: a later optimizer may have taken one. */
static ld_status check_slab(const ld_optimizer *o)
{
    for (int64_t i = 0; i < o->n; i++)
        if (o->params[i]->grad->storage != o->grads->storage)
            return ld_fail(LD_STATE,
                           "accumulate: parameter %" PRId64 " belongs to another optimizer now",
                           i + 1);
    return LD_OK;
}

/* Makes the slab of gradients a leaf: zeros where a parameter has none. */
static void complete_leaf(ld_optimizer *o)
{
    for (int64_t i = 0; i < o->n; i++) {
        ld_tensor *p = o->params[i];
        if (!p->has_grad)
            memset(p->grad->data, 0, (size_t)ld_tensor_size(p) * sizeof(float));
        o->in_sum[i] |= p->has_grad;
        p->has_grad = false;
    }
}

/* Adds the leaf in the slab to those before it. */
static ld_status add_leaf(ld_optimizer *o, int64_t leaves)
{
    int64_t before = o->leaf, size = o->grads->n_rows;
    bool last = before + 1 == leaves;
    ld_status st;
    int level = 0;
    complete_leaf(o);
    for (; before >> level && (last || before >> level & 1); level++)
        if (before >> level & 1)
            LD_TRY(add_left(o, o->sums[level]));
    if (!last) {
        memcpy(o->sums[level]->data, o->grads->data, (size_t)size * sizeof(float));
        o->leaf++;
        return LD_OK;
    }
    LD_TRY(ld_parallel_for(size, CHUNK, divide_chunk,
                           &(vectors){.to = o->grads->data, .divisor = (float)leaves}));
    for (int64_t i = 0; i < o->n; i++)
        o->params[i]->has_grad = o->in_sum[i] && o->params[i]->requires_grad;
    memset(o->in_sum, 0, (size_t)o->n * sizeof *o->in_sum);
    o->leaf = 0;
done:
    return st;
}

ld_status ld_optimizer_accumulate(ld_optimizer *o, int64_t leaves, bool *complete)
{
    ld_status st;
    if (leaves < 1 || leaves > LD_MOST_LEAVES)
        return ld_fail(LD_VALUE, "accumulate: there may be 1 to %d gradients, got %" PRId64,
                       (int)LD_MOST_LEAVES, leaves);
    if (o->leaf >= leaves)
        return ld_fail(LD_STATE, "accumulate: %" PRId64 " gradients are there already, of %" PRId64,
                       o->leaf, leaves);
    *complete = leaves == 1;
    if (leaves == 1)
        return LD_OK;
    if ((st = check_slab(o)) != LD_OK || (st = ld_poll()) != LD_OK ||
        (st = make_room(o, leaves)) != LD_OK || (st = ld_tensor_change(o->grads)) != LD_OK)
        return st;
    ld_defer_cancel(true); /* a sum that is half added would be lost */
    st = add_leaf(o, leaves);
    ld_defer_cancel(false);
    *complete = o->leaf == 0;
    return st;
}

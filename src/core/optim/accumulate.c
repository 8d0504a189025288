/* Computes the mean of the gradients of S mini-batches, with their sum taken in one fixed binary
 * tree, so that its bits do not depend on who computes which part. Leaves are added in pairs, the
 * sums in pairs, and so on; where S is no power of two, the sum left over at the right is added to
 * its left neighbour, the smaller sum first. The shape follows from S alone, so the sums of some
 * leaves that follow one another may be taken elsewhere, by whomever, and those that are left be
 * added in the same tree.
 *
 * The leaves come one after the other, and sums are added as soon as they can be: left and right
 * make a node of the tree when left has 2^l leaves and begins at a multiple of 2^(l+1), and right
 * is the next 2^l, or all that are left of S. The others wait in a stack: log2(S) slabs at most
 * from the first leaf on, and 2 log2(S) from one in the midst. */
#include <inttypes.h>
#include <string.h>

#include "kernel/map.h"
#include "optim/optimizer.h"

/* Returns the number of the leaf after those that wait. */
static int64_t next_leaf(const ld_optimizer *o)
{
    const ld_leaves *last = o->n_sums ? &o->sums[o->n_sums - 1].leaves : NULL;
    return last ? last->first + last->count : 0;
}

/* Returns true when two sums are the halves of a node of the tree over n leaves. The right one is
 * of the leaves after those of the left one. */
static bool are_halves(const ld_leaves *left, const ld_leaves *right, int64_t n)
{
    int64_t size = left->count;
    bool begins = (size & (size - 1)) == 0 && left->first % (2 * size) == 0;
    return begins && (right->count == size || right->first + right->count == n) &&
           right->count <= size;
}

/* Makes the slab of gradients a leaf, with zeros where a parameter has none. */
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

/* Makes the numbers in the slab the gradients, and forgets the sums that waited. */
static void finish(ld_optimizer *o)
{
    for (int64_t i = 0; i < o->n; i++)
        o->params[i]->has_grad = o->in_sum[i] && o->params[i]->requires_grad;
    memset(o->in_sum, 0, (size_t)o->n * sizeof *o->in_sum);
    o->n_sums = 0;
}

/* Adds the leaf in the slab to those before it: the sum that waits is the left half, the one in the
 * slab the right one, and the whole takes its place. */
static ld_status add_leaf(ld_optimizer *o, int64_t leaf, int64_t leaves)
{
    int64_t size = o->grads->n_rows;
    ld_leaves here = {leaf, 1};
    complete_leaf(o);
    while (o->n_sums > 0 && are_halves(&o->sums[o->n_sums - 1].leaves, &here, leaves)) {
        const ld_sum *left = &o->sums[o->n_sums - 1];
        LD_CHECK(ld_add(o->grads->data, left->slab->data, size));
        here = (ld_leaves){left->leaves.first, left->leaves.count + here.count};
        o->n_sums--;
    }
    if (here.count < leaves) {
        ld_sum *top = &o->sums[o->n_sums++];
        memcpy(top->slab->data, o->grads->data, (size_t)size * sizeof(float));
        top->leaves = here;
        return LD_OK;
    }
    LD_CHECK(ld_combine(o->grads->data, (ld_operand){o->grads->data, 1, 1},
                        (ld_operand){&(float){(float)leaves}, 0, 0}, size, 1, LD_DIV));
    finish(o);
    return LD_OK;
}

static ld_status check_leaf(const ld_optimizer *o, int64_t leaf, int64_t leaves)
{
    int64_t next = next_leaf(o);
    if (leaves < 1 || leaves > LD_MOST_LEAVES)
        return ld_fail(LD_VALUE, "accumulate: there may be 1 to %d gradients, got %" PRId64,
                       (int)LD_MOST_LEAVES, leaves);
    if (next >= leaves)
        return ld_fail(LD_STATE, "accumulate: %" PRId64 " gradients are there already, of %" PRId64,
                       next, leaves);
    if (leaf < 0 || leaf >= leaves || (o->n_sums > 0 && leaf != next))
        return ld_fail(LD_VALUE,
                       "accumulate: gradient %" PRId64 " of %" PRId64 " cannot come now, expected "
                       "%" PRId64 "%s",
                       leaf + 1, leaves, next + 1, o->n_sums > 0 ? "" : " or one after it");
    return LD_OK;
}

ld_status ld_optimizer_accumulate(ld_optimizer *o, int64_t leaf, int64_t leaves, bool *complete)
{
    LD_CHECK(check_leaf(o, leaf, leaves));
    *complete = leaves == 1;
    if (leaves == 1)
        return LD_OK;
    ld_tensor **room = &o->sums[o->n_sums].slab;
    bool ends = leaf + 1 == leaves && (o->n_sums > 0 && o->sums[0].leaves.first == 0);
    LD_CHECK(ld_optimizer_check_slabs(o, "accumulate"));
    LD_CHECK(ld_poll());
    if (!*room && !ends)
        LD_CHECK(ld_optimizer_new_slab(room, o->grads->n_rows));
    LD_CHECK(ld_tensor_change(o->grads));
    ld_defer_cancel(true); /* a sum that is half added would be lost */
    ld_status st = add_leaf(o, leaf, leaves);
    ld_defer_cancel(false);
    *complete = o->n_sums == 0;
    return st;
}

ld_status ld_optimizer_set_mean(ld_optimizer *o, const ld_tensor *mean, const bool *has)
{
    if (ld_tensor_size(mean) != o->grads->n_rows)
        return ld_fail(LD_SHAPE, "set_mean: %" PRId64 " numbers, expected %" PRId64,
                       ld_tensor_size(mean), o->grads->n_rows);
    LD_CHECK(ld_optimizer_check_slabs(o, "set_mean"));
    LD_CHECK(ld_tensor_change(o->grads));
    if (mean->data != o->grads->data)
        memcpy(o->grads->data, mean->data, (size_t)o->grads->n_rows * sizeof(float));
    memcpy(o->in_sum, has, (size_t)o->n * sizeof *has);
    finish(o);
    return LD_OK;
}

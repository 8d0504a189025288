#include "grad/tape.h"

#include <string.h>

#include "kernel/map.h"
#include "memory/memory.h"
#include "system/clock.h"
#include "system/float_mode.h"

struct ld_tape {
    ld_node *nodes;
    int64_t n_nodes, node_capacity;
    ld_tensor **members; /* every tensor of the step, one reference each */
    int64_t n_members, member_capacity;
    uint64_t step; /* the open step's number, which no step of any tape shares */
    bool open, record, went_back;
    bool walking, close_after; /* backward runs; the step was closed meanwhile */
};

static atomic_ullong step_counter = 1;

static _Thread_local ld_status (*meanwhile)(void);

void ld_tape_set_meanwhile(ld_status (*f)(void))
{
    meanwhile = f;
}

ld_status ld_tape_new(ld_tape **out)
{
    ld_tape *t = ld_calloc_array(1, sizeof *t, LD_MEM_TAPE);
    if (!t)
        return LD_NOMEM;
    *out = t;
    return LD_OK;
}

void ld_tape_free(ld_tape *t)
{
    if (!t)
        return;
    ld_tape_close(t);
    ld_free(t->nodes);
    ld_free(t->members);
    ld_free(t);
}

ld_status ld_tape_open(ld_tape *t, bool record)
{
    if (t->open)
        return ld_fail(LD_STATE, "step: another step is open; close it first");
    t->step = atomic_fetch_add(&step_counter, 1);
    t->open = true;
    t->record = record;
    t->went_back = false;
    return LD_OK;
}

static void node_drop(ld_node *n)
{
    for (int i = 0; i < LD_NODE_INPUTS; i++)
        ld_tensor_unref(n->in[i]);
    for (int i = 0; i < LD_NODE_SAVED; i++)
        ld_tensor_unref(n->saved[i]);
    ld_csr_unref(n->matrix);
    ld_csr_unref(n->sparse);
    ld_index_unref(n->index);
    if (n->custom_free)
        n->custom_free(n->custom);
}

void ld_tape_close(ld_tape *t)
{
    t->close_after = t->walking;
    if (!t->open || t->walking)
        return;
    t->open = false;
    for (int64_t i = 0; i < t->n_nodes; i++)
        node_drop(&t->nodes[i]);
    for (int64_t i = 0; i < t->n_members; i++) {
        ld_tensor_release(t->members[i]);
        ld_tensor_unref(t->members[i]);
    }
    t->n_nodes = t->n_members = 0;
}

bool ld_tape_is_open(const ld_tape *t)
{
    return t && t->open;
}

bool ld_tape_records(const ld_tape *t)
{
    return ld_tape_is_open(t) && t->record && !t->went_back;
}

int64_t ld_tape_length(const ld_tape *t)
{
    return t->n_nodes;
}

double ld_tape_seconds(const ld_tape *t, int64_t i)
{
    return t->nodes[i].seconds;
}

static ld_status record(ld_tape *t, ld_tensor *out, const ld_node *node)
{
    if (!ld_tape_is_open(t))
        return LD_OK;
    bool wanted = false;
    for (int i = 0; i < LD_NODE_INPUTS; i++)
        wanted = wanted || ld_wants_grad(node->in[i]);
    LD_CHECK(ld_reserve(&t->members, &t->member_capacity, t->n_members, 1, sizeof *t->members,
                        LD_MEM_TAPE));
    LD_CHECK(
        ld_reserve(&t->nodes, &t->node_capacity, t->n_nodes, 1, sizeof *t->nodes, LD_MEM_TAPE));
    t->members[t->n_members++] = ld_tensor_ref(out);
    out->step = t->step;
    if (!wanted || !ld_tape_records(t))
        return LD_OK;
    out->tracked = true;
    ld_node *n = &t->nodes[t->n_nodes++];
    *n = *node;
    n->time = ld_tensor_time();
    n->out = out; /* the member's reference keeps it */
    for (int i = 0; i < LD_NODE_INPUTS; i++)
        ld_tensor_ref(n->in[i]);
    for (int i = 0; i < LD_NODE_SAVED; i++)
        ld_tensor_ref(n->saved[i]);
    ld_csr_ref(n->matrix);
    ld_csr_ref(n->sparse);
    ld_index_ref(n->index);
    return LD_OK;
}

bool ld_tape_may_overwrite(const ld_tape *tape, const ld_tensor *x)
{
    enum { STEP_AND_CALLER = 2 };
    if (!ld_tape_records(tape) || tape->n_nodes == 0)
        return false;
    const ld_node *last = &tape->nodes[tape->n_nodes - 1];
    return last->out == x && last->unread & LD_OUT && !x->keep_grad &&
           atomic_load(&x->refs) == STEP_AND_CALLER && !ld_tensor_has_views(x);
}

ld_status ld_tape_finish(ld_tape *tape, ld_tensor **out, ld_tensor *y, const ld_node *node)
{
    LD_CHECK(record(tape, y, node));
    if (meanwhile)
        LD_CHECK(meanwhile());
    *out = ld_tensor_ref(y);
    return LD_OK;
}

ld_status ld_grad_target(ld_tensor *t, ld_tensor **grad, bool *accumulate)
{
    LD_CHECK(t->grad ? ld_tensor_change(t->grad) : ld_tensor_like(&t->grad, t));
    *accumulate = t->has_grad;
    *grad = t->grad;
    t->has_grad = true;
    return LD_OK;
}

ld_status ld_grad_pass(const ld_node *n, ld_tensor *t, ld_tensor **grad, bool *accumulate)
{
    if (t->grad || n->out->keep_grad || !ld_tensor_same_shape(t, n->out))
        return ld_grad_target(t, grad, accumulate);
    *grad = t->grad = ld_tensor_ref(n->out->grad);
    *accumulate = false;
    t->has_grad = true;
    return LD_OK;
}

ld_status ld_grad_zeroed(ld_tensor *t, ld_tensor **grad)
{
    bool accumulate;
    ld_status st = ld_grad_target(t, grad, &accumulate);
    return st == LD_OK && !accumulate ? ld_fill((*grad)->data, ld_tensor_size(t), 0) : st;
}

/* Copies or adds `part` to the memory of a gradient. */
static ld_status put(ld_tensor *grad, const ld_tensor *part, bool accumulate)
{
    if (accumulate)
        return ld_add(grad->data, part->data, ld_tensor_size(part));
    memcpy(grad->data, part->data, (size_t)ld_tensor_size(part) * sizeof(float));
    return LD_OK;
}

ld_status ld_grad_add(ld_tensor *t, const ld_tensor *part)
{
    ld_tensor *grad;
    bool accumulate;
    LD_CHECK(ld_grad_target(t, &grad, &accumulate));
    return put(grad, part, accumulate);
}

ld_status ld_grad_pass_all(const ld_node *n, ld_tensor *t)
{
    ld_tensor *grad;
    bool accumulate;
    ld_status st = ld_grad_pass(n, t, &grad, &accumulate);
    return st != LD_OK || grad == n->out->grad ? st : put(grad, n->out->grad, accumulate);
}

static void drop_grad(ld_tensor *t)
{
    ld_tensor_unref(t->grad);
    t->grad = NULL;
    t->has_grad = false;
}

/* Drops all gradients after a failure: some are half sums, or memory that was never filled. */
static void forget_gradients(ld_tape *t)
{
    for (int64_t i = 0; i < t->n_nodes; i++) {
        ld_node *n = &t->nodes[i];
        n->out->has_grad = false;
        for (int j = 0; j < LD_NODE_INPUTS; j++)
            if (n->in[j])
                n->in[j]->has_grad = false;
    }
}

/* Fails with LD_STATE when n's backward has read a tensor that was changed after the forward pass.
 * It is called after backward, since a tensor that is read may be a gradient that backward adds
 * to. */
static ld_status check_unchanged(const ld_node *n)
{
    const char *what = NULL;
    for (int i = 0; i < LD_NODE_INPUTS; i++)
        if (!(n->unread & (unsigned)LD_IN0 << i) && ld_tensor_changed_since(n->in[i], n->time))
            what = "an input";
    if (!(n->unread & LD_OUT) && ld_tensor_changed_since(n->out, n->time))
        what = "the result";
    if (!what)
        return LD_OK;
    return ld_fail(LD_STATE,
                   "backward: %s of %s was changed in place after it was used; change a :clone(), "
                   "or change it after backward",
                   what, n->name);
}

/* Walks the nodes from last to first. */
static ld_status walk(ld_tape *t)
{
    for (int64_t i = t->n_nodes - 1; i >= 0; i--) {
        ld_node *n = &t->nodes[i];
        if (!n->out->has_grad)
            continue;
        LD_CHECK(ld_poll());
        if (meanwhile)
            LD_CHECK(meanwhile());
        double began = ld_clock();
        LD_CHECK(n->backward(n));
        n->seconds = ld_clock() - began;
        LD_CHECK(check_unchanged(n));
        if (!n->out->keep_grad)
            drop_grad(n->out);
    }
    return LD_OK;
}

ld_status ld_tape_backward(ld_tape *t, ld_tensor *loss)
{
    if (!ld_tape_is_open(t))
        return ld_fail(LD_STATE,
                       "backward: no step is open; step = ladies.step() opens one before forward");
    if (loss->step != t->step)
        return ld_fail(LD_STATE, "backward: the loss was not computed in the open step");
    if (t->went_back)
        return ld_fail(LD_STATE, "backward: called twice in one step");
    if (ld_tensor_size(loss) != 1)
        return ld_fail(LD_SHAPE, "backward: the loss must have one element, it is %s",
                       ld_tensor_shape(loss));
    if (!loss->tracked)
        return ld_fail(LD_STATE, "backward: the loss depends on no parameter");
    t->went_back = true;
    ld_tensor *grad;
    bool accumulate;
    LD_CHECK(ld_grad_target(loss, &grad, &accumulate));
    grad->data[0] = 1.0f;
    /* A model whose loss is almost 0 has denormal gradients by the thousand. They move no weight,
     * and make a step several times as long. */
    ld_float_mode mode = ld_float_mode_get();
    ld_float_mode_set(ld_float_mode_flushing(mode));
    t->walking = true;
    ld_status st = walk(t);
    t->walking = false;
    ld_float_mode_set(mode);
    if (st != LD_OK)
        forget_gradients(t);
    if (t->close_after)
        ld_tape_close(t);
    return st;
}

ld_status ld_tape_detach(ld_tensor **out, ld_tensor *t)
{
    return ld_tensor_view(out, t, t->ndim, t->n_rows, t->n_cols);
}

#include "grad/tape.h"

#include <string.h>

#include "base/clock.h"
#include "base/float_mode.h"
#include "base/memory.h"
#include "base/threads.h"

enum { CHUNK = 1 << 16 };

struct ld_tape {
    ld_node *nodes;
    int64_t n_nodes, node_capacity;
    ld_tensor **members; /* every tensor of the step, one reference each */
    int64_t n_members, member_capacity;
    uint64_t step; /* number of the open step; steps of all tapes have different numbers */
    bool open, record, went_back;
    bool walking, close_after; /* backward runs; close was called meanwhile */
};

static atomic_ullong step_counter = 1;

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

/* Makes room for one more element. */
static ld_status grow(void **array, int64_t *capacity, int64_t used, size_t size)
{
    if (used < *capacity)
        return LD_OK;
    int64_t wanted = *capacity ? 2 * *capacity : 64;
    void *larger = ld_alloc_array(wanted, size, LD_MEM_TAPE);
    if (!larger)
        return LD_NOMEM;
    if (used > 0)
        memcpy(larger, *array, (size_t)used * size);
    ld_free(*array);
    *array = larger;
    *capacity = wanted;
    return LD_OK;
}

static ld_status record(ld_tape *t, ld_tensor *out, const ld_node *node)
{
    if (!ld_tape_is_open(t))
        return LD_OK;
    bool wanted = false;
    for (int i = 0; i < LD_NODE_INPUTS; i++)
        wanted = wanted || ld_wants_grad(node->in[i]);
    ld_status st;
    if ((st = grow((void **)&t->members, &t->member_capacity, t->n_members, sizeof(ld_tensor *))) !=
        LD_OK)
        return st;
    if ((st = grow((void **)&t->nodes, &t->node_capacity, t->n_nodes, sizeof(ld_node))) != LD_OK)
        return st;
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

ld_status ld_tape_finish(ld_tape *tape, ld_tensor **out, ld_tensor *y, const ld_node *node,
                         ld_status st)
{
    if (st == LD_OK)
        st = record(tape, y, node);
    if (st == LD_OK)
        *out = y;
    else
        ld_tensor_unref(y);
    return st;
}

ld_status ld_grad_target(ld_tensor *t, ld_tensor **grad, bool *accumulate)
{
    ld_status st = t->grad ? ld_tensor_change(t->grad) : ld_tensor_like(&t->grad, t);
    if (st != LD_OK)
        return st;
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

static void zero_chunk(void *ctx, int64_t begin, int64_t end)
{
    memset((float *)ctx + begin, 0, (size_t)(end - begin) * sizeof(float));
}

ld_status ld_grad_zeroed(ld_tensor *t, ld_tensor **grad)
{
    bool accumulate;
    ld_status st = ld_grad_target(t, grad, &accumulate);
    if (st == LD_OK && !accumulate)
        st = ld_parallel_for(ld_tensor_size(t), CHUNK, zero_chunk, (*grad)->data);
    return st;
}

ld_status ld_grad_add(ld_tensor *t, const ld_tensor *part)
{
    ld_tensor *grad;
    bool accumulate;
    ld_status st = ld_grad_target(t, &grad, &accumulate);
    if (st != LD_OK)
        return st;
    if (!accumulate)
        memcpy(grad->data, part->data, (size_t)ld_tensor_size(t) * sizeof(float));
    for (int64_t i = 0, n = ld_tensor_size(t); accumulate && i < n; i++)
        grad->data[i] += part->data[i];
    return LD_OK;
}

static void drop_grad(ld_tensor *t)
{
    ld_tensor_unref(t->grad);
    t->grad = NULL;
    t->has_grad = false;
}

/* After a failure some gradients are half sums, or memory that was never filled. */
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

/* LD_STATE when n's backward has read what is no longer as it was in the forward pass. To be asked
 * afterwards: what it reads may be a gradient that it adds to. */
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
        ld_status st = ld_poll();
        double began = ld_clock();
        if (st == LD_OK)
            st = n->backward(n);
        n->seconds = ld_clock() - began;
        if (st == LD_OK)
            st = check_unchanged(n);
        if (st != LD_OK)
            return st;
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
    ld_status st = ld_grad_target(loss, &grad, &accumulate);
    if (st != LD_OK)
        return st;
    grad->data[0] = 1.0f;
    /* A model that knows its nodes by heart has denormal gradients by the thousand. They move no weight,
     * and make a step several times as long. */
    ld_float_mode mode = ld_float_mode_get();
    ld_float_mode_set(ld_float_mode_flushing(mode));
    t->walking = true;
    st = walk(t);
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

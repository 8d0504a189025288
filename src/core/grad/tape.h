/* Reverse-mode automatic differentiation: an eager tape with one scope per training step.
 *
 * An operation called with an open tape computes its result at once and, when a parameter lies
 * upstream, records a node. ld_tape_backward walks the nodes from last to first. Everything that
 * is made on the tape belongs to its step and is released when the step closes; ld_tape_detach
 * gives a tensor a life beyond it.
 *
 * With tape NULL an operation only computes. Gradients of parameters accumulate until the optimizer
 * uses them; those of intermediates are released as soon as they have been passed on, unless
 * keep_grad is set. */
#ifndef LD_GRAD_TAPE_H
#define LD_GRAD_TAPE_H

#include "base/status.h"
#include "graph/csr.h"
#include "tensor/index.h"
#include "tensor/tensor.h"

typedef struct ld_node ld_node;
typedef struct ld_tape ld_tape;

/* Passes the gradient of node->out on to the node's inputs. */
typedef ld_status ld_backward_fn(ld_node *node);

enum { LD_NODE_INPUTS = 6, LD_NODE_SAVED = 2 };

/* Parts of a node, as bits. */
enum {
    LD_IN0 = 1 << 0,
    LD_IN1 = 1 << 1,
    LD_IN2 = 1 << 2,
    LD_IN3 = 1 << 3,
    LD_IN4 = 1 << 4,
    LD_IN5 = 1 << 5,
    LD_OUT = 1 << 6,
};

/* A recorded operation. The tape holds a reference of everything in it. */
struct ld_node {
    const char *name; /* the operation, for messages */
    ld_backward_fn *backward;
    unsigned unread; /* the parts that backward does not read: they may change */
    uint64_t time;   /* when it was recorded; see ld_tensor_time */
    double seconds;  /* backward's time, 0 before it has run */
    ld_tensor *out;
    ld_tensor *in[LD_NODE_INPUTS]; /* inputs, NULL where there is none */
    ld_tensor
        *saved[LD_NODE_SAVED]; /* tensors that backward also needs; constant, as all that follows */
    ld_csr *matrix;            /* its values and scales are inputs where backward reads them */
    ld_csr *sparse;            /* a constant operand */
    ld_index *index;
    double number; /* and small things */
    int variant;
    void *custom; /* belongs to an operation defined outside core */
    void (*custom_free)(void *);
};

/* Makes an empty, closed tape; it is freed (and closed) by ld_tape_free. */
ld_status ld_tape_new(ld_tape **out);
void ld_tape_free(ld_tape *tape);

/* Begins a step. Without `record` nothing is recorded and only lifetimes are managed. LD_STATE when
 * a step is open already. */
ld_status ld_tape_open(ld_tape *tape, bool record);

/* Ends the step: releases every tensor that belongs to it. No-op when closed; during backward it
 * takes effect at backward's end. */
void ld_tape_close(ld_tape *tape);

bool ld_tape_is_open(const ld_tape *tape);

/* True when operations are recorded: a step is open that records and has not gone backward yet,
 * after which nothing more could be had of them. NULL does not record. */
bool ld_tape_records(const ld_tape *tape);

/* Returns the number of nodes recorded so far in this step. */
int64_t ld_tape_length(const ld_tape *tape);

/* Returns the seconds that backward of the i-th node took; 0 where it has not run. */
double ld_tape_seconds(const ld_tape *tape, int64_t i);

/* Passes gradients from `loss`, a tensor of one element made in this step, to all that it depends
 * on. LD_STATE when called twice in a step, and when something that an operation's backward reads
 * was changed in place after the operation. On any failure half-way, the gradients of all tensors
 * that the step used are dropped, those of earlier steps with them. Denormal numbers count as zeros
 * meanwhile (system/float_mode.h). */
ld_status ld_tape_backward(ld_tape *tape, ld_tensor *loss);

/* Makes a constant of t's value, outside of any step; it shares t's storage. */
ld_status ld_tape_detach(ld_tensor **out, ld_tensor *t);

/* --- for operations --------------------------------------------------------------------------- */

/* True when gradients flow through t. */
static inline bool ld_wants_grad(const ld_tensor *t)
{
    return t && (t->requires_grad || t->tracked);
}

/* True when gradients flow through a matrix: through its values or one of its scales. */
static inline bool ld_csr_wants_grad(const ld_csr *a)
{
    return ld_wants_grad(a->values) || ld_wants_grad(a->row_scale) || ld_wants_grad(a->col_scale);
}

/* The tape when it records and a carries a gradient, otherwise NULL. */
static inline ld_tape *ld_matrix_tape(ld_tape *tape, const ld_csr *a)
{
    return ld_tape_records(tape) && ld_csr_wants_grad(a) ? tape : NULL;
}

/* True when an operation may write its result over x, which its caller does not need afterwards: x
 * is the result of the operation that was recorded last, whose backward does not read it, and
 * besides the step and the caller nobody holds x or shares its memory. */
bool ld_tape_may_overwrite(const ld_tape *tape, const ld_tensor *x);

/* Ends an operation that computed `y`: y comes to belong to the open step, the node is recorded
 * when an input wants a gradient (with references of all that it names), and *out becomes another
 * reference of y. With tape NULL or closed nothing is recorded. */
ld_status ld_tape_finish(ld_tape *tape, ld_tensor **out, ld_tensor *y, const ld_node *node);

/* Has the calling thread call `f` at the end of each operation and before each operation of
 * backward, so that something else, such as messages, goes on while it computes; they fail where
 * it does. It must not wait. NULL, the default, is nothing. */
void ld_tape_set_meanwhile(ld_status (*f)(void));

/* Gives the memory for t's gradient. *accumulate says if it holds a part already, to which the
 * operation must add, or must be overwritten. */
ld_status ld_grad_target(ld_tensor *t, ld_tensor **grad, bool *accumulate);

/* Gives the memory for the gradient of an input of n that has the shape of n's result. n's backward
 * must read an element of the result's gradient for the last time when it writes that of the input:
 * the two are the same memory where nothing else needs the former. */
ld_status ld_grad_pass(const ld_node *n, ld_tensor *t, ld_tensor **grad, bool *accumulate);

/* Gives the memory for t's gradient, zeroed where it holds nothing yet, to an operation that only
 * ever adds to it. */
ld_status ld_grad_zeroed(ld_tensor *t, ld_tensor **grad);

/* Adds `part`, which has as many elements as t, to t's gradient. */
ld_status ld_grad_add(ld_tensor *t, const ld_tensor *part);

/* Adds all of the gradient of n's result to that of its input t, which has as many elements. The
 * two may be the same memory then, as with ld_grad_pass. */
ld_status ld_grad_pass_all(const ld_node *n, ld_tensor *t);

#endif

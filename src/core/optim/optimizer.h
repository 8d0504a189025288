/* Optimizers: SGD with momentum, Adam, AdamW.
 *
 * An optimizer moves its parameters into one slab of memory, and their gradients and moments into
 * others of the same layout, so that a step is one pass over contiguous memory. */
#ifndef LD_OPTIM_OPTIMIZER_H
#define LD_OPTIM_OPTIMIZER_H

#include "base/own.h"
#include "base/status.h"
#include "tensor/tensor.h"

typedef enum { LD_SGD, LD_ADAM, LD_ADAMW } ld_optimizer_kind;

typedef struct {
    double lr;
    double momentum;          /* SGD */
    double beta1, beta2, eps; /* Adam, AdamW */
    double weight_decay;      /* added to the gradient; AdamW: taken off the weights directly */
} ld_optimizer_options;

/* Parameters that are updated alike. Those of the first group have the options of the optimizer. */
typedef struct {
    double rate; /* multiplies the optimizer's learning rate */
    double weight_decay;
    double clip;  /* bound on the norm of the group's gradients; 0: none */
    double scale; /* of its gradients in the step that is being made, 1 otherwise */
} ld_optimizer_group;

enum { LD_LEVELS = 16, LD_MOST_LEAVES = 1 << LD_LEVELS };

/* Some leaves of the tree in which the gradients of a step are added: `count` of them from `first`
 * on. */
typedef struct {
    int64_t first, count;
} ld_leaves;

/* A sum of leaves that waits for the sum to its right. */
typedef struct {
    ld_leaves leaves;
    ld_tensor *slab;
} ld_sum;

/* A part of the slabs: elements from `first` up to, not including, `end`. */
typedef struct {
    int64_t first, end;
} ld_part;

typedef struct ld_optimizer {
    ld_optimizer_kind kind;
    ld_optimizer_options options;
    int64_t n;          /* parameters */
    ld_tensor **params; /* one reference each */
    int64_t *steps;     /* updates that each parameter has had */
    ld_optimizer_group *groups;
    int64_t n_groups, most_groups;
    int64_t *group;            /* the group of each parameter */
    ld_tensor *values, *grads; /* slabs: vectors of equal length */
    ld_part own;               /* the part with moments, which a step changes: ld_optimizer_keep */
    ld_tensor *moment1;        /* momentum, or Adam's first moment; NULL for plain SGD */
    ld_tensor *moment2;        /* Adam's second moment, or NULL */
    int n_sums;                /* sums that wait: see ld_optimizer_accumulate */
    ld_sum sums[2 * LD_LEVELS];
    bool *in_sum; /* true for parameters with a gradient in these sums */
} ld_optimizer;

/* Makes an optimizer of n parameters, which become leaves that need gradients, also frozen ones.
 * Fails with LD_VALUE for options out of range, and with LD_STATE when a parameter occurs twice or
 * shares memory with a view. After a failure the parameters are what they were. */
ld_status ld_optimizer_new(ld_optimizer **out, ld_optimizer_kind kind,
                           const ld_optimizer_options *options, ld_tensor *const *params,
                           int64_t n);
void ld_optimizer_free(ld_optimizer *o);
LD_OWNED_BY(ld_optimizer, ld_optimizer_free)

/* Sets the learning rate. Fails with LD_VALUE unless it is 0 or more and finite in float32. */
ld_status ld_optimizer_set_lr(ld_optimizer *o, double lr);

/* Makes a group of n of the parameters, which leave the groups that they were in: its learning rate
 * now is `lr`, and stays the same multiple of the optimizer's when that is set. Fails with LD_VALUE
 * for a number out of range, or where the optimizer's learning rate is 0 and this one is another;
 * with LD_STATE for a tensor that is none of the parameters, and for a clip where the optimizer keeps
 * a part. After a failure nothing has changed. */
ld_status ld_optimizer_add_group(ld_optimizer *o, ld_tensor *const *params, int64_t n, double lr,
                                 double weight_decay, double clip);

/* Fails with LD_STATE, with `where` beginning the message, unless all parameters are in the slabs:
 * an optimizer made later may have moved some into its own. */
ld_status ld_optimizer_check_slabs(const ld_optimizer *o, const char *where);

/* Returns true when t itself, not one that is equal, is one of the parameters. */
bool ld_optimizer_has(const ld_optimizer *o, const ld_tensor *t);

/* Makes a slab of the parameters' layout, of zeros that nobody can freeze. */
ld_status ld_optimizer_new_slab(ld_tensor **out, int64_t size);

/* Sets the gradients aside as number `leaf`, from 0, of the `leaves` that make a step. *complete
 * becomes true when all are there: then the gradients are the mean of all, their sum taken in a
 * binary tree that depends on `leaves` alone (see accumulate.c). The first may be any of them, and
 * the others follow in their order; the sums of a part of a step stay in `sums` for the process
 * that has the other leaves. A parameter without a gradient counts as one of zeros where any of the
 * others has one. Fails with LD_VALUE for a number of leaves out of range, or a leaf that is not
 * the next. */
ld_status ld_optimizer_accumulate(ld_optimizer *o, int64_t leaf, int64_t leaves, bool *complete);

/* Returns how many leaves wait. */
int64_t ld_optimizer_waiting(const ld_optimizer *o);

/* Makes `mean` the gradients of the parameters for which `has` is true, and forgets the sums that
 * wait. `mean` is a vector of the slabs' layout or the slab of gradients itself. */
ld_status ld_optimizer_set_mean(ld_optimizer *o, const ld_tensor *mean, const bool *has);

/* Returns true when any of the parameters has a gradient. */
bool ld_optimizer_has_gradient(const ld_optimizer *o);

/* Updates every parameter that has a gradient, and uses the gradients up. Fails with LD_STATE when
 * some wait for others to be accumulated. Adam: Kingma and Ba 2015, algorithm 1; AdamW: Loshchilov
 * and Hutter 2019, algorithm 2. */
ld_status ld_optimizer_step(ld_optimizer *o);

/* Makes a step with the gradients scaled as they are read, as ld_optimizer_clip would have scaled
 * them. It fails as that does, and has then changed nothing. */
ld_status ld_optimizer_step_clipped(ld_optimizer *o, double most, double *norm);

/* Forgets the gradients without using them, those set aside too. */
void ld_optimizer_clear(ld_optimizer *o);

/* Scales the gradients of each group that has a clip so that their norm is within it, and then all so
 * that their joint Euclidean norm is at most `most`; *norm is the joint norm before that. Fails with
 * LD_VALUE when a norm is not finite, and has then changed nothing. */
ld_status ld_optimizer_clip(ld_optimizer *o, double most, double *norm);

/* Gives part i, from 0, of the slabs cut into n of about equal size, at borders of the chunks by
 * which the square of the gradients' norm is summed. Fails with LD_VALUE unless 0 <= i < n <
 * 2^31. */
ld_status ld_optimizer_part(ld_part *part, const ld_optimizer *o, int64_t i, int64_t n);

/* Keeps only that part from now on: its moments alone, and a step changes nothing else, since other
 * processes have the other parts. Where the part grows, its new moments are zeros. Fails with
 * LD_STATE where a group has a clip, unless the part is the whole: the norm of its gradients is not
 * known from a part. */
ld_status ld_optimizer_keep(ld_optimizer *o, int64_t i, int64_t n);

/* Sets the moments, or the part of them that is kept, from vectors of the slabs' layout. A moment
 * that the optimizer lacks is NULL. */
ld_status ld_optimizer_set_moments(ld_optimizer *o, const ld_tensor *moment1,
                                   const ld_tensor *moment2);

/* Gives the *n sums of squares of the gradients' chunks in the part that is kept,
 * ld_optimizer_most_squares at most. The sums of all parts in their order, added up, are the square
 * of the norm. */
ld_status ld_optimizer_squares(double *sums, int64_t *n, const ld_optimizer *o);
int64_t ld_optimizer_most_squares(const ld_optimizer *o);

/* Makes a step as ld_optimizer_step_clipped does, where other processes have parts of the
 * gradients: `square` is the square of the norm of all of them. */
ld_status ld_optimizer_step_of(ld_optimizer *o, double most, double square, double *norm);

#endif

/* Optimizers: SGD with momentum, Adam, AdamW.
 *
 * An optimizer moves its parameters into one slab of memory, and their gradients and moments into
 * others of the same layout, so that a step is one pass over contiguous memory. */
#ifndef LD_OPTIM_OPTIMIZER_H
#define LD_OPTIM_OPTIMIZER_H

#include "base/status.h"
#include "tensor/tensor.h"

typedef enum { LD_SGD, LD_ADAM, LD_ADAMW } ld_optimizer_kind;

typedef struct {
    double lr;
    double momentum;          /* SGD */
    double beta1, beta2, eps; /* Adam, AdamW */
    double weight_decay;      /* added to the gradient; AdamW: taken off the weights directly */
} ld_optimizer_options;

enum { LD_LEVELS = 16, LD_MOST_LEAVES = 1 << LD_LEVELS };

/* Leaves of the tree in which the gradients of a step are added: `count` of them from `first` on. */
typedef struct {
    int64_t first, count;
} ld_leaves;

/* A sum that waits for the one to its right. */
typedef struct {
    ld_leaves leaves;
    ld_tensor *slab;
} ld_sum;

/* Elements of the slabs, from `first` up to, not including, `end`. */
typedef struct {
    int64_t first, end;
} ld_part;

typedef struct ld_optimizer {
    ld_optimizer_kind kind;
    ld_optimizer_options options;
    int64_t n;                 /* parameters */
    ld_tensor **params;        /* one reference each */
    int64_t *steps;            /* updates that each parameter has had */
    ld_tensor *values, *grads; /* slabs: vectors of equal length */
    ld_part own;               /* what has moments, and changes in a step: see ld_optimizer_keep */
    ld_tensor *moment1;        /* momentum, or Adam's first moment; NULL for plain SGD */
    ld_tensor *moment2;        /* Adam's second moment, or NULL */
    int n_sums;                /* sums that wait: see ld_optimizer_accumulate */
    ld_sum sums[2 * LD_LEVELS];
    bool *in_sum; /* which parameters have a gradient there */
} ld_optimizer;

/* An optimizer of n parameters, which become leaves that want gradients, also frozen ones. LD_VALUE
 * for options out of range, LD_STATE when a parameter occurs twice or shares memory with a view. After
 * a failure the parameters are what they were. */
ld_status ld_optimizer_new(ld_optimizer **out, ld_optimizer_kind kind,
                           const ld_optimizer_options *options, ld_tensor *const *params,
                           int64_t n);
void ld_optimizer_free(ld_optimizer *o);

/* Sets the learning rate. LD_VALUE unless it is 0 or more and finite in float32. */
ld_status ld_optimizer_set_lr(ld_optimizer *o, double lr);

/* LD_STATE, with `where` beginning the message, unless all parameters are in the slabs: an optimizer
 * made later may have moved some into its own. */
ld_status ld_optimizer_check_slabs(const ld_optimizer *o, const char *where);

/* Whether t itself, not one that is equal, is one of the parameters. */
bool ld_optimizer_has(const ld_optimizer *o, const ld_tensor *t);

/* A slab of the parameters' layout, zeros that nobody can freeze. */
ld_status ld_optimizer_new_slab(ld_tensor **out, int64_t size);

/* Sets the gradients aside as number `leaf`, from 0, of the `leaves` that make a step; *complete
 * tells whether all are there: then the gradients are the mean of all, their sum taken in a binary
 * tree that depends on `leaves` alone (see accumulate.c). The first may be any of them, and those
 * after it follow in their order: what was added of a part of a step stays in `sums`, for who has the
 * others. A parameter without a gradient counts as one of zeros where any of the others has one.
 * LD_VALUE for a number of leaves out of range, or one that is not the next. */
ld_status ld_optimizer_accumulate(ld_optimizer *o, int64_t leaf, int64_t leaves, bool *complete);

/* How many leaves wait. */
int64_t ld_optimizer_waiting(const ld_optimizer *o);

/* Makes `mean`, a vector of the slabs' layout or the slab of gradients itself, the gradients of the
 * parameters for which `has` says so; what waits is forgotten. */
ld_status ld_optimizer_set_mean(ld_optimizer *o, const ld_tensor *mean, const bool *has);

/* Whether any of the parameters has a gradient. */
bool ld_optimizer_has_gradient(const ld_optimizer *o);

/* One update of every parameter that has a gradient; the gradients are used up. LD_STATE when some
 * wait for others to be accumulated.
 * Adam: Kingma and Ba 2015, algorithm 1; AdamW: Loshchilov and Hutter 2019, algorithm 2. */
ld_status ld_optimizer_step(ld_optimizer *o);

/* The same with the gradients scaled as they are read, as ld_optimizer_clip would have scaled them;
 * with its errors, after which nothing has changed. */
ld_status ld_optimizer_step_clipped(ld_optimizer *o, double most, double *norm);

/* Forgets the gradients without using them, those set aside too. */
void ld_optimizer_clear(ld_optimizer *o);

/* Scales all gradients so that their joint Euclidean norm is at most `most`; *norm is the norm
 * before. LD_VALUE when it is not finite. */
ld_status ld_optimizer_clip(ld_optimizer *o, double most, double *norm);

/* Part i, from 0, of the slabs cut into n of about equal size: whole chunks of those by which the
 * square of the gradients' norm is summed. LD_VALUE unless 0 <= i < n < 2^31. */
ld_status ld_optimizer_part(ld_part *part, const ld_optimizer *o, int64_t i, int64_t n);

/* From now on there are moments for that part alone, and a step changes nothing else: others have the
 * other parts. What had no moments before, where the part grows, has zeros. */
ld_status ld_optimizer_keep(ld_optimizer *o, int64_t i, int64_t n);

/* Sets the moments, or the part of them that is kept, from vectors of the slabs' layout; one that the
 * optimizer has not is NULL. */
ld_status ld_optimizer_set_moments(ld_optimizer *o, const ld_tensor *moment1,
                                   const ld_tensor *moment2);

/* The *n sums of squares of the gradients' chunks in the part that is kept, ld_optimizer_most_squares
 * at most. Those of all parts in their order, added up, are the square of the norm. */
ld_status ld_optimizer_squares(double *sums, int64_t *n, const ld_optimizer *o);
int64_t ld_optimizer_most_squares(const ld_optimizer *o);

/* As ld_optimizer_step_clipped, for gradients of which others have parts: `square` is that of the
 * norm of all. */
ld_status ld_optimizer_step_of(ld_optimizer *o, double most, double square, double *norm);

#endif

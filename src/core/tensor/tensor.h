/* Dense float32 tensors of one or two dimensions, row-major and without gaps.
 *
 * A tensor points into reference-counted storage; views share it. A vector (ndim 1) has n_cols 1.
 * Functions that make a tensor store it in `*out` with one reference, which the caller gives back
 * with ld_tensor_unref; on failure `*out` is untouched. */
#ifndef LD_TENSOR_TENSOR_H
#define LD_TENSOR_TENSOR_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/own.h"
#include "base/status.h"
#include "memory/mapping.h"
#include "memory/room.h"
#include "random/rng.h"
#include "tensor/index.h"

typedef struct ld_storage {
    atomic_int refs;
    atomic_bool frozen; /* other threads read it: it never changes again */
    bool in_optimizer;  /* an optimizer changes it: it is never frozen */
    float *data;
    int64_t size;              /* floats */
    uint64_t changed;          /* the time of the last change in place: see ld_tensor_change */
    ld_mapping *mapping;       /* the file that data lies in, or NULL if it is a block */
    ld_room *room;             /* the room that counts it, or NULL */
    struct ld_storage *within; /* the larger storage of which it is a part, or NULL */
} ld_storage;

/* Returns the storage that notes when elements of s changed. */
static inline ld_storage *ld_storage_whole(ld_storage *s)
{
    return s->within ? s->within : s;
}

typedef struct ld_tensor {
    atomic_int refs;
    int ndim;
    int64_t n_rows, n_cols;
    float *data; /* row-major, inside the storage */
    ld_storage *storage;
    /* Autograd's own fields; see grad/tape.h. */
    struct ld_tensor *grad; /* same shape, or NULL */
    uint64_t step;          /* the step that it belongs to; 0 = none */
    bool is_parameter;      /* stays true, also while requires_grad is not */
    bool requires_grad;     /* a parameter that is not frozen */
    bool has_grad;          /* grad holds a gradient, rather than memory for one */
    bool keep_grad;         /* keep an intermediate's gradient after its use */
    bool tracked;           /* some recorded operation leads here from a parameter */
} ld_tensor;

/* Makes an uninitialised tensor. ndim 1: a vector of n_rows elements (n_cols must be 1). */
ld_status ld_tensor_new(ld_tensor **out, int ndim, int64_t n_rows, int64_t n_cols);

/* Makes a tensor over a block from ld_alloc with at least its size, which it takes, freeing it
 * after a failure too. */
ld_status ld_tensor_of_block(ld_tensor **out, float *block, int ndim, int64_t n_rows,
                             int64_t n_cols);

/* Makes a tensor of this shape, filled with `value`. */
ld_status ld_tensor_full(ld_tensor **out, int ndim, int64_t n_rows, int64_t n_cols, float value);

/* Makes a tensor over mapped memory and takes a reference to it; `data` lies in it, aligned. */
ld_status ld_tensor_over(ld_tensor **out, int ndim, int64_t n_rows, int64_t n_cols, float *data,
                         ld_mapping *mapping);

/* Makes an uninitialised tensor of the same shape. */
ld_status ld_tensor_like(ld_tensor **out, const ld_tensor *t);

/* Makes a view of t's storage, outside of any step, of the same or another shape of the same
 * size. */
ld_status ld_tensor_view(ld_tensor **out, ld_tensor *t, int ndim, int64_t n_rows, int64_t n_cols);

/* Makes a view of rows first .. first + count - 1 of t (elements, for a vector). */
ld_status ld_tensor_slice(ld_tensor **out, ld_tensor *t, int64_t first, int64_t count);

/* Makes a copy with storage of its own, outside of any step. */
ld_status ld_tensor_clone(ld_tensor **out, const ld_tensor *t);

/* Take and give back references; NULL is allowed. */
ld_tensor *ld_tensor_ref(ld_tensor *t);
void ld_tensor_unref(ld_tensor *t);
LD_OWNED_BY(ld_tensor, ld_tensor_unref)

/* Lets go of the storage at once; later use of t fails in ld_tensor_check. */
void ld_tensor_release(ld_tensor *t);

/* Returns true when other tensors lie in the same memory: views of t, or the tensor that t is a
 * view of. The slab that t is a part of, and the slab's other parts, do not count. */
bool ld_tensor_has_views(const ld_tensor *t);

/* Makes a tensor of the elements of `slab`, an optimizer's, from `first` on, with the shape of
 * another one. Unlike a slice it can tell its own views from other tensors in the slab. */
ld_status ld_tensor_part(ld_tensor **out, ld_tensor *slab, int64_t first, const ld_tensor *shape);

/* Fails with LD_STATE when t's elements cannot be moved elsewhere: others are views of t, which
 * would be left behind, or t is frozen. */
ld_status ld_tensor_check_move(const ld_tensor *t);

/* Moves t's elements to `to`, of the same shape, whose storage t has from then on. */
void ld_tensor_move(ld_tensor *t, ld_tensor *to);

/* Moves t's elements to a file of the room, where they are not in one, and with a `path`, which
 * nothing may have, freezes them and has that file outlive the process. Fails with LD_STATE where
 * t is, or has, a view of other tensors, and else as ld_mapping_keep does. */
ld_status ld_tensor_keep(ld_tensor *t, ld_room *room, const char *path);

/* Makes a frozen tensor, which the room counts, over a file that ld_tensor_keep has named. */
ld_status ld_tensor_kept(ld_tensor **out, ld_room *room, const char *path, int ndim, int64_t n_rows,
                         int64_t n_cols);

/* Freezes t's elements, as all tensors that share its storage see them, so that other threads may
 * read them. There is no way back. Fails with LD_STATE when they must go on changing: t is a
 * parameter or of a step, or shares an optimizer's memory. */
ld_status ld_tensor_freeze(ld_tensor *t);

bool ld_tensor_is_frozen(const ld_tensor *t);

/* Fails with LD_STATE when t's elements are frozen. */
ld_status ld_tensor_check_change(const ld_tensor *t);

/* Must be called before t's elements are changed in place. Fails with LD_STATE when they are
 * frozen, else notes the time, so that whoever read them before can find out that they were
 * changed, through t or any tensor that shares them. */
ld_status ld_tensor_change(ld_tensor *t);

/* Returns the time, which is the number of changes so far, of all tensors. */
uint64_t ld_tensor_time(void);

/* Returns true when t's elements (NULL: none) have been changed in place after `time`. */
static inline bool ld_tensor_changed_since(const ld_tensor *t, uint64_t time)
{
    return t && ld_storage_whole(t->storage)->changed > time;
}

/* Fails with LD_STATE when t's storage has been released (its step is closed). */
ld_status ld_tensor_check(const ld_tensor *t, const char *where);

/* Returns the number of elements. */
static inline int64_t ld_tensor_size(const ld_tensor *t)
{
    return t->n_rows * t->n_cols;
}

static inline bool ld_tensor_same_shape(const ld_tensor *a, const ld_tensor *b)
{
    return a->ndim == b->ndim && a->n_rows == b->n_rows && a->n_cols == b->n_cols;
}

/* Returns "512 x 256" or "512" in a static thread-local buffer; up to four may be in use at a
 * time. */
const char *ld_tensor_shape(const ld_tensor *t);

/* --- reading (tensor_read.c) ---------------------------------------------------------------- */

/* Returns true when a and b have the same shape and equal elements; nan equals nothing. */
bool ld_tensor_equal(const ld_tensor *a, const ld_tensor *b);

/* Returns the position of the largest or, with sign -1, smallest element: of the first NaN where
 * there is one, else of the first among equals. The tensor must not be empty. */
int64_t ld_tensor_extreme(const ld_tensor *t, int sign);

/* Gives the least and the greatest element, both NaN where one is, and for an empty tensor. */
void ld_tensor_range(float *least, float *greatest, const ld_tensor *t);

/* Gives the column of the largest element of each row: of the first NaN where there is one, else of
 * the first among equals. Fails with LD_SHAPE without columns. */
ld_status ld_tensor_argmax(ld_index **out, const ld_tensor *t);

/* Return the position of the first element of a tensor, or of the first of n numbers, that is
 * infinite or NaN, and -1 when there is none. */
int64_t ld_tensor_not_finite(const ld_tensor *t);
int64_t ld_first_not_finite(const float *x, int64_t n);

/* Picks the elements of the vector t at `positions`, which must be in range; NULL for NULL. */
ld_status ld_tensor_pick(ld_tensor **out, const ld_tensor *t, const ld_index *positions);

/* Returns the Euclidean norm of all elements, summed in double. */
double ld_tensor_norm(const ld_tensor *t);

/* Computes a hash of shape and bits. Stored rows of the same numbers have the same one, which begins
 * with that of the shape. */
uint64_t ld_tensor_hash_begin(int ndim, int64_t n_rows, int64_t n_cols);
ld_status ld_tensor_hash(uint64_t *hash, const ld_tensor *t);

/* --- the order of elements (tensor_order.c) --------------------------------------------------- */

/* Gives the positions of the k smallest elements of a vector from the smallest on or, descending,
 * of the k largest from the largest on; of a matrix the columns of those of each row, one row after
 * the other. Equal ones are in the order of their positions; nan counts as largest. Fails with
 * LD_SHAPE when there are fewer than k. */
ld_status ld_tensor_order(ld_index **out, const ld_tensor *t, int64_t k, bool descending);

/* Gives the positions of the elements that are not 0. */
ld_status ld_tensor_positions(ld_index **out, const ld_tensor *t);

/* --- changing in place (tensor_change.c) ---------------------------------------------------- */
/* The caller must have called ld_tensor_change before these. When one fails, the elements are as
 * they were. */

/* Fill t with normal (mean 0, given deviation) or uniform (low .. high) random numbers. */
ld_status ld_tensor_normal(ld_tensor *t, float deviation, ld_rng *rng);
ld_status ld_tensor_uniform(ld_tensor *t, float low, float high, ld_rng *rng);

void ld_tensor_fill(ld_tensor *t, float value);

/* Copies the elements of a tensor of the same shape, which may share t's storage. Fails with
 * LD_SHAPE for another shape. */
ld_status ld_tensor_copy(ld_tensor *t, const ld_tensor *from);

/* Copies row i of `rows`, which may share t's storage, to row at[i]. Fails with LD_SHAPE, or with
 * LD_RANGE for a row that t does not have. */
ld_status ld_tensor_copy_rows(ld_tensor *t, const ld_index *at, const ld_tensor *rows);

/* Add by[i], or `number` where `by` is NULL, to element at[i] of the vector t, or multiply by it,
 * one after the other: an element whose position is repeated changes as often. Fails with LD_SHAPE,
 * or with LD_RANGE for a position that t does not have. */
ld_status ld_tensor_add_at(ld_tensor *t, const ld_index *at, const ld_tensor *by, float number);
ld_status ld_tensor_mul_at(ld_tensor *t, const ld_index *at, const ld_tensor *by, float number);

#endif

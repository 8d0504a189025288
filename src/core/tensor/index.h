/* Vectors of int32: node ids, positions, labels. They count from 0 throughout core; -1 in a vector
 * of labels stands for no label. Immutable once shared. */
#ifndef LD_TENSOR_INDEX_H
#define LD_TENSOR_INDEX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/own.h"
#include "base/status.h"
#include "memory/mapping.h"
#include "random/rng.h"

typedef struct ld_index {
    atomic_int refs;
    int64_t size;
    int32_t *data;
    ld_mapping *mapping;  /* the file that data lies in, or NULL if it is a block */
    atomic_bool distinct; /* true once it is known that no element occurs twice */
} ld_index;

/* Makes an uninitialised vector with one reference, given back with ld_index_unref. */
ld_status ld_index_new(ld_index **out, int64_t size);

/* Makes a vector of the first `size` elements of a block from ld_alloc, which it takes, freeing it
 * after a failure too. */
ld_status ld_index_of_block(ld_index **out, int32_t *block, int64_t size);
/* Makes a vector over mapped memory and takes a reference to it; `data` lies in it, aligned. */
ld_status ld_index_over(ld_index **out, int64_t size, int32_t *data, ld_mapping *mapping);

ld_index *ld_index_ref(ld_index *x);
void ld_index_unref(ld_index *x);
LD_OWNED_BY(ld_index, ld_index_unref)

/* Makes the vector first, first + 1, ..., first + size - 1. */
ld_status ld_index_range(ld_index **out, int32_t first, int64_t size);

/* Gathers source[pick[i]] for every i. Fails with LD_RANGE when a position is outside of source. */
ld_status ld_index_gather(ld_index **out, const ld_index *source, const ld_index *pick);

/* Copies elements first .. first + count - 1. */
ld_status ld_index_slice(ld_index **out, const ld_index *x, int64_t first, int64_t count);

/* Puts the elements of n vectors one after the other. */
ld_status ld_index_concat(ld_index **out, ld_index *const *parts, int64_t n);

/* Makes an ascending copy. */
ld_status ld_index_sort(ld_index **out, const ld_index *x);

/* Gives the distinct elements in order of first appearance. */
ld_status ld_index_unique(ld_index **out, const ld_index *x);

/* Says how an element is treated that is looked for and is not there: it is left out, it gets the
 * position -1, or it is an error. */
typedef enum { LD_ABSENT_DROPPED, LD_ABSENT_NONE, LD_ABSENT_ERROR } ld_absent;

/* Finds the elements of b in a: gives their positions there, in b's order. When a holds an element
 * twice, its first position counts. Fails with LD_RANGE for the first that is absent, if that is an
 * error. */
ld_status ld_index_find(ld_index **out, const ld_index *a, const ld_index *b, ld_absent absent);

/* Finds the largest or, with sign -1, smallest element. Fails with LD_VALUE when there is none. */
ld_status ld_index_extreme(int32_t *out, const ld_index *x, int sign);

/* Counts how often each of the ids 0 .. n_ids - 1 occurs in x, where -1 is no id. Fails with
 * LD_RANGE for an id outside. */
ld_status ld_index_counts(ld_index **out, const ld_index *x, int64_t n_ids);

/* Gives each position of x as often as its element counts: element -1, which users see as 0, none, 0
 * once, and so on. Fails with LD_VALUE for more positions than an index holds. */
ld_status ld_index_repeated(ld_index **out, const ld_index *x);

/* Groups the positions of the ids 0 .. n_ids - 1 in x: those of id i are order[ends[i] .. ends[i +
 * 1] - 1], ascending; `ends` has n_ids + 1 elements. Fails with LD_RANGE for an id outside. */
ld_status ld_index_group(ld_index **order, ld_index **ends, const ld_index *x, int64_t n_ids);

/* Draws a random order of 0 .. n - 1, and gives the first k of it (all for k = n). */
ld_status ld_index_permutation(ld_index **out, int64_t n, int64_t k, ld_rng *rng);

/* Fails with LD_RANGE, position and value when an element is outside low .. high - 1. `what` begins
 * the message; ids are shown 1-based, as users know them. */
ld_status ld_index_check(const ld_index *x, int64_t low, int64_t high, const char *what);

/* Fails with LD_VALUE, the element and both positions when an element occurs twice. A vector that
 * was found to be distinct is not searched again. */
ld_status ld_index_check_unique(const ld_index *x, const char *what);

/* Sets *distinct to true if no element occurs twice. Elements must be at least 0. */
ld_status ld_index_is_distinct(bool *distinct, const ld_index *x);

bool ld_index_equal(const ld_index *a, const ld_index *b);
ld_status ld_index_hash(uint64_t *hash, const ld_index *x);

#endif

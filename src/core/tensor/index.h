/* Vectors of int32: node ids, positions, labels. 0-based throughout core; -1 in a vector of labels
 * means unlabelled. Immutable once shared. */
#ifndef LD_TENSOR_INDEX_H
#define LD_TENSOR_INDEX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/mapping.h"
#include "base/rng.h"
#include "base/status.h"

typedef struct ld_index {
    atomic_int refs;
    int64_t size;
    int32_t *data;
    ld_mapping *mapping;  /* that data lies in, or NULL: memory of its own */
    atomic_bool distinct; /* known to have no element twice */
} ld_index;

/* An uninitialised vector with one reference, given back with ld_index_unref. */
ld_status ld_index_new(ld_index **out, int64_t size);

/* A vector of the first `size` elements of a block of ld_alloc's, which it takes, also on failure. */
ld_status ld_index_of_block(ld_index **out, int32_t *block, int64_t size);
/* A vector over mapped memory, of which it takes a reference; `data` lies in it, aligned. */
ld_status ld_index_over(ld_index **out, int64_t size, int32_t *data, ld_mapping *mapping);

ld_index *ld_index_ref(ld_index *x);
void ld_index_unref(ld_index *x);

/* first, first + 1, ..., first + size - 1. */
ld_status ld_index_range(ld_index **out, int32_t first, int64_t size);

/* source[pick[i]] for every i. LD_RANGE when a position is outside of source. */
ld_status ld_index_gather(ld_index **out, const ld_index *source, const ld_index *pick);

/* Copy of elements first .. first + count - 1. */
ld_status ld_index_slice(ld_index **out, const ld_index *x, int64_t first, int64_t count);

/* The elements of n vectors, one after the other. */
ld_status ld_index_concat(ld_index **out, ld_index *const *parts, int64_t n);

/* An ascending copy. */
ld_status ld_index_sort(ld_index **out, const ld_index *x);

/* The distinct elements in order of first appearance. */
ld_status ld_index_unique(ld_index **out, const ld_index *x);

/* Positions in a of those elements of b that occur in a, in b's order; absent ones are dropped.
 * When a holds an element twice, its first position counts. */
ld_status ld_index_find(ld_index **out, const ld_index *a, const ld_index *b);

/* The largest or, with sign -1, smallest element; LD_VALUE when there is none. */
ld_status ld_index_extreme(int32_t *out, const ld_index *x, int sign);

/* How often each of the ids 0 .. n_ids - 1 occurs in x; -1 is none. LD_RANGE for an id outside. */
ld_status ld_index_counts(ld_index **out, const ld_index *x, int64_t n_ids);

/* The positions of the ids 0 .. n_ids - 1 in x: those of id i are order[ends[i] .. ends[i + 1] - 1],
 * ascending; `ends` has n_ids + 1 elements. LD_RANGE for an id outside. */
ld_status ld_index_group(ld_index **order, ld_index **ends, const ld_index *x, int64_t n_ids);

/* A random order of 0 .. n - 1; the first k of it (all for k = n). */
ld_status ld_index_permutation(ld_index **out, int64_t n, int64_t k, ld_rng *rng);

/* LD_RANGE with position and value when an element is outside low .. high - 1. `what` begins the
 * message; ids are shown 1-based, as users know them. */
ld_status ld_index_check(const ld_index *x, int64_t low, int64_t high, const char *what);

/* LD_VALUE with the element and both positions when an element occurs twice. What is found to be
 * distinct is not looked at again. */
ld_status ld_index_check_unique(const ld_index *x, const char *what);

/* The same as a question, about ids of at least 0. */
ld_status ld_index_is_distinct(bool *distinct, const ld_index *x);

bool ld_index_equal(const ld_index *a, const ld_index *b);
ld_status ld_index_hash(uint64_t *hash, const ld_index *x);

#endif

/* A set of distinct ids, and which of the columns of a row are in it: what slicing does most. */
#ifndef LD_GRAPH_ID_SET_H
#define LD_GRAPH_ID_SET_H

#include <stdint.h>

#include "base/filter.h"
#include "base/marker.h"
#include "base/status.h"
#include "tensor/index.h"

enum { LD_ID_SET_BLOCK = 128 };

/* Begun as {0}. */
typedef struct {
    ld_filter *filter;
    ld_marker *places; /* of the members in the Index that they came from */
} ld_id_set;

/* The set of `ids`, all below n_ids. What was made of it must be cleared after a failure as well. */
ld_status ld_id_set_new(ld_id_set *set, const ld_index *ids, int64_t n_ids);

void ld_id_set_clear(ld_id_set *set);

/* Those of ids[0 .. n-1], 0 < n <= LD_ID_SET_BLOCK, that may be in the set: where they are, in order, in
 * `at`, which has room for LD_ID_SET_BLOCK. `places` knows which of them are. */
int ld_id_set_maybe(int32_t *at, const int32_t *ids, int n, const ld_id_set *set);

#endif

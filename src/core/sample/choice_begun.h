/* A choice that was begun elsewhere: for draw_cols.c, which draws in another way and leaves the rest
 * and the weights to choice.c. */
#ifndef LD_SAMPLE_CHOICE_BEGUN_H
#define LD_SAMPLE_CHOICE_BEGUN_H

#include "sample/choice.h"
#include "sample/mass.h"

/* Where in one sub-stream the numbers of each kind begin: those of draws at 0, then those of keys that
 * follow draws, then those of columns that are drawn in two stages. */
static const uint64_t LD_CHOICE_KEYS = (uint64_t)1 << 63, LD_CHOICE_STAGES = (uint64_t)3 << 62;

typedef struct {
    const ld_index *draws; /* the first draws, or NULL */
    const ld_mass *mass;   /* what p sums to outside of `always`, if it holds less, or NULL */
    int64_t bound;         /* debias: of the support, that the weights go by; 0: the support */
} ld_choice_begun;

/* ld_choice by wor or wr, whose first draws `begun` holds: made by the same rule, in order, none of
 * them in `always` and for wr as often as drawn. Only the others of the k are drawn here. When there
 * are k already, p need not be whole: with `mass`, whose support is more than k, it may hold the drawn
 * positions alone. */
ld_status ld_choice_continue(ld_index **pick, ld_tensor **w, const ld_tensor *p, int64_t k,
                             ld_choice_options o, ld_choice_begun begun, ld_rng *rng);

#endif

/* Checks the order of calls. All ranks must make the same calls in the same order; where they do
 * not, texts of one would be taken for another's, or some would wait for ever. So a rank says where
 * it is before each text (ranks.c), and, when it waits for long, again and again (waiting.c). */
#ifndef LD_RANKS_ORDER_H
#define LD_RANKS_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

enum { LD_ORDER_NAME = 32 };

/* The place of a rank in the order. */
typedef struct {
    int64_t calls, fetches;   /* begun so far */
    uint64_t hash;            /* a hash of the names of the calls */
    int64_t in_fetch;         /* true while it waits for a fetch, and not in the last call */
    char name[LD_ORDER_NAME]; /* the last call */
} ld_order;

/* Note that this rank begins a call of this name, or a fetch. */
void ld_order_call(const char *name);
void ld_order_fetch(void);

/* Gives the place where this rank waits now. */
void ld_order_here(ld_order *out, bool in_fetch);

/* Fails with LD_STATE where this rank, which waits `here`, and another one wait for each other for
 * ever. */
ld_status ld_order_compare(const ld_order *here, int other, const ld_order *there);

/* Fails with LD_STATE unless this rank and another, which have met, have made the same calls. */
ld_status ld_order_check(int other, const ld_order *there);

#endif

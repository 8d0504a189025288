/* Decides which entries of rows Poisson sampling keeps (sample/rows.h has the rule). Nearly all of
 * its cost is a look at every entry, which is done here. */
#ifndef LD_SAMPLE_POISSON_KEEP_H
#define LD_SAMPLE_POISSON_KEEP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "kernel/row_draw.h"

/* The rule: entry j of a row with factor c and column u is kept where r <= min(1, c pi_u). */
typedef struct {
    const float *pi;  /* pi_u of the columns, or NULL for ones */
    const float *r;   /* r_u of the columns, or NULL: they are drawn, ... */
    bool shared;      /* ... one for each column, or else for each entry */
    ld_stream stream; /* from which they are drawn */
    uint8_t *levels;  /* of the columns, from ld_poisson_levels, or NULL */
} ld_poisson_rule;

/* Fills in the rule's levels for n_cols columns, where rows with `entries` entries are worth it.
 * They are freed by ld_free. */
ld_status ld_poisson_levels(ld_poisson_rule *rule, int64_t n_cols, int64_t entries);

/* Asks memory for the first of n columns of a row that is soon drawn from. Rows lie anywhere, and
 * all entries of one are looked at. */
void ld_poisson_ask(const int32_t *columns, int64_t n);

/* Draws from n entries and adds those that are kept to `out`, ascending, with their weights. Entry
 * j is added as first + j; its number, where entries have their own, is at position at + j of the
 * stream. Returns how many are kept, or -1 when c pi_u is negative or NaN. `out` has room for n. */
int64_t ld_poisson_keep(ld_row_draw *out, const ld_poisson_rule *rule, const int32_t *columns,
                        int64_t n, double c, int64_t first, uint64_t at);

#endif

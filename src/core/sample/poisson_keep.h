/* Which entries of rows Poisson sampling keeps (rows.h has what they are): what it costs is a look at
 * every entry, so this is the kernel. */
#ifndef LD_SAMPLE_POISSON_KEEP_H
#define LD_SAMPLE_POISSON_KEEP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "sample/row_draw.h"

/* Entry j of a row with factor c and column u is kept where r <= min(1, c pi_u). */
typedef struct {
    const float *pi;  /* of columns, or NULL for ones */
    const float *r;   /* of columns, or NULL: drawn, ... */
    bool shared;      /* ... for columns, or else for entries */
    ld_stream stream; /* what they are drawn from */
    uint8_t *levels;  /* of columns, as ld_poisson_levels makes them, or NULL */
} ld_poisson_rule;

/* Fills in the rule's levels for n_cols columns, where rows with `entries` entries are worth it.
 * They are freed by ld_free. */
ld_status ld_poisson_levels(ld_poisson_rule *rule, int64_t n_cols, int64_t entries);

/* Adds those of n entries that are kept to `out`, ascending, with their weights: entry j as first +
 * j, and its number, where entries have their own, at position at + j of the stream. Returns how many
 * there are, or -1 when c pi_u is negative or NaN. `out` has room for n. */
int64_t ld_poisson_keep(ld_row_draw *out, const ld_poisson_rule *rule, const int32_t *columns,
                        int64_t n, double c, int64_t first, uint64_t at);

#endif

/* Successive draws from running sums of probabilities. Where these are drawn from only once, sums
 * cost less to make than an alias table, and a draw O(log n). */
#ifndef LD_SAMPLE_SUMS_H
#define LD_SAMPLE_SUMS_H

#include <stdbool.h>
#include <stdint.h>

/* Returns the first of n ascending sums that exceeds the target, which is at least 0 and below the
 * last. */
static inline int64_t ld_sums_find(const double *sums, int64_t n, double target)
{
    int64_t at = 0;
    for (; n > 1; n -= n / 2)
        at += sums[at + n / 2 - 1] <= target ? n / 2 : 0;
    return at;
}

/* Returns true as long as it pays to go on with successive draws, of which those are thrown away
 * that fall on something drawn before. When most are, the rest is drawn in another way from what is
 * left. That is exact, since when it happens depends on past draws only. */
static inline bool ld_worth_redrawing(int64_t drawn, int64_t thrown_away)
{
    return thrown_away <= 2 * drawn + 64;
}

#endif

/* Finds out whether two ranks have made the same calls in the same order: each keeps a running hash
 * of its calls, and the hashes after equally many calls must be equal. Each rank keeps those of its
 * last calls, to compare with a rank that is not as far.
 *
 * Fetches come in between, and not at the same places everywhere. A rank that waits for a fetch
 * which another has not begun, while that one waits in a call that this one has not begun, waits
 * for ever. Both tell of themselves while they wait, by which that is found. */
#include "order.h"

#include <inttypes.h>
#include <string.h>

#include "memory/hash.h"
#include "system/clock.h"

enum {
    KEPT = 64, /* calls */
    SURE = 4,  /* seconds, after which two crossed ranks are taken to wait for each other */
};

static ld_order now;
static struct {
    uint64_t hash;
    char name[LD_ORDER_NAME];
} kept[KEPT];

static const char RULE[] = "all must call the same functions in the same order";

void ld_order_call(const char *name)
{
    now.calls++;
    memset(now.name, 0, sizeof now.name);
    strncpy(now.name, name, sizeof now.name - 1);
    for (size_t i = 0; i < sizeof now.name; i += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, now.name + i, sizeof word);
        now.hash = ld_hash_word(now.hash, word);
    }
    kept[now.calls % KEPT].hash = now.hash;
    memcpy(kept[now.calls % KEPT].name, now.name, sizeof now.name);
}

void ld_order_fetch(void)
{
    now.fetches++;
}

void ld_order_here(ld_order *out, bool in_fetch)
{
    *out = now;
    out->in_fetch = in_fetch;
}

/* Returns true if one rank waits for a fetch that the other has not begun, while the other waits
 * for it in a later call. */
static bool are_crossed(const ld_order *fetching, const ld_order *calling)
{
    return fetching->in_fetch && !calling->in_fetch && fetching->fetches > calling->fetches &&
           fetching->calls < calling->calls;
}

/* Returns true if this rank has waited for long since it first heard of a rank that is crossed with
 * it. */
static bool is_sure(const ld_order *here)
{
    static ld_order then;
    static double heard;
    if (then.calls != here->calls || then.fetches != here->fetches) {
        then = *here;
        heard = ld_clock();
    }
    return ld_clock() - heard > SURE;
}

/* Fails for ranks that have made other calls: the message has the last call of the other one and
 * call n of this one. */
static ld_status fail(int64_t n, int other, const ld_order *there)
{
    const char *own = kept[n % KEPT].name;
    bool same = n == there->calls && strncmp(own, there->name, LD_ORDER_NAME) == 0;
    return ld_fail(LD_STATE,
                   "ranks: call %" PRId64 " of rank %d is %.*s, and call %" PRId64
                   " of this one %s%s; %s",
                   there->calls, other, LD_ORDER_NAME - 1, there->name, n, own,
                   same ? ", after other ones" : "", RULE);
}

ld_status ld_order_check(int other, const ld_order *there)
{
    bool same = there->calls == now.calls && there->hash == now.hash;
    return same ? LD_OK : fail(now.calls, other, there);
}

ld_status ld_order_compare(const ld_order *here, int other, const ld_order *there)
{
    int64_t n = there->calls;
    if (n > 0 && n <= here->calls && here->calls - n < KEPT && kept[n % KEPT].hash != there->hash)
        return fail(n, other, there);
    if (are_crossed(here, there) && is_sure(here))
        return ld_fail(LD_STATE,
                       "ranks: this one waits for rows of features, and rank %d in %.*s; %s", other,
                       LD_ORDER_NAME - 1, there->name, RULE);
    if (are_crossed(there, here) && is_sure(here))
        return ld_fail(LD_STATE,
                       "ranks: this one waits in %s, and rank %d for rows of features; %s",
                       here->name, other, RULE);
    return LD_OK;
}

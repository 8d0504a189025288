/* Finds the first elements of each row in order. An element and its column make one key of 64 bits,
 * whose order as an integer is that of the elements. Keys that may be among the first k are
 * gathered; when there are twice as many, all but k are dismissed, and the last of these is a bound
 * for those to come. */
#include "kernel/row_order.h"

#include <string.h>

#include "base/sort.h"
#include "memory/memory.h"
#include "system/threads.h"

enum { GRAIN_ELEMENTS = 1 << 13 };

typedef struct {
    int32_t *at;
    const float *x;
    int64_t n_cols, k, room;
    bool descending;
    ld_loop_failure failure;
} ordering;

/* Returns the bits of v changed so that a larger number has larger ones. */
static uint32_t rising_bits(float v)
{
    uint32_t bits;
    if (v != v)
        return UINT32_MAX;
    v += 0.0f; /* -0 becomes 0, which it equals */
    memcpy(&bits, &v, sizeof bits);
    return bits >> 31 ? ~bits : bits | 0x80000000u;
}

static void order_row(const ordering *p, int64_t r, uint64_t *keys)
{
    const float *x = p->x + r * p->n_cols;
    const int64_t k = p->k;
    uint64_t bound = UINT64_MAX;
    int64_t held = 0;
    for (int64_t j = 0; j < p->n_cols; j++) {
        uint32_t bits = rising_bits(x[j]);
        uint64_t key = (uint64_t)(p->descending ? ~bits : bits) << 32 | (uint64_t)j;
        if (key > bound)
            continue;
        if (held == p->room) {
            ld_sort_uint64(keys, held);
            held = k;
            bound = keys[k - 1];
        }
        keys[held++] = key;
    }
    ld_sort_uint64(keys, held);
    for (int64_t i = 0; i < k; i++)
        p->at[r * k + i] = (int32_t)(keys[i] & UINT32_MAX);
}

static void order_rows(void *ctx, int64_t begin, int64_t end)
{
    ordering *p = ctx;
    LD_FREED uint64_t *keys = ld_alloc_array(p->room, sizeof *keys, LD_MEM_SCRATCH);
    if (!keys)
        ld_loop_note(&p->failure, LD_NOMEM);
    for (int64_t r = begin; keys && r < end; r++)
        order_row(p, r, keys);
}

ld_status ld_row_order(int32_t *at, const float *x, int64_t n_rows, int64_t n_cols, int64_t k,
                       bool descending)
{
    ordering p = {.at = at,
                  .x = x,
                  .n_cols = n_cols,
                  .k = k,
                  .room = k < n_cols / 2 ? 2 * k : n_cols,
                  .descending = descending};
    if (k == 0)
        return LD_OK;
    return ld_loop_result(&p.failure,
                          ld_parallel_for(n_rows, GRAIN_ELEMENTS / n_cols + 1, order_rows, &p));
}

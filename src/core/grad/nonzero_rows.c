#include "grad/nonzero_rows.h"

#include <stdatomic.h>

#include "memory/memory.h"
#include "system/simd.h"
#include "system/threads.h"

enum {
    GRAIN = 512, /* rows */
    LOOK = 32    /* elements that are searched before a branch */
};

typedef struct {
    const ld_tensor *g, *a;
    bool *nonzero;
    atomic_bool not_finite; /* some row of a beside a row of zeros has an element that is not */
} search;

static LD_INLINE bool has_nonzero(const float *x, int64_t n)
{
    int found = 0;
    for (int64_t j = 0; j < n; j++)
        found |= x[j] != 0;
    return found;
}

LD_CLONES(look_at_rows)
{
    const search *p = ctx;
    int64_t n = p->g->n_cols;
    for (int64_t r = begin; r < end; r++) {
        const float *x = p->g->data + r * n;
        bool found = false;
        int64_t j = 0;
        for (; j + LOOK <= n && !found; j += LOOK)
            found = has_nonzero(x + j, LOOK);
        p->nonzero[r] = found || has_nonzero(x + j, n - j);
    }
}

static void look_beside_zeros(void *ctx, int64_t begin, int64_t end)
{
    search *p = ctx;
    int64_t k = p->a->n_cols;
    for (int64_t r = begin; r < end; r++)
        if (!p->nonzero[r] && ld_first_not_finite(p->a->data + r * k, k) >= 0)
            atomic_store_explicit(&p->not_finite, true, memory_order_relaxed);
}

ld_status ld_nonzero_rows(ld_index **rows, const ld_tensor *g, const ld_tensor *a,
                          const ld_tensor *b)
{
    int64_t n = g->n_rows, count = 0;
    LD_FREED bool *nonzero = ld_alloc_array(n, sizeof *nonzero, LD_MEM_SCRATCH);
    search p = {.g = g, .a = a, .nonzero = nonzero};
    *rows = NULL;
    if (!nonzero)
        return LD_NOMEM;
    atomic_init(&p.not_finite, false);
    LD_CHECK(ld_parallel_for(n, GRAIN, look_at_rows, &p));
    for (int64_t r = 0; r < n; r++)
        count += nonzero[r];
    if (count == n)
        return LD_OK;
    if (2 * count >= n) {
        if (a)
            LD_CHECK(ld_parallel_for(n, GRAIN, look_beside_zeros, &p));
        if (!atomic_load(&p.not_finite) && (!b || ld_tensor_not_finite(b) < 0))
            return LD_OK;
    }
    LD_CHECK(ld_index_new(rows, count));
    for (int64_t r = 0, i = 0; r < n; r++)
        if (nonzero[r])
            (*rows)->data[i++] = (int32_t)r;
    return LD_OK;
}

/* Shares the rows of a product among processes where it pays: an element takes about as long on a
 * network of 10 Gbit/s as 32 multiplications, and a message as long as a million. */
#include "tensor/shared_product.h"

#include <inttypes.h>

#include "base/search.h"
#include "memory/memory.h"

enum { LEAST_TERMS = 32, LEAST_IN_ALL = 1 << 20 };

static const ld_share *share;

void ld_share_set(const ld_share *to)
{
    share = to;
}

static bool pays(const ld_tensor *rows, int64_t terms)
{
    return terms >= LEAST_TERMS && terms * ld_tensor_size(rows) >= LEAST_IN_ALL;
}

static int64_t bound(int rank, int64_t n, int64_t unit, const int64_t *offsets)
{
    if (offsets)
        return ld_search_int64(offsets, 0, n,
                               offsets[0] + (offsets[n] - offsets[0]) / share->size * rank);
    int64_t units = (n + unit - 1) / unit, row = units * rank / share->size * unit;
    return row < n ? row : n;
}

ld_status ld_share_rows(ld_tensor *rows, int64_t terms, int64_t unit, const int64_t *offsets,
                        ld_share_fn *fn, void *ctx)
{
    int64_t n = rows->n_rows, *bounds;
    ld_status st;
    if (ld_in_worker() || !share || !pays(rows, terms))
        return fn(ctx, 0, n);
    if (!(bounds = ld_alloc_array(share->size + 1, sizeof *bounds, LD_MEM_SCRATCH)))
        return LD_NOMEM;
    for (int r = 0; r < share->size; r++)
        bounds[r] = bound(r, n, unit, offsets);
    bounds[share->size] = n;
    st = ld_share_own(rows, bounds, fn, ctx);
    ld_free(bounds);
    return st;
}

ld_status ld_share_check_bounds(const int64_t *bounds, int size, int64_t n_rows, const char *where)
{
    if (bounds[0] != 0 || bounds[size] != n_rows)
        return ld_fail(LD_VALUE, "%s: bounds must go from 0 to %" PRId64, where, n_rows);
    for (int r = 0; r < size; r++)
        if (bounds[r + 1] < bounds[r])
            return ld_fail(LD_VALUE, "%s: bounds must not descend", where);
    return LD_OK;
}

bool ld_share_is_on(int *size)
{
    bool on = !ld_in_worker() && share;
    *size = on ? share->size : 1;
    return on;
}

ld_status ld_share_own(ld_tensor *rows, const int64_t *bounds, ld_share_fn *fn, void *ctx)
{
    const ld_share *by = share;
    share = NULL;
    ld_status st = fn(ctx, bounds[by->rank], bounds[by->rank + 1]);
    share = by;
    return st == LD_OK ? by->exchange(rows, bounds) : st;
}

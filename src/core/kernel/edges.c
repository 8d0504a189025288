#include "kernel/edges.h"

#include "kernel/chains.h"
#include "system/simd.h"
#include "system/threads.h"

enum {
    GRAIN = 64, /* rows */
    WIDE = 64,  /* columns whose sums stay in registers */
    NARROW = 8, /* as many as there usually are heads */
    AHEAD = 16  /* entries */
};

typedef struct {
    float *to;
    const int64_t *offsets;
    const int32_t *places; /* columns or source, which may be NULL */
    int64_t n_rows;
    const float *x, *y;
    int64_t k;
} edges;

/* --- from rows to entries --------------------------------------------------------------------- */

/* Adds the rows of the entries of rows begin .. end-1. */
static LD_INLINE void add(const edges *p, int64_t begin, int64_t end, int64_t k)
{
    for (int64_t r = begin; r < end; r++) {
        const float *x = p->x + r * k;
        for (int64_t e = p->offsets[r]; e < p->offsets[r + 1]; e++) {
            const float *y = p->y + p->places[e] * k;
            float *z = p->to + e * k;
            LD_ONE_BY_ONE(e);
            LD_INDEPENDENT
            for (int64_t j = 0; j < k; j++)
                z[j] = x[j] + y[j];
        }
    }
}

LD_CLONES(add_edges)
{
    const edges *p = ctx;
    if (p->k == NARROW)
        add(p, begin, end, NARROW);
    else if (p->k == 1)
        add(p, begin, end, 1);
    else
        add(p, begin, end, p->k);
}

ld_status ld_add_edges(float *z, const int64_t *offsets, const int32_t *columns, int64_t n_rows,
                       const float *x, const float *y, int64_t k)
{
    edges p = {z, offsets, columns, n_rows, x, y, k};
    return ld_parallel_for(n_rows, GRAIN, add_edges, &p);
}

/* --- from entries to rows --------------------------------------------------------------------- */

/* Adds `count` columns, from `first` on, of row r's entries. */
static LD_INLINE void collect(const edges *p, int64_t r, int64_t first, int count)
{
    const int64_t k = p->k, last = p->offsets[p->n_rows] - AHEAD;
    float sum[WIDE], *x = p->to + r * k + first;
    for (int j = 0; j < count; j++)
        sum[j] = x[j];
    for (int64_t e = p->offsets[r]; e < p->offsets[r + 1]; e++) {
        const float *z = p->x + (p->places ? p->places[e] : e) * k + first;
        if (p->places && e < last)
            __builtin_prefetch(p->x + p->places[e + AHEAD] * k + first);
        LD_ONE_BY_ONE(e);
        for (int j = 0; j < count; j++)
            sum[j] += z[j];
    }
    for (int j = 0; j < count; j++)
        x[j] = sum[j];
}

LD_CLONES(collect_edges)
{
    const edges *p = ctx;
    for (int64_t r = begin; r < end; r++) {
        int64_t first = 0;
        for (; first + WIDE <= p->k; first += WIDE)
            collect(p, r, first, WIDE);
        for (; first + NARROW <= p->k; first += NARROW)
            collect(p, r, first, NARROW);
        for (; first < p->k; first++)
            collect(p, r, first, 1);
    }
}

ld_status ld_collect_edges(float *x, const int64_t *offsets, const int32_t *source, int64_t n_rows,
                           const float *z, int64_t k)
{
    edges p = {x, offsets, source, n_rows, z, NULL, k};
    return ld_parallel_for(n_rows, GRAIN, collect_edges, &p);
}

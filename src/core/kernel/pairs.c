#include "kernel/pairs.h"

#include "base/search.h"
#include "system/threads.h"

enum { GRAIN = 256 /* pairs */, MUCH_LONGER = 16 };

typedef struct {
    ld_pairs_rows a;
    const int32_t *first, *second;
    const float *weights;
    int64_t *at;
    float *sums;
} pairs;

static int64_t find_column(const ld_pairs_rows *a, int64_t row, int32_t column)
{
    int64_t e = a->offsets[row], end = a->offsets[row + 1];
    if (a->sorted)
        e = ld_search_int32(a->columns, e, end, column);
    else
        while (e < end && a->columns[e] != column)
            e++;
    return e < end && a->columns[e] == column ? e : -1;
}

static void find_pairs(void *ctx, int64_t begin, int64_t end)
{
    const pairs *p = ctx;
    for (int64_t i = begin; i < end; i++)
        p->at[i] = find_column(&p->a, p->first[i], p->second[i]);
}

ld_status ld_pairs_find(int64_t *at, ld_pairs_rows a, const int32_t *rows, const int32_t *cols,
                        int64_t n)
{
    pairs p = {.a = a, .first = rows, .second = cols, .at = at};
    return ld_parallel_for(n, GRAIN, find_pairs, &p);
}

static double weight_of(const pairs *p, int32_t column)
{
    return p->weights ? p->weights[column] : 1;
}

/* Looks up each entry of the short row in the long one, from where the one before it was. */
static double look_up(const pairs *p, int64_t e, int64_t end, int64_t from, int64_t to)
{
    double sum = 0;
    for (; e < end && from < to; e++) {
        from = ld_search_int32(p->a.columns, from, to, p->a.columns[e]);
        if (from < to && p->a.columns[from] == p->a.columns[e])
            sum += weight_of(p, p->a.columns[e]);
    }
    return sum;
}

/* Goes through both rows side by side. */
static double merge(const pairs *p, int64_t e, int64_t end, int64_t f, int64_t to)
{
    const int32_t *columns = p->a.columns;
    double sum = 0;
    while (e < end && f < to) {
        int32_t u = columns[e], v = columns[f];
        if (u == v)
            sum += weight_of(p, u);
        e += u <= v;
        f += v <= u;
    }
    return sum;
}

static void common_pairs(void *ctx, int64_t begin, int64_t end)
{
    const pairs *p = ctx;
    const int64_t *offsets = p->a.offsets;
    for (int64_t i = begin; i < end; i++) {
        int64_t u = p->first[i], v = p->second[i];
        if (offsets[u + 1] - offsets[u] > offsets[v + 1] - offsets[v]) {
            u = v;
            v = p->first[i];
        }
        int64_t few = offsets[u + 1] - offsets[u], many = offsets[v + 1] - offsets[v];
        p->sums[i] = (float)(many / MUCH_LONGER > few ? look_up : merge)(
            p, offsets[u], offsets[u + 1], offsets[v], offsets[v + 1]);
    }
}

ld_status ld_pairs_common(float *sums, ld_pairs_rows a, const int32_t *first, const int32_t *second,
                          int64_t n, const float *weights)
{
    pairs p = {.a = a, .first = first, .second = second, .weights = weights, .sums = sums};
    return ld_parallel_for(n, GRAIN, common_pairs, &p);
}

/* Poisson draws from the entries of a row. Numbers are drawn for a block of entries at a time, by
 * vector units. Where each column has one number, and rows have more entries than there are
 * columns, r_u / pi_u is kept for each column in 8 bits, rounded down. Compared with c in the same
 * bits, that rules most entries out without their numbers. */
#include "kernel/poisson_keep.h"

#include "memory/memory.h"
#include "system/simd.h"
#include "system/threads.h"

enum {
    BLOCK = 512,
    LINE = 16, /* columns of a cache line */
    GRAIN = 1 << 14,
    N_LEVELS = 256
};

/* More than the share by which rounding may make r_u / pi_u too large. */
static const double SLACK = 1e-12;

LD_CLONES(level_columns)
{
    const ld_poisson_rule rule = *(const ld_poisson_rule *)ctx;
    double r[BLOCK];
    for (int64_t first = begin; first < end; first += BLOCK) {
        int64_t size = end - first < BLOCK ? end - first : BLOCK;
        if (!rule.r)
            ld_fill_uniform(r, rule.stream, (uint64_t)first, size);
        for (int64_t i = 0; i < size; i++) {
            double x = rule.r ? rule.r[first + i] : r[i];
            x = x > 1.0 ? 1.0 : x; /* kept where c pi_u >= 1 */
            x *= N_LEVELS * (1.0 - SLACK);
            x = rule.pi ? x / rule.pi[first + i] : x;
            x = x > N_LEVELS - 1 ? N_LEVELS - 1 : x;
            /* 0: NaN, which ld_poisson_keep must see */
            rule.levels[first + i] = (uint8_t)(x > 0.0 ? x : 0.0);
        }
    }
}

/* Returns the level below which columns are that a row with factor c may keep; 0 where any may be
 * kept. */
static uint8_t limit_of(double c)
{
    double level = c * (N_LEVELS * (1.0 + SLACK));
    return level < N_LEVELS - 1 ? (uint8_t)(level + 1.0) : 0;
}

ld_status ld_poisson_levels(ld_poisson_rule *rule, int64_t n_cols, int64_t entries)
{
    if (!(rule->shared || rule->r) || entries <= n_cols)
        return LD_OK;
    if (!(rule->levels = ld_alloc_array(n_cols, sizeof *rule->levels, LD_MEM_SCRATCH)))
        return LD_NOMEM;
    return ld_parallel_for(n_cols, GRAIN, level_columns, rule);
}

/* Gives the positions of those among n <= BLOCK entries that may be kept. */
static int candidates(int32_t *at, const uint8_t *levels, uint8_t limit, const int32_t *columns,
                      int n)
{
    int count = 0;
    for (int i = 0; i < n; i++) {
        at[count] = i;
        count += levels[columns[i]] < limit;
    }
    return count;
}

typedef struct {
    double *out;
    ld_stream stream;
    const int32_t *columns, *at;
} numbers;

LD_CLONES(draw_of_columns)
{
    const numbers job = *(const numbers *)ctx;
    for (int64_t i = begin; i < end; i++)
        job.out[i] = ld_random_uniform(job.stream, (uint64_t)job.columns[job.at ? job.at[i] : i]);
}

void ld_poisson_ask(const int32_t *columns, int64_t n)
{
    for (int64_t i = 0; i < n && i < BLOCK; i += LINE)
        __builtin_prefetch(columns + i);
}

int64_t ld_poisson_keep(ld_row_draw *out, const ld_poisson_rule *rule, const int32_t *columns,
                        int64_t n, double c, int64_t first, uint64_t at)
{
    int64_t kept = 0;
    int32_t places[BLOCK];
    double r[BLOCK];
    if (!(c >= 0.0))
        return -1;
    uint8_t limit = rule->levels ? limit_of(c) : 0;
    for (int64_t begin = 0; begin < n; begin += BLOCK) {
        const int32_t *block = columns + begin;
        int size = n - begin < BLOCK ? (int)(n - begin) : BLOCK;
        ld_poisson_ask(block + size, n - begin - size);
        int count = limit > 0 ? candidates(places, rule->levels, limit, block, size) : size;
        bool certain = c >= 1.0 && !rule->pi;
        if (!certain && !rule->r && rule->shared)
            draw_of_columns(&(numbers){r, rule->stream, block, limit > 0 ? places : NULL}, 0,
                            count);
        else if (!certain && !rule->r)
            ld_fill_uniform(r, rule->stream, at + (uint64_t)begin, count);
        for (int i = 0; i < count; i++) {
            int32_t place = limit > 0 ? places[i] : i, u = block[place];
            double q = rule->pi ? c * rule->pi[u] : c;
            if (!(q >= 0.0))
                return -1;
            if (q >= 1.0 || (rule->r ? rule->r[u] : r[i]) <= q)
                out[kept++] = ld_row_draw_of(first + begin + place, q < 1.0 ? 1.0 / q : 1.0);
        }
    }
    return kept;
}

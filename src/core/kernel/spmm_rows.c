/* The product row by row. A row of the result is the weighted sum of rows of x, taken up to 128
 * columns at a time so that the sums stay in vector registers while the entries of the row go by.
 *
 * The rows of x come in no order that a processor could foresee, so where x does not fit the cache
 * of a core they are asked for some entries ahead; where it fits, asking costs more than it brings.
 *
 * Where x lies in a file that memory does not hold, its rows would be read from the disk one by
 * one, again and again. So a panel of y, as much as memory holds, is finished before the next, and
 * for each panel x goes by once, in windows that memory holds as well: small ones, since x is read
 * as often as there are panels. The sums of a row wait between two windows: they get their terms in
 * the same order. They wait in memory of their own, since the system would write pages of y to the
 * disk meanwhile. */
#include "kernel/spmm.h"

#include <string.h>

#include "base/search.h"
#include "memory/memory.h"
#include "system/simd.h"
#include "system/threads.h"

enum {
    TILE = 128,
    ROW_GRAIN = 32,
    WINDOW_GRAIN = 512,
    AHEAD = 8,     /* entries */
    LINE = 16,     /* floats of a cache line */
    NEAR = 1 << 18 /* floats of x that fit the cache of a core */
};

typedef struct {
    float *y;
    const ld_factors *a;
    const int32_t *meets;
    const float *x, *bias;
    int64_t k;
    bool accumulate;
} product;

/* Asks memory for the row of x that entry e needs. */
static inline void prefetch(const product *p, int64_t e, int64_t first, int64_t width)
{
    int64_t last = p->a->offsets[p->a->n_rows] - 1;
    const float *x = p->x + p->meets[e < last ? e : last] * p->k + first;
    for (int64_t j = 0; j < width; j += LINE)
        __builtin_prefetch(x + j);
}

/* Sums entries from .. to-1 of row r, in `width` columns from `first` on; with `resumed` y holds
 * the sums of the row's entries before. x begins with row `base`. */
static LD_INLINE void tile(const product *p, int64_t r, int64_t from, int64_t to, int64_t first,
                           int64_t width, bool far, bool resumed, int64_t base)
{
    const ld_factors *a = p->a;
    const int32_t *meets = p->meets;
    float sum[TILE] = {0}, *y = p->y + r * p->k + first;
    for (int64_t j = 0; resumed && j < width; j++)
        sum[j] = y[j];
    for (int64_t e = from; e < to; e++) {
        float v = ld_factors_weight(a, e);
        const float *x = p->x + (meets[e] - base) * p->k + first;
        if (far)
            prefetch(p, e + AHEAD, first, width);
        LD_ONE_BY_ONE(e);
        for (int64_t j = 0; j < width; j++)
            sum[j] += v * x[j];
    }
    float scale = a->row_scale ? a->row_scale[r] : 1.0f;
    if (p->accumulate)
        for (int64_t j = 0; j < width; j++)
            y[j] += scale * sum[j];
    else
        for (int64_t j = 0; j < width; j++)
            y[j] = scale * sum[j];
}

static LD_INLINE void row(const product *p, int64_t r, int64_t from, int64_t to, bool far,
                          bool resumed, int64_t base)
{
    int64_t first = 0, rest = p->k % TILE;
    for (; first + TILE <= p->k; first += TILE)
        tile(p, r, from, to, first, TILE, far, resumed, base);
    if (rest & 64)
        tile(p, r, from, to, first, 64, far, resumed, base);
    first += rest & 64;
    if (rest & 32)
        tile(p, r, from, to, first, 32, far, resumed, base);
    first += rest & 32;
    if (rest & 16)
        tile(p, r, from, to, first, 16, far, resumed, base);
    first += rest & 16;
    if (rest & 8)
        tile(p, r, from, to, first, 8, far, resumed, base);
    first += rest & 8;
    if (rest & 4)
        tile(p, r, from, to, first, 4, far, resumed, base);
    first += rest & 4;
    for (; first < p->k; first++)
        tile(p, r, from, to, first, 1, far, resumed, base);
}

static LD_INLINE void add_bias(const product *p, int64_t begin, int64_t end)
{
    for (int64_t r = begin; p->bias && r < end; r++)
        for (int64_t j = 0; j < p->k; j++)
            p->y[r * p->k + j] += p->bias[j];
}

LD_CLONES(spmm_by_rows)
{
    const product *p = ctx;
    const int64_t *offsets = p->a->offsets;
    if (p->a->n_cols * p->k > NEAR)
        for (int64_t r = begin; r < end; r++)
            row(p, r, offsets[r], offsets[r + 1], true, false, 0);
    else
        for (int64_t r = begin; r < end; r++)
            row(p, r, offsets[r], offsets[r + 1], false, false, 0);
    add_bias(p, begin, end);
}

ld_status ld_spmm_by_rows(float *y, const ld_factors *a, const int32_t *meets, const float *x,
                          int64_t k, bool accumulate, const float *bias)
{
    product p = {y, a, meets, x, bias, k, accumulate};
    return ld_parallel_for(a->n_rows, ROW_GRAIN, spmm_by_rows, &p);
}

/* --- windows ---------------------------------------------------------------------------------- */

/* Rows of y, which are scaled in the last window, and the window of x from row `begin` to `end`. */
typedef struct {
    product product; /* its x begins with row `base` */
    int64_t begin, end, base;
} pass;

LD_CLONES(spmm_of_window)
{
    const pass *p = ctx;
    const ld_factors *a = p->product.a;
    bool is_first = p->begin == 0, is_last = p->end == a->n_cols;
    for (int64_t r = begin; r < end; r++) {
        int64_t last = a->offsets[r + 1];
        int64_t from = ld_search_int32(a->columns, a->offsets[r], last, p->begin);
        int64_t to = ld_search_int32(a->columns, from, last, p->end);
        if (is_first)
            row(&p->product, r, from, to, false, false, p->base);
        else if (from < to || is_last)
            row(&p->product, r, from, to, false, true, p->base);
    }
    if (is_last)
        add_bias(&p->product, begin, end);
}

static ld_status add_window(pass *p, const ld_factors *a)
{
    ld_factors part = *a;
    part.row_scale = p->end == a->n_cols ? a->row_scale : NULL;
    p->product.a = &part;
    return ld_parallel_for(a->n_rows, WINDOW_GRAIN, spmm_of_window, p);
}

ld_status ld_spmm_of_window(float *y, const ld_factors *a, const float *x, int64_t first, int64_t n,
                            int64_t k, const float *bias)
{
    pass p = {.product = {.y = y, .meets = a->columns, .x = x, .bias = bias, .k = k},
              .begin = first,
              .end = first + n,
              .base = first};
    return add_window(&p, a);
}

/* Computes the rows of `a` from all windows. */
static ld_status make_panel(pass *p, const ld_factors *a, int64_t window, const ld_mapping *file)
{
    for (p->begin = 0; p->begin < a->n_cols; p->begin = p->end) {
        const float *x = p->product.x + p->begin * p->product.k;
        p->end = a->n_cols - p->begin < window ? a->n_cols : p->begin + window;
        if (file)
            ld_mapping_fetch(file, x, (p->end - p->begin) * p->product.k * (int64_t)sizeof(float));
        LD_CHECK(add_window(p, a));
    }
    return LD_OK;
}

ld_status ld_spmm_by_windows(float *y, const ld_factors *a, const float *x, int64_t k,
                             const float *bias, int64_t panel, int64_t window,
                             const ld_mapping *file)
{
    if (a->n_cols == 0 || a->n_rows == 0)
        return ld_spmm_by_rows(y, a, a->columns, x, k, false, bias);
    int64_t most = panel < a->n_rows ? panel : a->n_rows;
    LD_FREED float *sums = ld_alloc_array(most * k, sizeof *sums, LD_MEM_SCRATCH);
    pass p = {.product = {.y = sums, .meets = a->columns, .x = x, .bias = bias, .k = k}};
    if (!sums)
        return LD_NOMEM;
    for (int64_t first = 0; first < a->n_rows; first += most) {
        int64_t rest = a->n_rows - first;
        ld_factors rows = ld_factors_rows(a, first, rest < most ? rest : most);
        LD_CHECK(make_panel(&p, &rows, window, file));
        memcpy(y + first * k, sums, (size_t)(rows.n_rows * k) * sizeof *y);
    }
    return LD_OK;
}

/* The terms of an entry are made in tiles of columns that stay in registers or in the nearest cache.
 * Forward goes row by row. Backward goes tile by tile: all that is added to a column of a gradient
 * is added by one thread, in the order of the entries, and no transpose is needed. Both make the
 * terms anew, which costs less than to read them from memory. */
#include "kernel/relu_sums.h"

#include <string.h>

#include "base/search.h"
#include "kernel/chains.h"
#include "memory/memory.h"
#include "system/simd.h"
#include "system/threads.h"

enum {
    GRAIN = 64 /* rows */,
    TILE = LD_RELU_TILE,
    NARROW = 32,
    FEW = 256 /* columns */,
    SOON = 24 /* entries */,
    LINE = 16
};

/* The columns of a tile of backward: a thread has at least a tile. */
static int64_t tile_of(int64_t k)
{
    return k < FEW ? NARROW : TILE;
}

typedef struct {
    const ld_relu_terms *t;
    float *y;
    const float *g;
    const int32_t *rows; /* those of g that are read, or NULL */
    int64_t count;
    float *dx, *dw, *db, *dv, *df;
    /* Sums of the rows so far, and of the last few rows: of each tile d + 1 rows. */
    double *sums;
    float *part;
} work;

/* Asks for elements that are needed soon: rows of neighbours lie anywhere in memory. */
static LD_INLINE void fetch(const float *x, int64_t count)
{
    for (int64_t j = 0; j < count; j += LINE)
        __builtin_prefetch(x + j);
}

/* --- the terms of an entry -------------------------------------------------------------------- */

static LD_INLINE void add_sparse(float *term, const ld_factors *x, int64_t u, int64_t first,
                                 int64_t count)
{
    const int64_t end = x->offsets[u + 1];
    for (int64_t i = ld_search_int32(x->columns, x->offsets[u], end, first);
         i < end && x->columns[i] < first + count; i++)
        term[x->columns[i] - first] += ld_factors_value(x, u, i);
}

/* term = x_u + f_e w + b in columns first .. first + count - 1. */
static LD_INLINE void terms(float *term, const ld_relu_terms *t, int64_t e, int64_t first,
                            int64_t count)
{
    const float *f = t->f + e * t->d, *w = t->w + first;
    const int64_t u = t->columns[e];
    for (int64_t j = 0; j < count; j++)
        term[j] = t->b ? t->b[first + j] : 0;
    for (int64_t i = 0; i < t->d; i++)
        for (int64_t j = 0; j < count; j++)
            term[j] += f[i] * w[i * t->k + j];
    if (!t->x)
        add_sparse(term, &t->sparse, u, first, count);
    for (int64_t j = 0; t->x && j < count; j++)
        term[j] += t->x[u * t->k + first + j];
}

/* --- forward ---------------------------------------------------------------------------------- */

static LD_INLINE void sum_row(const work *p, int64_t r, int64_t first, int64_t count)
{
    const ld_relu_terms *t = p->t;
    float sum[TILE] = {0}, term[TILE];
    for (int64_t e = t->offsets[r]; e < t->offsets[r + 1]; e++) {
        const float v = t->v[e];
        if (t->x && e + SOON < t->offsets[t->n_rows])
            fetch(t->x + t->columns[e + SOON] * t->k + first, count);
        if (v == 0)
            continue;
        terms(term, t, e, first, count);
        for (int64_t j = 0; j < count; j++)
            sum[j] += v * (term[j] < 0 ? 0 : term[j]);
    }
    memcpy(p->y + r * t->k + first, sum, (size_t)count * sizeof *sum);
}

LD_CLONES(sum_rows)
{
    const work *p = ctx;
    const int64_t k = p->t->k;
    for (int64_t r = begin; r < end; r++)
        for (int64_t first = 0; first < k; first += TILE) {
            if (k - first >= TILE)
                sum_row(p, r, first, TILE);
            else
                sum_row(p, r, first, k - first);
        }
}

ld_status ld_relu_sums(float *y, const ld_relu_terms *t)
{
    work p = {.t = t, .y = y};
    return ld_parallel_for(t->n_rows, GRAIN, sum_rows, &p);
}

/* --- backward: x, w and b --------------------------------------------------------------------- */

/* An entry that is read ahead of those that are computed with, in the row with number i of those of
 * g. */
typedef struct {
    int64_t i, e;
} place;

static LD_INLINE int64_t row_at(const work *p, int64_t i)
{
    return p->rows ? p->rows[i] : i;
}

/* Moves to row i or, where that has no entries, to the next one that has any. */
static LD_INLINE place begin_row(const work *p, int64_t i, int64_t first, int64_t count)
{
    const int64_t *offsets = p->t->offsets;
    for (; i < p->count; i++) {
        const int64_t r = row_at(p, i);
        if (offsets[r] == offsets[r + 1])
            continue;
        fetch(p->g + r * p->t->k + first, count);
        return (place){i, offsets[r]};
    }
    return (place){i, 0};
}

/* Asks for what an entry reads and writes, and returns the next one. */
static LD_INLINE place read_ahead(const work *p, place at, int64_t first, int64_t count)
{
    const ld_relu_terms *t = p->t;
    if (at.i == p->count)
        return at;
    const int64_t u = t->columns[at.e] * t->k + first;
    if (t->x)
        fetch(t->x + u, count);
    if (p->dx)
        fetch(p->dx + u, count);
    fetch(t->f + at.e * t->d, t->d);
    if (++at.e == t->offsets[row_at(p, at.i) + 1])
        return begin_row(p, at.i + 1, first, count);
    return at;
}

/* Adds what entry e gives to the gradient of x, and to those of w and b in `part`. */
static LD_INLINE void entry_back(const work *p, float *part, int64_t e, const float *g,
                                 int64_t first, int64_t count)
{
    const ld_relu_terms *t = p->t;
    const int64_t d = t->d;
    const float *f = t->f + e * d, v = t->v[e];
    float term[TILE];
    terms(term, t, e, first, count);
    for (int64_t j = 0; j < count; j++)
        term[j] = term[j] > 0 ? v * g[j] : 0;
    if (p->dx) {
        float *dx = p->dx + t->columns[e] * t->k + first;
        for (int64_t j = 0; j < count; j++)
            dx[j] += term[j];
    }
    for (int64_t j = 0; j < count; j++)
        part[j] += term[j];
    for (int64_t i = 0; i < d; i++) {
        LD_INDEPENDENT
        for (int64_t j = 0; j < count; j++)
            part[(i + 1) * count + j] += f[i] * term[j];
    }
}

/* The gradients in columns first .. first + count - 1. */
static LD_INLINE void tile_back(const work *p, int64_t first, int64_t count)
{
    const ld_relu_terms *t = p->t;
    const int64_t size = (t->d + 1) * count;
    double *sums = p->sums + first * (t->d + 1);
    float *part = p->part + first * (t->d + 1);
    place soon = begin_row(p, 0, first, count);
    for (int i = 0; i < SOON; i++)
        soon = read_ahead(p, soon, first, count);
    for (int64_t i = 0; i < p->count; i++) {
        const int64_t r = row_at(p, i);
        for (int64_t e = t->offsets[r]; e < t->offsets[r + 1]; e++) {
            soon = read_ahead(p, soon, first, count);
            if (t->v[e] != 0)
                entry_back(p, part, e, p->g + r * t->k + first, first, count);
        }
        if (i + 1 < p->count && row_at(p, i + 1) / LD_RELU_ROWS == r / LD_RELU_ROWS)
            continue;
        if (ld_cancelled())
            return;
        for (int64_t j = 0; j < size; j++) {
            sums[j] += part[j];
            part[j] = 0;
        }
    }
    for (int64_t j = 0; p->db && j < count; j++)
        p->db[first + j] += (float)sums[j];
    for (int64_t i = 0; p->dw && i < t->d; i++)
        for (int64_t j = 0; j < count; j++)
            p->dw[i * t->k + first + j] += (float)sums[(i + 1) * count + j];
}

LD_CLONES(tiles_back)
{
    const work *p = ctx;
    const int64_t k = p->t->k, width = tile_of(k);
    for (int64_t first = begin * width; first < end * width && first < k; first += width) {
        if (k - first >= width && width == TILE)
            tile_back(p, first, TILE);
        else if (k - first >= width)
            tile_back(p, first, NARROW);
        else
            tile_back(p, first, k - first);
    }
}

ld_status ld_relu_sums_backward(float *dx, float *dw, float *db, const ld_relu_terms *t,
                                const float *g, const int32_t *rows, int64_t count)
{
    const int64_t width = tile_of(t->k), size = t->k * (t->d + 1);
    LD_FREED double *sums = ld_calloc_array(size, sizeof *sums, LD_MEM_SCRATCH);
    LD_FREED float *part = ld_calloc_array(size, sizeof *part, LD_MEM_SCRATCH);
    if (!sums || !part)
        return LD_NOMEM;
    work p = {.t = t,
              .g = g,
              .rows = rows,
              .count = rows ? count : t->n_rows,
              .dx = dx,
              .dw = dw,
              .db = db,
              .sums = sums,
              .part = part};
    LD_CHECK(ld_parallel_for((t->k + width - 1) / width, 1, tiles_back, &p));
    return ld_poll();
}

/* --- backward: v and f ------------------------------------------------------------------------ */

static LD_INLINE double entry_tile(const work *p, int64_t e, const float *g, int64_t first,
                                   int64_t count)
{
    const ld_relu_terms *t = p->t;
    float term[TILE];
    double dot = 0;
    terms(term, t, e, first, count);
    for (int64_t j = 0; j < count; j++)
        dot += (double)g[j] * (term[j] < 0 ? 0 : term[j]);
    for (int64_t i = 0; p->df && i < t->d; i++) {
        const float *w = t->w + i * t->k + first;
        double sum = 0;
        for (int64_t j = 0; j < count; j++)
            sum += term[j] > 0 ? (double)g[j] * w[j] : 0;
        p->df[e * t->d + i] += (float)(t->v[e] * sum);
    }
    return dot;
}

LD_CLONES(entries_back)
{
    const work *p = ctx;
    const ld_relu_terms *t = p->t;
    for (int64_t r = begin; r < end; r++)
        for (int64_t e = t->offsets[r]; e < t->offsets[r + 1]; e++) {
            double dot = 0;
            for (int64_t i = 0; p->df && i < t->d; i++)
                p->df[e * t->d + i] = 0;
            for (int64_t first = 0; first < t->k; first += TILE)
                dot += entry_tile(p, e, p->g + r * t->k + first, first,
                                  t->k - first < TILE ? t->k - first : TILE);
            if (p->dv)
                p->dv[e] = (float)dot;
        }
}

ld_status ld_relu_sums_entries(float *dv, float *df, const ld_relu_terms *t, const float *g)
{
    work p = {.t = t, .g = g, .dv = dv, .df = df};
    return ld_parallel_for(t->n_rows, GRAIN, entries_back, &p);
}

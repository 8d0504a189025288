/* The product by blocks of x: 32 columns of some thousand rows, copied side by side, which the
 * cache of a core holds while the entries of all rows in these columns go by.
 *
 * The entries are first sorted by blocks, once for all columns of x. Rows of y are taken in chunks.
 * For each chunk the sorted list has the entries in the first block, row after row, then those in
 * the second block, and so on. An entry is its place in the block, in 16 bits; how many entries a
 * row has in a block takes 16 bits too. Where the matrix has no values the copy is scaled by
 * columns, and an entry is only added. A tile is as many chunks as keep these lists below 64 MB.
 *
 * The entries of a row come in the same order as without blocks, are rounded as they are there, and
 * so the sums have the same bits. */
#include "kernel/spmm.h"

#include "memory/memory.h"
#include "system/simd.h"
#include "system/threads.h"

enum {
    WIDE = 32, /* columns of a panel */
    NARROW = 16,
    CHUNK = 256, /* rows of y */
    TILE_BYTES = 1 << 26,
    COPY_GRAIN = 512,
    AHEAD = 16,          /* rows of x that memory is asked for before they are copied */
    ENTRIES_AHEAD = 512, /* entries that it is asked for before they are counted */
    LINE = 16            /* entries of a cache line */
};

/* The entries of a tile's rows in the order in which they are used. */
typedef struct {
    ld_factors a; /* the tile's rows of the matrix */
    int shift;    /* a block has 2^shift rows of x */
    int64_t blocks;
    uint16_t *counts; /* entries of row r in block b: counts[b * rows of the tile + r] */
    int64_t *starts;  /* the first place of chunk c in block b: starts[c * blocks + b] */
    uint16_t *places; /* rows of x, from the block's first on */
    float *weights;   /* or NULL where the entries of each column are equal */
    atomic_bool unsorted;
} tile;

static void tile_clear(tile *t)
{
    ld_free(t->counts);
    ld_free(t->starts);
    ld_free(t->places);
    ld_free(t->weights);
}

/* A pass over a tile, with a block of x and the columns of a panel. */
typedef struct {
    const tile *tile;
    float *y; /* the tile's rows of it */
    const float *x;
    int64_t k;
    const float *bias; /* or NULL */
    bool accumulate;
    float *copy; /* of the block: rows of `panel` columns, zeros behind x's last */
    float *sums; /* of each row of the tile, as wide */
    int64_t block, first, width, panel;
} pass;

static void pass_clear(pass *p)
{
    ld_free(p->copy);
    ld_free(p->sums);
}

/* --- the order of entries --------------------------------------------------------------------- */

/* Counts the entries of row r in each block, and adds them to `sizes`; false if they are not in
 * order, or one column comes twice. */
static LD_INLINE bool count_row(const tile *p, int64_t r, int64_t *sizes)
{
    const ld_factors *a = &p->a;
    const int32_t *from = a->columns + a->offsets[r], *end = a->columns + a->offsets[r + 1];
    const int32_t *ends[LD_SPMM_BLOCKS];
    int32_t before = -1;
    bool sorted = true;
    for (int64_t b = 0; b < p->blocks; b++)
        ends[b] = from;
    for (const int32_t *c = from, *stop; c < end;) {
        __builtin_prefetch(c + ENTRIES_AHEAD);
        for (stop = end - c < LINE ? end : c + LINE; c < stop; c++) {
            LD_ONE_BY_ONE(c);
            sorted &= before < *c;
            before = *c;
            ends[*c >> p->shift] = c + 1;
        }
    }
    for (int64_t b = 0; b < p->blocks && sorted; b++) {
        int64_t count = ends[b] > from ? ends[b] - from : 0;
        p->counts[b * a->n_rows + r] = (uint16_t)count;
        sizes[b] += count;
        from += count;
    }
    return sorted;
}

/* Puts the entries of row r behind those that each block has so far. */
static LD_INLINE void place_row(const tile *p, int64_t r, int64_t *next)
{
    const ld_factors *a = &p->a;
    int64_t to[LD_SPMM_BLOCKS], from = a->offsets[r]; /* entry e of block b goes to e + to[b] */
    int32_t mask = (1 << p->shift) - 1;
    for (int64_t b = 0; b < p->blocks; b++) {
        int64_t count = p->counts[b * a->n_rows + r];
        to[b] = next[b] - from;
        next[b] += count;
        from += count;
    }
    for (int64_t e = a->offsets[r]; e < a->offsets[r + 1]; e++) {
        int64_t at = e + to[a->columns[e] >> p->shift];
        p->places[at] = (uint16_t)(a->columns[e] & mask);
        if (p->weights)
            p->weights[at] = ld_factors_weight(a, e);
    }
}

LD_CLONES(order_chunk)
{
    tile *p = ctx;
    const int64_t *offsets = p->a.offsets;
    int64_t sizes[LD_SPMM_BLOCKS] = {0}, *starts = p->starts + begin / CHUNK * p->blocks;
    for (int64_t r = begin; r < end; r++)
        if (!count_row(p, r, sizes)) {
            p->unsorted = true;
            return;
        }
    int64_t next = offsets[begin] - offsets[0];
    for (int64_t b = 0; b < p->blocks; b++) {
        starts[b] = next;
        next += sizes[b];
        sizes[b] = starts[b];
    }
    for (int64_t r = begin; r < end; r++)
        place_row(p, r, sizes);
}

/* --- the product ------------------------------------------------------------------------------ */

LD_CLONES(copy_rows)
{
    const pass *p = ctx;
    const ld_factors *a = &p->tile->a;
    const float *scale = p->tile->weights ? NULL : a->col_scale;
    int64_t before = p->block << p->tile->shift;
    for (int64_t i = begin; i < end; i++) {
        int64_t c = before + i, later = c + AHEAD < a->n_cols ? c + AHEAD : c;
        const float *x = p->x + c * p->k + p->first, v = scale ? scale[c] : 1.0f;
        float *to = p->copy + i * p->panel;
        for (int64_t j = 0; j < p->width; j += NARROW)
            __builtin_prefetch(p->x + later * p->k + p->first + j);
        for (int64_t j = 0; j < p->width; j++)
            to[j] = v * x[j];
        for (int64_t j = p->width; j < p->panel; j++)
            to[j] = 0;
    }
}

/* Adds the entries that the block has in a chunk, begin .. end-1. */
static LD_INLINE void add(const pass *p, int64_t begin, int64_t end, int64_t panel, bool weighted)
{
    const tile *t = p->tile;
    const uint16_t *counts = t->counts + p->block * t->a.n_rows;
    int64_t start = t->starts[begin / CHUNK * t->blocks + p->block];
    const uint16_t *place = t->places + start;
    const float *weight = weighted ? t->weights + start : NULL, *copy = p->copy;
    for (int64_t r = begin; r < end; r++) {
        float sum[WIDE], *y = p->sums + r * panel;
        for (int64_t j = 0; j < panel; j++)
            sum[j] = y[j];
        const uint16_t *last = place + counts[r];
        while (place < last) {
            const float *x = copy + *place++ * panel;
            LD_ONE_BY_ONE(place);
            float v = weighted ? *weight++ : 1.0f;
            for (int64_t j = 0; j < panel; j++)
                sum[j] += weighted ? v * x[j] : x[j];
        }
        for (int64_t j = 0; j < panel; j++)
            y[j] = sum[j];
    }
}

LD_CLONES(add_block)
{
    const pass *p = ctx;
    bool weighted = p->tile->weights;
    if (p->panel == WIDE)
        weighted ? add(p, begin, end, WIDE, true) : add(p, begin, end, WIDE, false);
    else
        weighted ? add(p, begin, end, NARROW, true) : add(p, begin, end, NARROW, false);
}

LD_CLONES(clear_sums)
{
    const pass *p = ctx;
    for (int64_t i = begin * p->panel; i < end * p->panel; i++)
        p->sums[i] = 0;
}

LD_CLONES(finish_rows)
{
    const pass *p = ctx;
    const float *scales = p->tile->a.row_scale;
    for (int64_t r = begin; r < end; r++) {
        float scale = scales ? scales[r] : 1.0f, *y = p->y + r * p->k + p->first;
        const float *sum = p->sums + r * p->panel;
        for (int64_t j = 0; j < p->width; j++)
            y[j] = p->accumulate ? y[j] + scale * sum[j] : scale * sum[j];
        for (int64_t j = 0; p->bias && j < p->width; j++)
            y[j] += p->bias[p->first + j];
    }
}

/* Computes the columns of a panel, for all rows of the tile. */
static ld_status make_panel(pass *p)
{
    const tile *t = p->tile;
    int64_t n_rows = t->a.n_rows, n_cols = t->a.n_cols;
    LD_CHECK(ld_parallel_for(n_rows, CHUNK, clear_sums, p));
    for (p->block = 0; p->block < t->blocks; p->block++) {
        int64_t rest = n_cols - (p->block << t->shift), most = (int64_t)1 << t->shift;
        LD_CHECK(ld_parallel_for(rest < most ? rest : most, COPY_GRAIN, copy_rows, p));
        LD_CHECK(ld_parallel_for(n_rows, CHUNK, add_block, p));
    }
    return ld_parallel_for(n_rows, CHUNK, finish_rows, p);
}

static ld_status make_tile(tile *t, pass *p)
{
    LD_CHECK(ld_parallel_for(t->a.n_rows, CHUNK, order_chunk, t));
    for (p->first = 0; p->first < p->k && !t->unsorted; p->first += p->panel) {
        int64_t rest = p->k - p->first;
        p->panel = rest > NARROW ? WIDE : NARROW;
        p->width = rest < p->panel ? rest : p->panel;
        LD_CHECK(make_panel(p));
    }
    return LD_OK;
}

/* Returns how many rows a tile has; *entries gets the most entries that it may have. */
static int64_t rows_of_tile(const ld_factors *a, int64_t entry_bytes, int64_t *entries)
{
    int64_t n = a->n_rows, tiles = ld_factors_entries(a) * entry_bytes / TILE_BYTES + 1;
    int64_t rows = ((n - 1) / tiles / CHUNK + 1) * CHUNK; /* at least one, however long its rows */
    *entries = 0;
    for (int64_t r = 0; r < n; r += rows) {
        int64_t count = a->offsets[r + rows < n ? r + rows : n] - a->offsets[r];
        *entries = count > *entries ? count : *entries;
    }
    return rows;
}

ld_status ld_spmm_by_blocks(int64_t *made, float *y, const ld_factors *a, int shift, const float *x,
                            int64_t k, bool accumulate, const float *bias)
{
    LD_CLEANED(tile_clear)
    tile t = {.shift = shift, .blocks = a->n_cols > 0 ? ((a->n_cols - 1) >> shift) + 1 : 0};
    LD_CLEANED(pass_clear)
    pass p = {.tile = &t, .x = x, .k = k, .bias = bias, .accumulate = accumulate};
    bool weighted = a->values;
    int64_t entries, entry = sizeof *t.places + (weighted ? sizeof *t.weights : 0);
    int64_t rows = rows_of_tile(a, entry, &entries);
    t.counts = ld_alloc_array(rows * t.blocks, sizeof *t.counts, LD_MEM_SCRATCH);
    t.starts = ld_alloc_array(rows / CHUNK * t.blocks, sizeof *t.starts, LD_MEM_SCRATCH);
    t.places = ld_alloc_array(entries, sizeof *t.places, LD_MEM_SCRATCH);
    t.weights = weighted ? ld_alloc_array(entries, sizeof *t.weights, LD_MEM_SCRATCH) : NULL;
    p.copy = ld_alloc_array(WIDE << t.shift, sizeof *p.copy, LD_MEM_SCRATCH);
    p.sums = ld_alloc_array(rows * WIDE, sizeof *p.sums, LD_MEM_SCRATCH);
    if (!t.counts || !t.starts || !t.places || (weighted && !t.weights) || !p.copy || !p.sums)
        return LD_NOMEM;
    *made = 0;
    for (int64_t first = 0; first < a->n_rows; first += rows) {
        int64_t rest = a->n_rows - first;
        t.a = ld_factors_rows(a, first, rest < rows ? rest : rows);
        p.y = y + first * k;
        LD_CHECK(make_tile(&t, &p));
        if (t.unsorted)
            break;
        *made += t.a.n_rows;
    }
    return LD_OK;
}

/* Sums, extremes and running sums, with several chains of additions at a time (kernel/chains.h):
 * those of neighbouring columns, of several rows, or of the lanes of a piece. */
#include "kernel/reduce.h"

#include "memory/memory.h"
#include "system/simd.h"
#include "system/threads.h"

enum {
    ROW_GRAIN = 64,
    COLS = 32, /* columns whose sums stay in registers */
    PIECE = 1 << 12,
    PIECE_LANES = 16
};

typedef struct {
    double *sums;
    const float *x, *y;
    int64_t n_rows, n_cols; /* a sum of all is a row of n_cols terms */
    ld_terms terms;
} reduction;

/* --- rows ------------------------------------------------------------------------------------- */

static LD_INLINE void sum_rows(const reduction *p, int64_t begin, int64_t end, ld_terms terms)
{
    const float *x = p->x + begin * p->n_cols, *y = p->y + begin * p->n_cols;
    ld_sum_rows(p->sums + begin, x, y, terms, end - begin, p->n_cols);
}

LD_CLONES(row_sums)
{
    const reduction *p = ctx;
    switch (p->terms) {
    case LD_VALUES: sum_rows(p, begin, end, LD_VALUES); break;
    case LD_PRODUCTS: sum_rows(p, begin, end, LD_PRODUCTS); break;
    case LD_ROUNDED_PRODUCTS: sum_rows(p, begin, end, LD_ROUNDED_PRODUCTS); break;
    }
}

ld_status ld_row_sums(double *sums, const float *x, const float *y, ld_terms terms, int64_t n_rows,
                      int64_t n_cols)
{
    reduction p = {sums, x, y ? y : x, n_rows, n_cols, terms};
    return ld_parallel_for(n_rows, ROW_GRAIN, row_sums, &p);
}

/* --- columns ---------------------------------------------------------------------------------- */

/* Sums `count` columns from `first` on. */
static LD_INLINE void sum_columns(const reduction *p, int64_t first, int64_t count, ld_terms terms)
{
    const float *x = p->x + first, *y = p->y + first;
    double sum[COLS] = {0};
    for (int64_t r = 0; r < p->n_rows; r++)
        for (int64_t j = 0; j < count; j++)
            sum[j] += ld_term(x, y, r * p->n_cols + j, terms);
    for (int64_t j = 0; j < count; j++)
        p->sums[first + j] = sum[j];
}

static LD_INLINE void tile_of_columns(const reduction *p, int64_t begin, int64_t end,
                                      ld_terms terms)
{
    if (end - begin == COLS)
        sum_columns(p, begin, COLS, terms);
    else
        sum_columns(p, begin, end - begin, terms);
}

LD_CLONES(col_sums)
{
    const reduction *p = ctx;
    switch (p->terms) {
    case LD_VALUES: tile_of_columns(p, begin, end, LD_VALUES); break;
    case LD_PRODUCTS: tile_of_columns(p, begin, end, LD_PRODUCTS); break;
    case LD_ROUNDED_PRODUCTS: tile_of_columns(p, begin, end, LD_ROUNDED_PRODUCTS); break;
    }
}

ld_status ld_col_sums(double *sums, const float *x, const float *y, ld_terms terms, int64_t n_rows,
                      int64_t n_cols)
{
    reduction p = {sums, x, y ? y : x, n_rows, n_cols, terms};
    return ld_parallel_for(n_cols, COLS, col_sums, &p);
}

/* --- all -------------------------------------------------------------------------------------- */

static LD_INLINE double sum_piece(const reduction *p, int64_t first, int64_t n, ld_terms terms)
{
    const float *x = p->x + first, *y = p->y + first;
    double lane[PIECE_LANES] = {0}, sum = 0;
    int64_t whole = n / PIECE_LANES * PIECE_LANES;
    for (int64_t i = 0; i < whole; i += PIECE_LANES)
        for (int l = 0; l < PIECE_LANES; l++)
            lane[l] += ld_term(x, y, i + l, terms);
    for (int64_t i = whole; i < n; i++)
        lane[i - whole] += ld_term(x, y, i, terms);
    for (int l = 0; l < PIECE_LANES; l++)
        sum += lane[l];
    return sum;
}

LD_CLONES(piece_sums)
{
    const reduction *p = ctx;
    for (int64_t i = begin; i < end; i++) {
        int64_t first = i * PIECE, rest = p->n_cols - first, n = rest < PIECE ? rest : PIECE;
        switch (p->terms) {
        case LD_VALUES: p->sums[i] = sum_piece(p, first, n, LD_VALUES); break;
        case LD_PRODUCTS: p->sums[i] = sum_piece(p, first, n, LD_PRODUCTS); break;
        case LD_ROUNDED_PRODUCTS: p->sums[i] = sum_piece(p, first, n, LD_ROUNDED_PRODUCTS); break;
        }
    }
}

ld_status ld_total(double *sum, const float *x, const float *y, ld_terms terms, int64_t n)
{
    int64_t n_pieces = (n + PIECE - 1) / PIECE;
    LD_FREED double *sums = ld_alloc_array(n_pieces, sizeof *sums, LD_MEM_SCRATCH);
    reduction p = {sums, x, y ? y : x, 1, n, terms};
    if (!sums)
        return LD_NOMEM;
    LD_CHECK(ld_parallel_for(n_pieces, 1, piece_sums, &p));
    *sum = 0;
    for (int64_t i = 0; i < n_pieces; i++)
        *sum += sums[i];
    return LD_OK;
}

typedef struct {
    double *sums;
    const float *x;
    int64_t chunk;
} squares;

LD_CLONES(chunk_squares)
{
    const squares *p = ctx;
    double lane[LD_LANES] = {0};
    int64_t i = begin;
    for (; i + LD_LANES <= end; i += LD_LANES)
        for (int l = 0; l < LD_LANES; l++)
            lane[l] += (double)p->x[i + l] * p->x[i + l];
    for (; i < end; i++)
        lane[0] += (double)p->x[i] * p->x[i];
    p->sums[begin / p->chunk] = ld_lanes_total(lane);
}

ld_status ld_chunk_squares(double *sums, const float *x, int64_t n, int64_t chunk)
{
    squares p = {sums, x, chunk};
    return ld_parallel_for(n, chunk, chunk_squares, &p);
}

/* --- extremes and running sums ---------------------------------------------------------------- */

/* Rows or columns, as lines: element i of line k is x[k * line + i * step]. */
typedef struct {
    float *y;
    int32_t *at;
    const float *x;
    int64_t line, step, length;
    int sign;
    bool of_columns, backwards, accumulate;
} lines;

static lines lines_of(const float *x, int64_t n_rows, int64_t n_cols, bool of_columns)
{
    return of_columns
               ? (lines){.x = x, .line = 1, .step = n_cols, .length = n_rows, .of_columns = true}
               : (lines){.x = x, .line = n_cols, .step = 1, .length = n_cols};
}

static LD_INLINE bool is_better(float v, float top, int sign)
{
    bool above = sign > 0 ? v > top : v < top;
    return (above | (v != v)) & (top == top);
}

/* Finds the extremes of lines first .. first + count - 1, which begin `line` elements apart and
 * have elements every `step`. */
static LD_INLINE void extremes_of(const lines *p, int64_t first, int64_t count, int64_t line,
                                  int64_t step, int sign)
{
    float top[ROW_GRAIN];
    int32_t best[ROW_GRAIN] = {0};
    const float *x = p->x + first * line;
    for (int64_t k = 0; k < count; k++)
        top[k] = x[k * line];
    for (int64_t i = 1; i < p->length; i++)
        for (int64_t k = 0; k < count; k++) {
            float v = x[k * line + i * step];
            bool better = is_better(v, top[k], sign);
            best[k] = better ? (int32_t)i : best[k];
            top[k] = better ? v : top[k];
        }
    for (int64_t k = 0; k < count; k++) {
        p->y[first + k] = top[k];
        p->at[first + k] = best[k];
    }
}

LD_CLONES(extremes)
{
    const lines *p = ctx;
    int64_t count = end - begin;
    if (p->of_columns && p->sign > 0)
        extremes_of(p, begin, count, 1, p->step, 1);
    else if (p->of_columns)
        extremes_of(p, begin, count, 1, p->step, -1);
    else
        for (int64_t r = begin; r < end; r++)
            extremes_of(p, r, 1, p->line, 1, p->sign);
}

static LD_INLINE void add_to_sum(const lines *p, double *sum, int64_t k, int64_t i)
{
    int64_t place = k * p->line + (p->backwards ? p->length - 1 - i : i) * p->step;
    *sum += p->x[place];
    p->y[place] = (float)(p->accumulate ? p->y[place] + *sum : *sum);
}

static void running_sums(void *ctx, int64_t begin, int64_t end)
{
    const lines *p = ctx;
    double sums[ROW_GRAIN] = {0};
    if (p->of_columns)
        for (int64_t i = 0; i < p->length; i++)
            for (int64_t k = begin; k < end; k++)
                add_to_sum(p, &sums[k - begin], k, i);
    else
        for (int64_t k = begin; k < end; k++)
            for (int64_t i = 0; i < p->length; i++)
                add_to_sum(p, &sums[k - begin], k, i);
}

ld_status ld_extremes(float *top, int32_t *at, const float *x, int64_t n_rows, int64_t n_cols,
                      bool of_columns, int sign)
{
    lines p = lines_of(x, n_rows, n_cols, of_columns);
    p.y = top;
    p.at = at;
    p.sign = sign;
    return ld_parallel_for(of_columns ? n_cols : n_rows, ROW_GRAIN, extremes, &p);
}

ld_status ld_running_sums(float *y, const float *x, int64_t n_rows, int64_t n_cols, bool of_columns,
                          bool backwards, bool accumulate)
{
    lines p = lines_of(x, n_rows, n_cols, of_columns);
    p.y = y;
    p.backwards = backwards;
    p.accumulate = accumulate;
    return ld_parallel_for(of_columns ? n_cols : n_rows, ROW_GRAIN, running_sums, &p);
}

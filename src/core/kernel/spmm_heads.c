/* The two products that attention with several heads is made of. Each head is a sparse matrix; all
 * have the same structure and different values. One product multiplies every head with its own
 * columns of a dense matrix; the other computes, for every entry and head, the dot product of the
 * two rows that the entry joins. Both are one pass over the structure, row by row. */
#include "kernel/chains.h"
#include "kernel/spmm.h"
#include "system/simd.h"
#include "system/threads.h"

enum {
    ROW_GRAIN = 64,
    TILE = 128,    /* columns of y whose sums stay in vector registers */
    AHEAD = 8,     /* entries */
    LINE = 16,     /* floats of a cache line */
    NEAR = 1 << 18 /* floats of a matrix that fit the cache of a core */
};

typedef struct {
    float *y, *w;
    const ld_factors *a;
    const float *left, *right;
    int64_t heads, width;
    bool accumulate;
} product;

/* Asks memory for n floats. */
static LD_INLINE void prefetch(const float *x, int64_t n)
{
    for (int64_t j = 0; j < n; j += LINE)
        __builtin_prefetch(x + j);
}

/* --- y = A_h x -------------------------------------------------------------------------------- */

/* Sums the entries of row r in the `count` columns from column `first` on of head h, and in those
 * of the heads behind it, `heads` in all, of which each has `count` columns. */
static LD_INLINE void tile(const product *p, int64_t r, int64_t h, int64_t first, int heads,
                           int count, bool far)
{
    const ld_factors *a = p->a;
    const int64_t k = p->heads * p->width, column = h * p->width + first;
    const int64_t last = a->offsets[a->n_rows];
    float sum[TILE], *y = p->y + r * k + column;
    for (int j = 0; j < heads * count; j++)
        sum[j] = p->accumulate ? y[j] : 0;
    for (int64_t e = a->offsets[r]; e < a->offsets[r + 1]; e++) {
        const float *w = p->left + (a->source ? a->source[e] : e) * p->heads + h;
        const float *x = p->right + a->columns[e] * k + column;
        if (far && e + AHEAD < last) {
            prefetch(p->left + (a->source ? a->source[e + AHEAD] : e + AHEAD) * p->heads + h, 1);
            prefetch(p->right + a->columns[e + AHEAD] * k + column, heads * count);
        }
        LD_ONE_BY_ONE(e);
#pragma GCC unroll 8
        for (int i = 0; i < heads; i++)
            for (int j = 0; j < count; j++)
                sum[i * count + j] += w[i] * x[i * count + j];
    }
    for (int j = 0; j < heads * count; j++)
        y[j] = sum[j];
}

/* Makes all columns of row r, head by head. */
static LD_INLINE void wide_row(const product *p, int64_t r, bool far)
{
    for (int64_t h = 0; h < p->heads; h++) {
        int64_t first = 0, rest = p->width % TILE;
        for (; first + TILE <= p->width; first += TILE)
            tile(p, r, h, first, 1, TILE, far);
        if (rest & 64)
            tile(p, r, h, first, 1, 64, far);
        first += rest & 64;
        if (rest & 32)
            tile(p, r, h, first, 1, 32, far);
        first += rest & 32;
        if (rest & 16)
            tile(p, r, h, first, 1, 16, far);
        first += rest & 16;
        if (rest & 8)
            tile(p, r, h, first, 1, 8, far);
        first += rest & 8;
        switch (rest & 7) { /* numbers of classes are seldom round */
        case 1: tile(p, r, h, first, 1, 1, far); break;
        case 2: tile(p, r, h, first, 1, 2, far); break;
        case 3: tile(p, r, h, first, 1, 3, far); break;
        case 4: tile(p, r, h, first, 1, 4, far); break;
        case 5: tile(p, r, h, first, 1, 5, far); break;
        case 6: tile(p, r, h, first, 1, 6, far); break;
        case 7: tile(p, r, h, first, 1, 7, far); break;
        default: break;
        }
    }
}

/* Makes all columns of row r of narrow heads, several at once. */
static LD_INLINE void narrow_row(const product *p, int64_t r, int width, bool far)
{
    int64_t h = 0, rest = p->heads;
    for (; width <= TILE / 8 && h + 8 <= p->heads; h += 8)
        tile(p, r, h, 0, 8, width, far);
    for (; h + 4 <= p->heads; h += 4)
        tile(p, r, h, 0, 4, width, far);
    rest = p->heads - h;
    if (rest & 2)
        tile(p, r, h, 0, 2, width, far);
    if (rest & 1)
        tile(p, r, h + (rest & 2), 0, 1, width, far);
}

LD_CLONES(spmm_of_heads)
{
    const product *p = ctx;
    const bool far = p->a->n_cols * p->heads * p->width > NEAR;
    for (int64_t r = begin; r < end; r++) {
        switch (p->width) {
        case 4: narrow_row(p, r, 4, far); break;
        case 8: narrow_row(p, r, 8, far); break;
        case 16: narrow_row(p, r, 16, far); break;
        case 32: narrow_row(p, r, 32, far); break;
        default: wide_row(p, r, far);
        }
    }
}

ld_status ld_spmm_of_heads(float *y, const ld_factors *a, const float *w, const float *x,
                           int64_t heads, int64_t width, bool accumulate)
{
    product p = {y, NULL, a, w, x, heads, width, accumulate};
    return ld_parallel_for(a->n_rows, ROW_GRAIN, spmm_of_heads, &p);
}

/* --- w = x . y -------------------------------------------------------------------------------- */

enum { DOTS = 64 /* dot products whose lanes are summed before they are added up */ };

/* Computes the lanes of a dot product of n elements: lane l sums every eighth term from the l-th
 * on. */
static LD_INLINE void lanes_of(double *restrict out, const float *restrict x,
                               const float *restrict y, int64_t n)
{
    double lane[LD_LANES] = {0};
    const int64_t whole = n / LD_LANES * LD_LANES;
    for (int64_t j = 0; j < whole; j += LD_LANES)
        for (int l = 0; l < LD_LANES; l++)
            lane[l] += (double)x[j + l] * y[j + l];
    for (int l = 0; l < LD_LANES; l++)
        out[l] = lane[l];
    for (int64_t l = 0; l < n - whole; l++)
        out[l] += (double)x[whole + l] * y[whole + l];
}

/* Sets the elements of w to n dot products, or adds these, by their lanes, of which the upper half
 * is added to the lower, three times. */
static LD_INLINE void store(float *restrict w, double (*restrict lane)[LD_LANES], int n,
                            bool accumulate)
{
    double half[DOTS][2];
    for (int i = 0; i < n; i++)
        for (int l = 0; l < 2; l++)
            half[i][l] = (lane[i][l] + lane[i][l + 4]) + (lane[i][l + 2] + lane[i][l + 6]);
    for (int i = 0; i < n; i++) {
        float dot = (float)(half[i][0] + half[i][1]);
        w[i] = accumulate ? w[i] + dot : dot;
    }
}

/* left is x, right is y. The dot products are those of the entries and their heads, one after the
 * other. */
static LD_INLINE void dots_of_rows(const product *p, int64_t begin, int64_t end, int64_t width)
{
    const ld_factors *a = p->a;
    const int64_t heads = p->heads, k = heads * width, last = a->offsets[end];
    const int64_t step = heads < DOTS ? DOTS / heads : 1;
    const bool far = a->n_cols * k > NEAR;
    double lane[DOTS][LD_LANES];
    int64_t r = begin;
    for (int64_t first = a->offsets[begin]; first < last; first += step)
        for (int64_t h = 0; h < heads; h += DOTS) {
            const int64_t until = last - first < step ? last : first + step;
            const int count = heads - h < DOTS ? (int)(heads - h) : DOTS;
            int n = 0;
            for (int64_t e = first; e < until; e++) {
                while (e >= a->offsets[r + 1])
                    r++;
                const float *x = p->left + r * k + h * width;
                const float *y = p->right + a->columns[e] * k + h * width;
                if (far && e + AHEAD < last)
                    prefetch(p->right + a->columns[e + AHEAD] * k + h * width, count * width);
                for (int i = 0; i < count; i++, x += width, y += width) {
                    LD_ONE_BY_ONE(i);
                    lanes_of(lane[n++], x, y, width);
                }
            }
            store(p->w + first * heads + h, lane, n, p->accumulate);
        }
}

LD_CLONES(sddmm_of_heads)
{
    const product *p = ctx;
    switch (p->width) {
    case 8: dots_of_rows(p, begin, end, 8); break;
    case 16: dots_of_rows(p, begin, end, 16); break;
    case 32: dots_of_rows(p, begin, end, 32); break;
    default: dots_of_rows(p, begin, end, p->width);
    }
}

ld_status ld_sddmm_of_heads(float *w, const ld_factors *a, const float *x, const float *y,
                            int64_t heads, int64_t width, bool accumulate)
{
    product p = {NULL, w, a, x, y, heads, width, accumulate};
    return ld_parallel_for(a->n_rows, ROW_GRAIN, sddmm_of_heads, &p);
}

/* Multiplies in bfloat16, block by block: the sums are cut into blocks whose factors stay in a
 * cache. The right factor of a block is brought into tiles (bfloat16_tiles.h) before all else; the
 * left one by the thread that makes rows of c, two panels at a time, just before they are
 * multiplied with all of the right one's. */
#include "kernel/bfloat16.h"

#include "kernel/bfloat16_tiles.h"
#include "memory/memory.h"
#include "system/threads.h"

enum { BLOCK_TERMS = 1024, MOST_TILES = BLOCK_TERMS / LD_TILE_TERMS, FEW_PAIRS = 16 };

/* A factor: the rows of the left one, or the columns of the right one, up to `end`. */
typedef struct {
    const float *x;
    int64_t ld, end;
    bool terms_together, right;
} factor;

typedef struct {
    const ld_product *p;
    const ld_tile_units *units;
    factor left, right;
    int64_t begin;       /* the first row of c that is made; the last is before left.end */
    int64_t term, terms; /* the block's first term and how many it has */
    int64_t tiles;       /* in a panel */
    int64_t across;      /* squares of 2 x 2 tiles beside each other */
    uint16_t *panels;    /* the panels of the right factor */
    bool accumulate;
} block;

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t quotient(int64_t a, int64_t b) /* rounded up */
{
    return (a + b - 1) / b;
}

/* Fills the panel whose first row or column is `at`; what is past the end becomes 0. */
static void fill_panel(const block *b, const factor *f, uint16_t *panel, int64_t at)
{
    int width = (int)(at < f->end ? smaller(LD_TILE_LINES, f->end - at) : 0);
    for (int64_t t = 0; t < b->tiles; t++) {
        int64_t term = b->term + t * LD_TILE_TERMS;
        int terms = (int)smaller(LD_TILE_TERMS, b->term + b->terms - term);
        int64_t from = f->terms_together ? at * f->ld + term : term * f->ld + at;
        ld_tile_source source = {
            .from = width == 0 ? f->x : f->x + from,
            .stride = f->ld,
            .lines = f->terms_together ? width : terms,
            .length = f->terms_together ? terms : width,
            .terms_together = f->terms_together,
            .right = f->right,
        };
        b->units->fill(panel + t * LD_TILE_SIZE, &source);
    }
}

static void fill_right(void *ctx, int64_t begin, int64_t end)
{
    const block *b = ctx;
    for (int64_t i = begin; i < end; i++)
        fill_panel(b, &b->right, b->panels + i * b->tiles * LD_TILE_SIZE, i * LD_TILE_LINES);
}

/* Multiplies some squares of c, which lie beside each other. */
static void multiply(void *ctx, int64_t begin, int64_t end)
{
    const block *b = ctx;
    int64_t n = b->p->n, panel = b->tiles * LD_TILE_SIZE, filled = -1;
    _Alignas(64) uint16_t left[2 * MOST_TILES * LD_TILE_SIZE];
    for (int64_t i = begin; i < end; i++) {
        int64_t row = b->begin + i / b->across * LD_TILE_PAIR, col = i % b->across * LD_TILE_PAIR;
        if (row != filled) {
            fill_panel(b, &b->left, left, row);
            fill_panel(b, &b->left, left + panel, row + LD_TILE_LINES);
            filled = row;
        }
        b->units->multiply(b->p->c + row * n + col, n,
                           (int)smaller(LD_TILE_PAIR, b->left.end - row),
                           (int)smaller(LD_TILE_PAIR, n - col), b->accumulate, left,
                           b->panels + i % b->across * 2 * panel, b->tiles);
    }
}

/* Adds the terms from b->term on to all sums. Where c has few rows, two threads share those of a
 * pair of panels. */
static ld_status multiply_terms(block *b)
{
    int64_t down = quotient(b->left.end - b->begin, LD_TILE_PAIR);
    int64_t grain = down < FEW_PAIRS ? quotient(b->across, 2) : b->across;
    b->terms = smaller(BLOCK_TERMS, b->p->k - b->term);
    b->tiles = quotient(b->terms, LD_TILE_TERMS);
    b->accumulate = b->p->accumulate || b->term > 0;
    LD_CHECK(ld_parallel_for(2 * b->across, 1, fill_right, b));
    return ld_parallel_for(down * b->across, grain, multiply, b);
}

const char *ld_bfloat16_units(void)
{
    const ld_tile_units *units = ld_tile_units_in_use();
    return units ? units->name : NULL;
}

ld_status ld_bfloat16_rows(const ld_product *p, int64_t begin, int64_t end)
{
    block b = {
        .p = p,
        .units = ld_tile_units_in_use(),
        .left = {.x = p->a, .ld = p->lda, .end = end, .terms_together = !p->ta},
        .right = {.x = p->b, .ld = p->ldb, .end = p->n, .terms_together = p->tb, .right = true},
        .begin = begin,
        .across = quotient(p->n, LD_TILE_PAIR),
    };
    int64_t panel = quotient(smaller(BLOCK_TERMS, p->k), LD_TILE_TERMS) * LD_TILE_SIZE;
    if (!b.units)
        return ld_fail(LD_STATE, "matmul: " LD_NO_BFLOAT16);
    LD_FREED uint16_t *panels =
        ld_alloc_array(2 * b.across * panel, sizeof *panels, LD_MEM_SCRATCH);
    if (!panels)
        return LD_NOMEM;
    b.panels = panels;
    for (; b.term < p->k; b.term += BLOCK_TERMS)
        LD_CHECK(multiply_terms(&b));
    return LD_OK;
}

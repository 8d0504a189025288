/* The product by blocks of x: 64 columns of 16,384 rows, which are copied side by side, so that a
 * cache holds them while the entries of all rows in these columns go by. Each row has a place from
 * which the next block goes on, and its sums wait in y meanwhile. The entries of a row come in the
 * same order as without blocks, and so the sums have the same bits. */
#include <string.h>

#include "base/memory.h"
#include "base/simd.h"
#include "base/threads.h"
#include "graph/spmm.h"

enum {
    TILE = 64,
    BLOCK = 1 << 14, /* rows of x */
    LEAST_BLOCKS = 8,
    LEAST_ENTRIES = 4, /* of a row in a block */
    GRAIN = 512
};

/* All rows with the block of x from row `begin` to `end` and column `first` on. */
typedef struct {
    const ld_spmm_job *job;
    float *copy;   /* of the block: rows of TILE columns, zeros behind x's last */
    int64_t *next; /* of each row: its next entry */
    int64_t begin, end, first, width;
} pass;

bool ld_spmm_blocks_pay(const ld_spmm_job *p)
{
    int64_t blocks = p->a.n_cols / BLOCK;
    int64_t entries = p->a.offsets[p->a.n_rows] - p->a.offsets[0];
    return !p->accumulate && p->k >= TILE / 2 && blocks >= LEAST_BLOCKS &&
           entries / LEAST_ENTRIES / blocks >= p->a.n_rows && ld_factors_sorted(&p->a);
}

static void copy_rows(void *ctx, int64_t begin, int64_t end)
{
    const pass *p = ctx;
    size_t bytes = (size_t)p->width * sizeof(float);
    for (int64_t i = begin; i < end; i++) {
        float *row = p->copy + i * TILE;
        memset(row, 0, TILE * sizeof *row);
        memcpy(row, p->job->x + (p->begin + i) * p->job->k + p->first, bytes);
    }
}

LD_CLONES(add_block)
{
    const pass *p = ctx;
    const ld_factors *a = &p->job->a;
    bool starts = p->begin == 0, ends = p->end == a->n_cols;
    for (int64_t r = begin; r < end; r++) {
        float sum[TILE] = {0}, *y = p->job->y + r * p->job->k + p->first;
        int64_t e = starts ? a->offsets[r] : p->next[r], last = a->offsets[r + 1];
        for (int64_t j = 0; !starts && j < p->width; j++)
            sum[j] = y[j];
        for (; e < last && a->columns[e] < p->end; e++) {
            float v = ld_spmm_weight(a, e);
            const float *x = p->copy + (a->columns[e] - p->begin) * TILE;
            for (int64_t j = 0; j < TILE; j++)
                sum[j] += v * x[j];
        }
        p->next[r] = e;
        float scale = ends && a->row_scale ? a->row_scale[r] : 1.0f;
        for (int64_t j = 0; j < p->width; j++)
            y[j] = scale * sum[j];
    }
}

ld_status ld_spmm_by_blocks(const ld_spmm_job *job)
{
    pass p = {.job = job};
    int64_t n_cols = job->a.n_cols;
    ld_status st = LD_NOMEM;
    p.copy = ld_alloc_array(BLOCK * TILE, sizeof *p.copy, LD_MEM_SCRATCH);
    p.next = ld_alloc_array(job->a.n_rows, sizeof *p.next, LD_MEM_SCRATCH);
    if (!p.copy || !p.next)
        goto done;
    st = LD_OK;
    for (p.first = 0; p.first < job->k; p.first += TILE) {
        p.width = job->k - p.first < TILE ? job->k - p.first : TILE;
        for (p.begin = 0; p.begin < n_cols; p.begin = p.end) {
            p.end = n_cols - p.begin < BLOCK ? n_cols : p.begin + BLOCK;
            LD_TRY(ld_parallel_for(p.end - p.begin, GRAIN, copy_rows, &p));
            LD_TRY(ld_parallel_for(job->a.n_rows, GRAIN, add_block, &p));
        }
    }
done:
    ld_free(p.copy);
    ld_free(p.next);
    return st;
}

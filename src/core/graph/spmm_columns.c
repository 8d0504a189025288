/* The product with a transpose that is not made: a row of x, times each entry of a's row, is added to
 * the row of y that is the entry's column. So a and x are read as they lie, where row by row of the
 * transpose the rows of x come in any order; what comes in any order here are sums, of which a cache
 * holds as many as there are columns in a tile. Each gets its terms in the order of a's rows, as by the
 * transpose: the bits are the same. */
#include "base/memory.h"
#include "base/simd.h"
#include "base/threads.h"
#include "graph/spmm.h"

enum {
    TILE = 64,
    NEAR = 1 << 17,     /* floats of sums that are near enough */
    LEAST_ENTRIES = 32, /* of a column, or setting out its sums is not worth it */
    POLLED_ROWS = 1024
};

bool ld_spmm_columns_pay(const ld_structure *s)
{
    return s->n_cols * TILE <= NEAR && s->nnz >= s->n_cols * LEAST_ENTRIES;
}

/* Adds up some columns of y, at first zeros. */
static inline __attribute__((always_inline)) void add_rows(float *sums, const ld_spmm_job *p,
                                                           int64_t first, int64_t width)
{
    const ld_factors *a = &p->a;
    for (int64_t r = 0; r < a->n_rows; r++) {
        float x[TILE], scale = a->row_scale ? a->row_scale[r] : 1.0f;
        if (r % POLLED_ROWS == 0 && ld_cancelled())
            return;
        for (int64_t j = 0; j < width; j++)
            x[j] = p->x[r * p->k + first + j];
        for (int64_t e = a->offsets[r]; e < a->offsets[r + 1]; e++) {
            float v = (a->values ? a->values[e] : 1.0f) * scale;
            float *sum = sums + a->columns[e] * width;
            for (int64_t j = 0; j < width; j++)
                sum[j] += v * x[j];
        }
    }
}

static inline __attribute__((always_inline)) void tile(float *sums, const ld_spmm_job *p,
                                                       int64_t first, int64_t width)
{
    add_rows(sums, p, first, width);
    for (int64_t c = 0; c < p->a.n_cols; c++) {
        float scale = p->a.col_scale ? p->a.col_scale[c] : 1.0f;
        const float *sum = sums + c * width;
        float *y = p->y + c * p->k + first;
        for (int64_t j = 0; j < width; j++)
            y[j] = p->accumulate ? y[j] + scale * sum[j] : scale * sum[j];
    }
}

typedef struct {
    const ld_spmm_job *job;
    float *sums; /* tile behind tile, each n_cols rows of its columns */
} sums_of;

LD_CLONES(make_tiles)
{
    const sums_of *p = ctx;
    for (int64_t first = begin * TILE; first < end * TILE && first < p->job->k; first += TILE) {
        float *sums = p->sums + first * p->job->a.n_cols;
        if (first + TILE <= p->job->k)
            tile(sums, p->job, first, TILE);
        else
            tile(sums, p->job, first, p->job->k - first);
    }
}

ld_status ld_spmm_by_columns(const ld_spmm_job *job)
{
    sums_of p = {job, ld_calloc_array(job->a.n_cols * job->k, sizeof(float), LD_MEM_SCRATCH)};
    ld_status st = LD_NOMEM;
    if (p.sums)
        st = ld_parallel_for((job->k + TILE - 1) / TILE, 1, make_tiles, &p);
    ld_free(p.sums);
    return st == LD_OK ? ld_poll() : st;
}

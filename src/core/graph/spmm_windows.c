/* The product where x, and perhaps y, lie in temporary files that memory does not hold. Rows of x that
 * come in no order would be read from the disk one by one, again and again. So a panel of y, as much
 * as memory holds, is finished before the next, and for each panel x goes by once, in windows that
 * memory holds as well: x is read as often as there are panels, one window after the other.
 *
 * Each row has a place from which the next window goes on, and its sums wait in y meanwhile. The
 * entries of a row come in the same order as without windows, and so the sums have the same bits. */
#include "base/memory.h"
#include "base/simd.h"
#include "base/threads.h"
#include "graph/spmm.h"

enum { TILE = 64, GRAIN = 512 };

/* A panel with the window of x from row `begin` to `end`. */
typedef struct {
    ld_spmm_job panel;
    int64_t *next; /* of each row of the panel: its next entry */
    int64_t begin, end;
} pass;

bool ld_spmm_needs_windows(const ld_spmm_job *p)
{
    return p->file && !p->accumulate && p->a.n_cols > p->near_rows && ld_factors_sorted(&p->a);
}

/* Adds entries from .. to-1 of row r to `width` of its sums, those from column `first` on. */
static inline __attribute__((always_inline)) void add(const pass *p, int64_t r, int64_t from,
                                                      int64_t to, int64_t first, int64_t width)
{
    const ld_spmm_job *job = &p->panel;
    const ld_factors *a = &job->a;
    float sum[TILE] = {0}, *y = job->y + r * job->k + first;
    for (int64_t j = 0; p->begin > 0 && j < width; j++)
        sum[j] = y[j];
    for (int64_t e = from; e < to; e++) {
        float v = ld_spmm_weight(a, e);
        const float *x = job->x + a->columns[e] * job->k + first;
        for (int64_t j = 0; j < width; j++)
            sum[j] += v * x[j];
    }
    float scale = p->end == a->n_cols && a->row_scale ? a->row_scale[r] : 1.0f;
    for (int64_t j = 0; j < width; j++)
        y[j] = scale * sum[j];
}

LD_CLONES(add_window)
{
    const pass *p = ctx;
    const ld_factors *a = &p->panel.a;
    bool is_first = p->begin == 0, is_last = p->end == a->n_cols;
    int64_t k = p->panel.k, tiled = k - k % TILE;
    for (int64_t r = begin; r < end; r++) {
        int64_t from = is_first ? a->offsets[r] : p->next[r], to = from;
        while (to < a->offsets[r + 1] && a->columns[to] < p->end)
            to++;
        p->next[r] = to;
        if (from == to && !is_first && !is_last)
            continue;
        for (int64_t first = 0; first < tiled; first += TILE)
            add(p, r, from, to, first, TILE);
        if (tiled < k)
            add(p, r, from, to, tiled, k - tiled);
    }
}

/* A panel, whose job is p->panel, with all windows. */
static ld_status make_panel(pass *p)
{
    const ld_spmm_job *job = &p->panel;
    int64_t n_cols = job->a.n_cols, row = job->k * (int64_t)sizeof(float);
    for (p->begin = 0; p->begin < n_cols; p->begin = p->end) {
        p->end = n_cols - p->begin < job->near_rows ? n_cols : p->begin + job->near_rows;
        ld_mapping_fetch(job->file, job->x + p->begin * job->k, (p->end - p->begin) * row);
        ld_status st = ld_parallel_for(job->a.n_rows, GRAIN, add_window, p);
        if (st != LD_OK)
            return st;
    }
    return LD_OK;
}

ld_status ld_spmm_by_windows(const ld_spmm_job *job)
{
    pass p = {.next = NULL};
    ld_status st = LD_OK;
    p.next = ld_alloc_array(job->near_rows, sizeof *p.next, LD_MEM_SCRATCH);
    if (!p.next)
        return LD_NOMEM;
    for (int64_t first = 0; first < job->a.n_rows; first += job->near_rows) {
        int64_t rest = job->a.n_rows - first;
        p.panel = ld_spmm_rows_of(job, first, rest < job->near_rows ? rest : job->near_rows);
        LD_TRY(make_panel(&p));
    }
done:
    ld_free(p.next);
    return st;
}

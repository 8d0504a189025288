/* The product by windows, for an x in a file that memory does not hold, whose rows would be read
 * from the disk one by one, again and again.
 *
 * A panel of y, as much as memory holds, is finished before the next, and for each panel x goes by
 * once, in windows that memory holds as well: small ones, since x is read as often as there are
 * panels. The next window is asked for before this one is added, so that the disk and the processor
 * work at the same time. The sums of a row wait between two windows: they get their terms in the
 * same order.
 *
 * The sums wait in memory of their own, since the system would write pages of y to the disk
 * meanwhile. So does the window: its rows are read in no order, for which the small pages of a file
 * take too long to be found. Where the matrix has no values the window is scaled by columns, and an
 * entry is only added. */
#include <string.h>

#include "base/search.h"
#include "kernel/row_sum.h"
#include "kernel/spmm.h"
#include "memory/memory.h"
#include "system/simd.h"
#include "system/threads.h"

enum {
    GRAIN = 512,
    PIECE = 1 << 16, /* floats that are copied at a time */
    ROWS_AHEAD = 8,  /* rows whose */
    FIRST = 4        /* first entries in a window memory is asked for before their turn */
};

/* Rows of y, which are scaled in the last window, and the window of x from row `begin` to `end`. */
typedef struct {
    ld_row_sum product; /* its x begins with row `base` */
    int64_t begin, end, base;
    int64_t *next; /* of each row, the first entry that no window has had yet; or NULL */
} pass;

/* Asks memory for the sums of row r, and for what they get first of the window. */
static inline void prefetch_row(const pass *p, int64_t r)
{
    const ld_factors *a = p->product.a;
    int64_t e = p->next[r], last = a->offsets[r + 1], k = p->product.k;
    last = e + FIRST < last ? e + FIRST : last;
    if (e == last || a->columns[e] >= p->end)
        return;
    for (int64_t j = 0; j < k; j += LD_ROW_SUM_LINE)
        __builtin_prefetch(p->product.y + r * k + j);
    for (; e < last && a->columns[e] < p->end; e++)
        ld_row_sum_prefetch(&p->product, e, 0, k, p->base);
}

LD_CLONES(spmm_of_window)
{
    const pass *p = ctx;
    const ld_factors *a = p->product.a;
    bool is_first = p->begin == 0, is_last = p->end == a->n_cols;
    for (int64_t r = begin; r < end; r++) {
        int64_t last = a->offsets[r + 1], from, to;
        if (p->next && r + ROWS_AHEAD < end)
            prefetch_row(p, r + ROWS_AHEAD);
        from = p->next ? p->next[r] : ld_search_int32(a->columns, a->offsets[r], last, p->begin);
        for (to = from; to < last && a->columns[to] < p->end;)
            to++;
        if (p->next)
            p->next[r] = to;
        if (is_first)
            ld_row_sum_make(&p->product, r, from, to, false, false, p->base);
        else if (to - from > LD_ROW_SUM_AHEAD)
            ld_row_sum_make(&p->product, r, from, to, true, true, p->base);
        else if (from < to || is_last)
            ld_row_sum_make(&p->product, r, from, to, false, true, p->base);
    }
    if (is_last)
        ld_row_sum_add_bias(&p->product, begin, end);
}

static ld_status add_window(pass *p, const ld_factors *a)
{
    ld_factors part = *a;
    part.row_scale = p->end == a->n_cols ? a->row_scale : NULL;
    p->product.a = &part;
    return ld_parallel_for(a->n_rows, GRAIN, spmm_of_window, p);
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

/* The product by windows: what is in files, and the window in memory. */
typedef struct {
    pass pass;              /* its y are the sums of a panel */
    float *y;               /* the rows of a panel, perhaps in a file */
    const float *x, *scale; /* of the rows of x, or NULL */
    int64_t window;
    float *held;
    const ld_mapping *x_file, *y_file; /* or NULL */
    ld_loop_failure failure;
} windows;

/* Asks for the window of x from row `begin` on to be read from its file. */
static void fetch_window(const windows *w, int64_t begin, int64_t n_rows)
{
    int64_t rest = n_rows - begin, k = w->pass.product.k;
    if (w->x_file && rest > 0)
        ld_mapping_fetch(w->x_file, w->x + begin * k,
                         (rest < w->window ? rest : w->window) * k * (int64_t)sizeof(float));
}

/* Copies floats to or from a file, or within memory where there is none. */
static ld_status copy_floats(float *to, const float *from, int64_t n, const ld_mapping *file,
                             bool write)
{
    int64_t size = n * (int64_t)sizeof *to;
    if (file)
        return write ? ld_mapping_write(file, to, from, size)
                     : ld_mapping_read(file, to, from, size);
    memcpy(to, from, (size_t)size);
    return LD_OK;
}

/* Brings rows of the window into memory. */
LD_CLONES(hold_rows)
{
    windows *w = ctx;
    int64_t k = w->pass.product.k, first = w->pass.begin;
    ld_status st = copy_floats(w->held + begin * k, w->x + (first + begin) * k, (end - begin) * k,
                               w->x_file, false);
    ld_loop_note(&w->failure, st);
    for (int64_t i = begin; st == LD_OK && w->scale && i < end; i++)
        for (int64_t j = 0; j < k; j++)
            w->held[i * k + j] *= w->scale[first + i];
}

/* Writes the sums of rows of the panel to y. */
static void write_rows(void *ctx, int64_t begin, int64_t end)
{
    windows *w = ctx;
    int64_t k = w->pass.product.k;
    ld_loop_note(&w->failure, copy_floats(w->y + begin * k, w->pass.product.y + begin * k,
                                          (end - begin) * k, w->y_file, true));
}

/* Computes the rows of `a` from all windows, and puts them to y. */
static ld_status make_panel(windows *w, const ld_factors *a)
{
    pass *p = &w->pass;
    int64_t grain = PIECE / (p->product.k + 1) + 1;
    memcpy(p->next, a->offsets, (size_t)a->n_rows * sizeof *p->next);
    fetch_window(w, 0, a->n_cols);
    for (p->begin = 0; p->begin < a->n_cols; p->begin = p->end) {
        p->base = p->begin;
        p->end = a->n_cols - p->begin < w->window ? a->n_cols : p->begin + w->window;
        LD_CHECK(
            ld_loop_result(&w->failure, ld_parallel_for(p->end - p->begin, grain, hold_rows, w)));
        fetch_window(w, p->end, a->n_cols);
        LD_CHECK(add_window(p, a));
    }
    return ld_loop_result(&w->failure, ld_parallel_for(a->n_rows, grain, write_rows, w));
}

static void windows_clear(windows *w)
{
    ld_free(w->held);
    ld_free(w->pass.product.y);
    ld_free(w->pass.next);
}

ld_status ld_spmm_by_windows(float *y, const ld_factors *a, const float *x, int64_t k,
                             const float *bias, int64_t panel, int64_t window,
                             const ld_mapping *x_file, const ld_mapping *y_file)
{
    if (a->n_cols == 0 || a->n_rows == 0)
        return ld_spmm_by_rows(y, a, a->columns, x, k, false, bias);
    int64_t panels = (a->n_rows - 1) / panel + 1, most = (a->n_rows - 1) / panels + 1;
    LD_CLEANED(windows_clear)
    windows w = {.x = x,
                 .scale = a->values ? NULL : a->col_scale,
                 .window = window < a->n_cols ? window : a->n_cols,
                 .x_file = x_file,
                 .y_file = y_file};
    w.held = ld_alloc_array(w.window * k, sizeof *w.held, LD_MEM_SCRATCH);
    w.pass.next = ld_alloc_array(most, sizeof *w.pass.next, LD_MEM_SCRATCH);
    w.pass.product = (ld_row_sum){.y = ld_alloc_array(most * k, sizeof *y, LD_MEM_SCRATCH),
                                  .meets = a->columns,
                                  .x = w.held,
                                  .bias = bias,
                                  .k = k};
    if (!w.held || !w.pass.next || !w.pass.product.y)
        return LD_NOMEM;
    for (int64_t first = 0; first < a->n_rows; first += most) {
        int64_t rest = a->n_rows - first;
        ld_factors rows = ld_factors_rows(a, first, rest < most ? rest : most);
        rows.col_scale = w.scale ? NULL : rows.col_scale;
        w.y = y + first * k;
        LD_CHECK(make_panel(&w, &rows));
    }
    return LD_OK;
}

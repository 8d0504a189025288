/* The product of a sparse and a dense matrix on pointers and shapes, in ways that give the same bits. */
#ifndef LD_GRAPH_SPMM_H
#define LD_GRAPH_SPMM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mapping.h"
#include "base/status.h"
#include "graph/factors.h"

/* y = a * x, or y += a * x when accumulate, and then `bias` is added to each row; x and y have k
 * columns. The ways below leave the bias out, but for that row by row. */
typedef struct {
    float *y;
    const float *x;
    int64_t k;
    ld_factors a;
    bool accumulate;
    const float *bias;    /* or NULL */
    const int32_t *meets; /* the row of x that each entry is multiplied with: its column, mostly */
    const ld_mapping *file; /* the temporary file that x lies in, or NULL */
    int64_t near_rows; /* how many rows of x, and as many of y, memory holds where there is one */
} ld_spmm_job;

/* The part of a product that makes `count` rows of y from `first` on. */
static inline ld_spmm_job ld_spmm_rows_of(const ld_spmm_job *job, int64_t first, int64_t count)
{
    ld_spmm_job p = *job;
    p.y += first * p.k;
    p.a.n_rows = count;
    p.a.offsets += first;
    p.a.row_scale = p.a.row_scale ? p.a.row_scale + first : NULL;
    return p;
}

/* The value of entry e without its row's scale. */
static inline float ld_spmm_weight(const ld_factors *a, int64_t e)
{
    float v = a->values ? a->values[a->source ? a->source[e] : e] : 1.0f;
    return a->col_scale ? v * a->col_scale[a->columns[e]] : v;
}

/* Row by row (spmm.c). */
ld_status ld_spmm_by_rows(const ld_spmm_job *p);

/* Block of x by block (spmm_blocks.c), which is faster where it pays: many entries, that meet the rows
 * of their columns, and an x that no cache holds. The first `made` rows are, all unless it comes upon a
 * row that is not sorted. */
bool ld_spmm_blocks_pay(const ld_spmm_job *p);
ld_status ld_spmm_by_blocks(const ld_spmm_job *p, int64_t *made);

/* y = a^T * x for the factors of a itself (spmm_columns.c), without its transpose; faster where a has
 * few columns with many entries. */
bool ld_spmm_columns_pay(const ld_structure *s);
ld_status ld_spmm_by_columns(const ld_spmm_job *p);

/* Panel of y by panel, and window of x by window (spmm_windows.c), for files that memory does not hold;
 * where rows are sorted, not for accumulate. */
bool ld_spmm_needs_windows(const ld_spmm_job *p);
ld_status ld_spmm_by_windows(const ld_spmm_job *p);

#endif

/* The product row by row.
 *
 * The rows of x come in no order that a processor could foresee, so where x does not fit the cache
 * of a core they are asked for some entries ahead; where it fits, asking costs more than it brings.
 */
#include "kernel/row_sum.h"
#include "kernel/spmm.h"
#include "system/simd.h"
#include "system/threads.h"

enum {
    ROW_GRAIN = 32,
    NEAR = 1 << 18 /* floats of x that fit the cache of a core */
};

LD_CLONES(spmm_by_rows)
{
    const ld_row_sum *p = ctx;
    const int64_t *offsets = p->a->offsets;
    if (p->a->n_cols * p->k > NEAR)
        for (int64_t r = begin; r < end; r++)
            ld_row_sum_make(p, r, offsets[r], offsets[r + 1], true, false, 0);
    else
        for (int64_t r = begin; r < end; r++)
            ld_row_sum_make(p, r, offsets[r], offsets[r + 1], false, false, 0);
    ld_row_sum_add_bias(p, begin, end);
}

ld_status ld_spmm_by_rows(float *y, const ld_factors *a, const int32_t *meets, const float *x,
                          int64_t k, bool accumulate, const float *bias)
{
    ld_row_sum p = {y, a, meets, x, bias, k, accumulate};
    return ld_parallel_for(a->n_rows, ROW_GRAIN, spmm_by_rows, &p);
}

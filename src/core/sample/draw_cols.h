/* Layer-wise sampling in one call: columns of some rows of a matrix, drawn in proportion to their
 * norms in these rows. */
#ifndef LD_SAMPLE_DRAW_COLS_H
#define LD_SAMPLE_DRAW_COLS_H

#include "base/status.h"
#include "graph/csr.h"
#include "random/rng.h"
#include "sample/choice.h"

typedef enum {
    LD_DRAW_BY_COST,
    LD_DRAW_SCAN,
    LD_DRAW_TWO_STAGES, /* where it is possible at all */
} ld_draw_way;

typedef struct {
    int power;                /* to which entries are raised in the columns' sums: 1 or 2 */
    ld_choice_options choice; /* `always` holds columns of the matrix */
    ld_draw_way way;
} ld_draw_options;

/* Draws a layer: U = a[rows, src] for k columns src, drawn with probabilities p_u in proportion to
 * the sum of |a_vu|^power over the distinct `rows`, and those of `always`; w gets their design
 * weights. In distribution that is ld_csr_slice with `always` first, ld_csr_col_sums, ld_choice and
 * ld_csr_pick_cols in a row, which is the scan. Without replacement and with it the columns may
 * instead be drawn in two stages, which costs about k draws and a look at the entries of the rows
 * or of the columns chosen, whichever are fewer. LD_DRAW_BY_COST goes by the numbers of rows,
 * columns and entries. Fails as those functions do. */
ld_status ld_draw_cols(ld_csr **out, ld_index **src, ld_tensor **w, ld_csr *a, const ld_index *rows,
                       int64_t k, ld_draw_options o, ld_rng *rng);

#endif

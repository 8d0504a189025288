/* Multiplies stored rows: a panel of them at a time becomes floats and is multiplied, so that the
 * whole is never in memory. Panels are of whole tiles, so that the bits are those of a product of
 * all rows. */
#include "tensor/matmul.h"
#include "tensor/shared_product.h"
#include "tensor/stored_rows.h"

enum { TILE = 192, PANEL_BYTES = 16 << 20 };

typedef struct {
    ld_tensor *out;
    const ld_rows *x;
    const ld_tensor *w;
    int64_t panel; /* rows */
} rows_product;

static ld_status multiply_panel(const rows_product *p, int64_t row, int64_t count)
{
    LD_OWN(ld_tensor) *a = NULL;
    LD_OWN(ld_tensor) *c = NULL;
    LD_CHECK(ld_rows_slice(&a, p->x, row, count));
    LD_CHECK(ld_tensor_slice(&c, p->out, row, count));
    return ld_matmul(c, a, false, p->w, false, false);
}

static ld_status multiply_rows(void *ctx, int64_t begin, int64_t end)
{
    const rows_product *p = ctx;
    ld_status st = LD_OK;
    bool before = ld_matmul_by_rows(true);
    for (int64_t row = begin; row < end && st == LD_OK; row += p->panel)
        st = multiply_panel(p, row, end - row < p->panel ? end - row : p->panel);
    ld_matmul_by_rows(before);
    return st;
}

ld_status ld_rows_matmul(ld_tensor **out, const ld_rows *x, const ld_tensor *w)
{
    int64_t of_tile = TILE * (x->n_cols + 1) * (int64_t)sizeof(float);
    int size;
    if (x->n_cols != w->n_rows)
        return ld_fail(LD_SHAPE, "matmul: rows of %lld columns times %s", (long long)x->n_cols,
                       ld_tensor_shape(w));
    LD_OWN(ld_tensor) *y = NULL;
    LD_CHECK(ld_tensor_new(&y, 2, x->n_rows, w->n_cols));
    rows_product p = {.out = y, .x = x, .w = w, .panel = TILE};
    if (of_tile < PANEL_BYTES)
        p.panel *= PANEL_BYTES / of_tile;
    if (x->bounds && ld_share_is_on(&size) && size == x->n_owners)
        LD_CHECK(ld_share_own(y, x->bounds, multiply_rows, &p));
    else
        LD_CHECK(multiply_rows(&p, 0, x->n_rows));
    *out = ld_take(&y);
    return LD_OK;
}

/* Multiplies stored rows: a panel of them at a time becomes floats and is multiplied, so that the
 * whole is never in memory. Panels are of whole tiles, so that the bits are those of a product of
 * all rows. */
#include "memory/memory.h"
#include "tensor/matmul.h"
#include "tensor/share.h"
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
    ld_tensor *a = NULL, *c = NULL;
    ld_status st;
    LD_TRY(ld_rows_slice(&a, p->x, row, count));
    LD_TRY(ld_tensor_slice(&c, p->out, row, count));
    st = ld_matmul(c, a, false, p->w, false, false);
done:
    ld_tensor_unref(a);
    ld_tensor_unref(c);
    return st;
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
    rows_product p = {.x = x, .w = w, .panel = TILE};
    int64_t of_tile = TILE * (x->n_cols + 1) * (int64_t)sizeof(float);
    int size;
    ld_status st;
    if (x->n_cols != w->n_rows)
        return ld_fail(LD_SHAPE, "matmul: rows of %lld columns times %s", (long long)x->n_cols,
                       ld_tensor_shape(w));
    LD_TRY(ld_tensor_new(&p.out, 2, x->n_rows, w->n_cols));
    if (of_tile < PANEL_BYTES)
        p.panel *= PANEL_BYTES / of_tile;
    if (x->bounds && ld_share_is_on(&size) && size == x->n_owners)
        LD_TRY(ld_share_own(p.out, x->bounds, multiply_rows, &p));
    else
        LD_TRY(multiply_rows(&p, 0, x->n_rows));
    *out = ld_tensor_ref(p.out);
done:
    ld_tensor_unref(p.out);
    return st;
}

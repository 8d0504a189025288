#include "tensor/matmul.h"

#include <inttypes.h>

#include "kernel/gemm.h"
#include "system/threads.h"
#include "tensor/share.h"

static _Thread_local bool by_rows, in_bfloat16;

bool ld_matmul_by_rows(bool on)
{
    bool before = by_rows;
    by_rows = on;
    return before;
}

bool ld_matmul_in_bfloat16(bool on)
{
    bool before = in_bfloat16;
    in_bfloat16 = on;
    return before;
}

/* Describes the product op(a) * op(b) for the kernels; its elements are still to be computed. */
static ld_status product_of(ld_product *p, const ld_tensor *a, bool ta, const ld_tensor *b, bool tb)
{
    *p = (ld_product){.a = a->data,
                      .b = b->data,
                      .ta = ta,
                      .tb = tb,
                      .m = ta ? a->n_cols : a->n_rows,
                      .n = tb ? b->n_rows : b->n_cols,
                      .k = ta ? a->n_rows : a->n_cols,
                      .lda = a->n_cols,
                      .ldb = b->n_cols};
    if (p->k != (tb ? b->n_cols : b->n_rows))
        return ld_fail(LD_SHAPE, "matmul: (%s)%s * (%s)%s", ld_tensor_shape(a), ta ? "^T" : "",
                       ld_tensor_shape(b), tb ? "^T" : "");
    if (ld_in_worker())
        return ld_fail(LD_STATE, "matmul: a worker has no dense products; run it in step");
    return LD_OK;
}

typedef struct {
    ld_product p;
    ld_gemm_way way;
} shared_product;

static ld_status multiply_rows(void *ctx, int64_t begin, int64_t end)
{
    const shared_product *s = ctx;
    return ld_gemm_rows(&s->p, &s->way, begin, end);
}

ld_status ld_matmul(ld_tensor *c, const ld_tensor *a, bool ta, const ld_tensor *b, bool tb,
                    bool accumulate)
{
    shared_product s;
    ld_status st = product_of(&s.p, a, ta, b, tb);
    if (st != LD_OK)
        return st;
    if (c->n_rows != s.p.m || c->n_cols != s.p.n)
        return ld_fail(LD_SHAPE, "matmul: the result is %s, %" PRId64 " x %" PRId64 " expected",
                       ld_tensor_shape(c), s.p.m, s.p.n);
    s.p.c = c->data;
    s.p.accumulate = accumulate;
    s.way = ld_gemm_choose(&s.p, by_rows, in_bfloat16);
    return ld_share_rows(c, s.p.k, s.way.tile_rows, NULL, multiply_rows, &s);
}

ld_status ld_matmul_precise(ld_tensor **out, const ld_tensor *a, bool ta, const ld_tensor *b,
                            bool tb)
{
    ld_product p;
    ld_tensor *c = NULL;
    ld_status st;
    LD_TRY(product_of(&p, a, ta, b, tb));
    LD_TRY(ld_tensor_new(&c, 2, p.m, p.n));
    p.c = c->data;
    LD_TRY(ld_gemm_precise(&p));
    *out = ld_tensor_ref(c);
done:
    ld_tensor_unref(c);
    return st;
}

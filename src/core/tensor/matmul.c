#include "tensor/matmul.h"

#include <inttypes.h>

#include "kernel/gemm.h"
#include "tensor/shared_product.h"

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

/* Computes the product whose `accumulate` or bias is set. */
static ld_status multiply(ld_tensor *c, ld_product p)
{
    if (c->n_rows != p.m || c->n_cols != p.n)
        return ld_fail(LD_SHAPE, "matmul: the result is %s, %" PRId64 " x %" PRId64 " expected",
                       ld_tensor_shape(c), p.m, p.n);
    p.c = c->data;
    shared_product s = {p, ld_gemm_choose(&p, by_rows, in_bfloat16)};
    return ld_share_rows(c, p.k, s.way.tile_rows, NULL, multiply_rows, &s);
}

ld_status ld_matmul(ld_tensor *c, const ld_tensor *a, bool ta, const ld_tensor *b, bool tb,
                    bool accumulate)
{
    ld_product p;
    LD_CHECK(product_of(&p, a, ta, b, tb));
    p.accumulate = accumulate;
    return multiply(c, p);
}

ld_status ld_matmul_bias(ld_tensor *c, const ld_tensor *a, const ld_tensor *b,
                         const ld_tensor *bias)
{
    ld_product p;
    LD_CHECK(product_of(&p, a, false, b, false));
    p.bias = bias ? bias->data : NULL;
    return multiply(c, p);
}

ld_status ld_matmul_precise(ld_tensor **out, const ld_tensor *a, bool ta, const ld_tensor *b,
                            bool tb)
{
    ld_product p;
    LD_OWN(ld_tensor) *c = NULL;
    LD_CHECK(product_of(&p, a, ta, b, tb));
    LD_CHECK(ld_tensor_new(&c, 2, p.m, p.n));
    p.c = c->data;
    LD_CHECK(ld_gemm_precise(&p));
    *out = ld_take(&c);
    return LD_OK;
}

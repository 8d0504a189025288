#include "tensor/blas.h"

#include <cblas.h>
#include <stdio.h>
#include <string.h>

#include "base/threads.h"

/* Panels of 128 rows run at the speed of the whole product; panels of 32 would lose up to 40 %. */
enum { PANEL = 128 };

typedef struct {
    float *c;
    const float *a, *b;
    bool ta, tb;
    int64_t k, n, lda, ldb;
    float beta;
} product;

static void panel(void *ctx, int64_t begin, int64_t end)
{
    const product *p = ctx;
    const float *a = p->ta ? p->a + begin : p->a + begin * p->lda;
    cblas_sgemm(CblasRowMajor, p->ta ? CblasTrans : CblasNoTrans, p->tb ? CblasTrans : CblasNoTrans,
                (int)(end - begin), (int)p->n, (int)p->k, 1.0f, a, (int)p->lda, p->b, (int)p->ldb,
                p->beta, p->c + begin * p->n, (int)p->n);
}

ld_status ld_matmul(ld_tensor *c, const ld_tensor *a, bool ta, const ld_tensor *b, bool tb,
                    bool accumulate)
{
    int64_t m = ta ? a->n_cols : a->n_rows, k = ta ? a->n_rows : a->n_cols;
    int64_t kb = tb ? b->n_cols : b->n_rows, n = tb ? b->n_rows : b->n_cols;
    if (k != kb || c->n_rows != m || c->n_cols != n)
        return ld_fail(LD_SHAPE, "matmul: (%s)%s * (%s)%s", ld_tensor_shape(a), ta ? "^T" : "",
                       ld_tensor_shape(b), tb ? "^T" : "");
    if (ld_in_worker())
        return ld_fail(LD_STATE, "matmul: a worker has no dense products; run it in step");
    if (m == 0 || n == 0)
        return LD_OK;
    if (k == 0) { /* BLAS demands positive leading dimensions */
        if (!accumulate)
            memset(c->data, 0, (size_t)ld_tensor_size(c) * sizeof(float));
        return LD_OK;
    }
    product p = {c->data, a->data, b->data,   ta,        tb,
                 k,       n,       a->n_cols, b->n_cols, accumulate ? 1.0f : 0.0f};
    return ld_parallel_for(m, PANEL, panel, &p);
}

void ld_blas_name(char *text, size_t size)
{
    const char *config = openblas_get_config(); /* "OpenBLAS 0.3.21 NO_LAPACKE ..." */
    size_t name = strcspn(config, " ");
    size_t version = config[name] ? strcspn(config + name + 1, " ") + 1 : 0;
    snprintf(text, size, "%.*s %s", (int)(name + version), config, openblas_get_corename());
}

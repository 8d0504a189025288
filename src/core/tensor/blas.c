#include "tensor/blas.h"

#include <cblas.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

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

/* OpenBLAS maps a buffer for every thread that multiplies at the same time, and where the system
 * has no room for it (ulimit -v) it asks again for ever. So whether there is room is tried out before
 * the first product, and again for more threads. */
static ld_status check_room(void)
{
    static const int64_t BUFFER = 128 << 20;
    static atomic_int checked; /* threads that there was room for */
    enum { MOST = 256 };
    int n = ld_threads(), got = 0;
    void *buffers[MOST];
    if (n <= atomic_load_explicit(&checked, memory_order_relaxed))
        return LD_OK;
    for (; got < n && got < MOST; got++)
        if ((buffers[got] = mmap(NULL, BUFFER, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                                 -1, 0)) == MAP_FAILED)
            break;
    for (int i = 0; i < got; i++)
        munmap(buffers[i], BUFFER);
    if (got < n)
        return ld_fail(LD_NOMEM,
                       "matmul: OpenBLAS wants %d MiB of address space for each of %d threads, and "
                       "there is room for %d: fewer threads or a higher ulimit -v help",
                       (int)(BUFFER >> 20), n, got);
    atomic_store_explicit(&checked, n, memory_order_relaxed);
    return LD_OK;
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
    ld_status st = check_room();
    return st == LD_OK ? ld_parallel_for(m, PANEL, panel, &p) : st;
}

void ld_blas_name(char *text, size_t size)
{
    const char *config = openblas_get_config(); /* "OpenBLAS 0.3.21 NO_LAPACKE ..." */
    size_t name = strcspn(config, " ");
    size_t version = config[name] ? strcspn(config + name + 1, " ") + 1 : 0;
    snprintf(text, size, "%.*s %s", (int)(name + version), config, openblas_get_corename());
}

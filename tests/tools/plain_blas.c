/* The functions of OpenBLAS that the core uses, as plain loops: for a C library that Debian has no
 * OpenBLAS for (scripts/musl). */
#include <cblas.h>

#define AT(x, transposed, row, col, ld)                                                            \
    ((x)[(transposed) == CblasTrans ? (col) * (ld) + (row) : (row) * (ld) + (col)])

#define GEMM(name, real)                                                                           \
    void name(OPENBLAS_CONST enum CBLAS_ORDER order, OPENBLAS_CONST enum CBLAS_TRANSPOSE ta,       \
              OPENBLAS_CONST enum CBLAS_TRANSPOSE tb, OPENBLAS_CONST blasint m,                    \
              OPENBLAS_CONST blasint n, OPENBLAS_CONST blasint k, OPENBLAS_CONST real alpha,       \
              OPENBLAS_CONST real *a, OPENBLAS_CONST blasint lda, OPENBLAS_CONST real *b,          \
              OPENBLAS_CONST blasint ldb, OPENBLAS_CONST real beta, real *c,                       \
              OPENBLAS_CONST blasint ldc)                                                          \
    {                                                                                              \
        (void)order; /* by rows, always */                                                         \
        for (blasint i = 0; i < m; i++)                                                            \
            for (blasint j = 0; j < n; j++) {                                                      \
                real sum = 0;                                                                      \
                for (blasint l = 0; l < k; l++)                                                    \
                    sum += AT(a, ta, i, l, lda) * AT(b, tb, l, j, ldb);                            \
                c[i * ldc + j] = alpha * sum + (beta == 0 ? 0 : beta * c[i * ldc + j]);            \
            }                                                                                      \
    }

GEMM(cblas_sgemm, float)
GEMM(cblas_dgemm, double)

void openblas_set_num_threads(int n)
{
    (void)n;
}

int openblas_get_num_threads(void)
{
    return 1;
}

char *openblas_get_config(void)
{
    return "plain loops";
}

char *openblas_get_corename(void)
{
    return "plain";
}

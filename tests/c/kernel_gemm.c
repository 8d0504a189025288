/* Dense products in each of their ways, against three loops in double. Factors are small integers, and
 * infinities and NaN among them, so that any order of additions gives the same sums. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "check.h"
#include "kernel/bfloat16.h"
#include "kernel/gemm.h"

static float *new_integers(int64_t n, numbers kind)
{
    float *x = new_floats(n, ORDINARY);
    for (int64_t i = 0; i < n; i++) {
        x[i] = (float)(int)(next_bits() % 9) - 4.0f;
        if (kind == SPECIAL && next_bits() % 400 == 0)
            x[i] = next_bits() % 2 ? INFINITY : NAN;
    }
    return x;
}

static void plain_product(float *c, const ld_product *p)
{
    for (int64_t i = 0; i < p->m; i++)
        for (int64_t j = 0; j < p->n; j++) {
            double sum = p->bias ? p->bias[j] : p->accumulate ? c[i * p->n + j] : 0;
            for (int64_t t = 0; t < p->k; t++)
                sum += (double)p->a[p->ta ? t * p->lda + i : i * p->lda + t] *
                       p->b[p->tb ? j * p->ldb + t : t * p->ldb + j];
            c[i * p->n + j] = (float)sum;
        }
}

/* All rows of c at once, or by two parts that begin at a tile. */
static void make(const ld_product *p, const ld_gemm_way *way, bool in_parts)
{
    int64_t cut = in_parts ? (p->m / way->tile_rows + 1) / 2 * way->tile_rows : p->m;
    cut = cut < p->m ? cut : p->m;
    check(ld_gemm_rows(p, way, 0, cut) == LD_OK, "the first rows");
    if (cut < p->m)
        check(ld_gemm_rows(p, way, cut, p->m) == LD_OK, "the other rows");
}

static void check_product(ld_product p, bool with_bias, numbers kind)
{
    int64_t size = p.m * p.n;
    float *a = new_integers(p.m * p.k, kind), *b = new_integers(p.k * p.n, kind);
    float *before = new_integers(size, ORDINARY), *want = copy_floats(before, size);
    float *bias = new_integers(p.n, ORDINARY);
    p.a = a;
    p.b = b;
    p.bias = with_bias ? bias : NULL;
    p.lda = p.ta ? p.m : p.k;
    p.ldb = p.tb ? p.k : p.n;
    plain_product(want, &p);
    for (int demand = 0; demand < 4; demand++) {
        bool by_rows = demand == 1, in_bfloat16 = demand == 2;
        ld_gemm_way way = ld_gemm_choose(&p, by_rows, in_bfloat16);
        if (in_bfloat16 && !ld_bfloat16_units())
            continue;
        p.c = copy_floats(before, size);
        make(&p, &way, demand == 3);
        check(same_floats(p.c, want, size),
              "%" PRId64 " x %" PRId64 " x %" PRId64 ", way %d, transposed %d %d, bias %d", p.m,
              p.k, p.n, (int)way.kind, p.ta, p.tb, with_bias);
    }
    if (!p.accumulate && !with_bias) {
        p.c = copy_floats(before, size);
        check(ld_gemm_precise(&p) == LD_OK && same_floats(p.c, want, size),
              "precise %" PRId64 " x %" PRId64 " x %" PRId64, p.m, p.k, p.n);
    }
}

/* Computed by rows, a row has the bits that it has in a product without the rows behind it. */
static void check_by_rows(int64_t m, int64_t k, int64_t n)
{
    float *a = new_floats(m * k, ORDINARY), *b = new_floats(k * n, ORDINARY);
    float *c = new_floats(m * n, ORDINARY), *some = new_floats(m * n, ORDINARY);
    ld_product p = {.c = c, .a = a, .b = b, .m = m, .n = n, .k = k, .lda = k, .ldb = n};
    ld_gemm_way way = ld_gemm_choose(&p, true, false);
    ld_gemm_rows(&p, &way, 0, m);
    for (int64_t first = 0; first < m; first += 192) { /* which begin tiles */
        ld_product q = p;
        q.c = some;
        q.a = a + first * k;
        q.m = m - first < 5 ? m - first : 5;
        way = ld_gemm_choose(&q, true, false);
        ld_gemm_rows(&q, &way, 0, q.m);
        check(same_floats(some, c + first * n, q.m * n), "rows from %" PRId64 " on alone", first);
    }
}

/* Tiles have at most 192 rows, 512 from 4,097 rows on, or 128 where the result has 128 columns or less,
 * and at most 128 columns, or 256 from 1,537 rows on. Where a is transposed, sums of 768 and more
 * products are made in 2, 4, 8, 16 pieces of 384 or more, with tiles of at most 608 rows and 256
 * columns. */
void test(void)
{
    static const int64_t shapes[][3] = {
        {0, 3, 4},      {3, 0, 4},      {3, 4, 0},      {1, 1, 1},     {7, 5, 3},
        {33, 40, 17},   {400, 30, 150}, {40, 1700, 33}, {1600, 9, 7},  {1, 300, 1},
        {128, 3, 128},  {129, 3, 5},    {192, 2, 129},  {193, 5, 130}, {3, 260, 300},
        {1536, 2, 17},  {1537, 1, 257}, {3, 767, 4},    {3, 768, 4},   {609, 769, 2},
        {2, 1543, 259}, {4097, 1, 130}, {6149, 2, 3},   {2, 6149, 3}};
    for (int i = 0; i < (int)(sizeof shapes / sizeof *shapes); i++)
        for (int way = 0; way < 8; way++) {
            ld_product p = {.m = shapes[i][0],
                            .k = shapes[i][1],
                            .n = shapes[i][2],
                            .ta = way & 1,
                            .tb = way & 2,
                            .accumulate = way & 4};
            check_product(p, false, ORDINARY);
            check_product(p, false, SPECIAL);
            check_product(p, true, ORDINARY);
        }
    check_by_rows(500, 37, 130);
    char name[64] = "";
    ld_blas_name(name, sizeof name);
    check(name[0] && strlen(name) < sizeof name - 1, "the name of BLAS, %s", name);
}

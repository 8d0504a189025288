/* Products in bfloat16 and their two steps, filling tiles and multiplying them, against factors that are
 * rounded one by one by arithmetic on their bits. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/float16.h"
#include "check.h"
#include "kernel/bfloat16.h"
#include "kernel/bfloat16_tiles.h"

/* The nearest bfloat16, the even one of two; a number below 2^-126 in size is 0. */
static float rounded(float x)
{
    uint32_t bits;
    if (isnan(x))
        return x;
    if (fabsf(x) < 0x1p-126f)
        return copysignf(0.0f, x);
    memcpy(&bits, &x, sizeof bits);
    return ld_float_of_bits((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u);
}

/* --- tiles -------------------------------------------------------------------------------------- */

/* Term `term` of row or column `line` of a tile. */
static float element_of(const uint16_t *tile, bool right, int line, int term)
{
    return ld_float_of_bfloat16(right ? tile[term / 2 * LD_TILE_TERMS + 2 * line + term % 2]
                                      : tile[line * LD_TILE_TERMS + term]);
}

static void test_fill(const ld_tile_units *units, bool terms_together, bool right)
{
    enum { STRIDE = 37 };
    float *from = new_floats(LD_TILE_TERMS * STRIDE, SPECIAL);
    for (int lines = 0; lines <= LD_TILE_LINES; lines++)
        for (int terms = 1; terms <= LD_TILE_TERMS; terms++) {
            ld_tile_source source = {.from = from,
                                     .stride = STRIDE,
                                     .lines = terms_together ? lines : terms,
                                     .length = terms_together ? terms : lines,
                                     .terms_together = terms_together,
                                     .right = right};
            uint16_t tile[LD_TILE_SIZE];
            float got[LD_TILE_SIZE], want[LD_TILE_SIZE];
            units->fill(tile, &source);
            for (int i = 0; i < LD_TILE_SIZE; i++) {
                int line = i / LD_TILE_TERMS, term = i % LD_TILE_TERMS;
                int at = terms_together ? line * STRIDE + term : term * STRIDE + line;
                got[i] = element_of(tile, right, line, term);
                want[i] = line < lines && term < terms ? rounded(from[at]) : 0;
            }
            check(same_floats(got, want, LD_TILE_SIZE), "a tile of %d x %d, together %d, right %d",
                  lines, terms, terms_together, right);
        }
}

/* Two panels and two of small integers, of which all sums are exact. */
static void test_multiply(const ld_tile_units *units, int rows, int cols, int tiles,
                          bool accumulate)
{
    enum { STRIDE = LD_TILE_PAIR + 3 };
    int size = 2 * tiles * LD_TILE_SIZE;
    uint16_t *left = new_block(size, sizeof *left);
    uint16_t *right = new_block(size, sizeof *right);
    float *got = new_floats(LD_TILE_PAIR * STRIDE, ORDINARY);
    for (int i = 0; i < LD_TILE_PAIR * STRIDE; i++)
        got[i] = (float)(next_bits() % 100);
    float *want = copy_floats(got, LD_TILE_PAIR * STRIDE);
    for (int i = 0; i < size; i++) { /* 0, 1 or 2 */
        left[i] = (uint16_t[]){0, 0x3f80, 0x4000}[next_bits() % 3];
        right[i] = (uint16_t[]){0, 0x3f80, 0x4000}[next_bits() % 3];
    }
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++) {
            float sum = accumulate ? want[i * STRIDE + j] : 0;
            for (int t = 0; t < tiles * LD_TILE_TERMS; t++) {
                int tile = t / LD_TILE_TERMS, term = t % LD_TILE_TERMS;
                const uint16_t *a = left + (i / LD_TILE_LINES * tiles + tile) * LD_TILE_SIZE;
                const uint16_t *b = right + (j / LD_TILE_LINES * tiles + tile) * LD_TILE_SIZE;
                sum += element_of(a, false, i % LD_TILE_LINES, term) *
                       element_of(b, true, j % LD_TILE_LINES, term);
            }
            want[i * STRIDE + j] = sum;
        }
    units->multiply(got, STRIDE, rows, cols, accumulate, left, right, tiles);
    check(same_floats(got, want, LD_TILE_PAIR * STRIDE), "%d x %d of %d tiles, added %d", rows,
          cols, tiles, accumulate);
}

/* --- products ----------------------------------------------------------------------------------- */

/* Checks each element of c against a sum in double: it may differ by the rounding of every term. */
static void check_elements(const ld_product *p, const float *before)
{
    for (int64_t i = 0; i < p->m; i++)
        for (int64_t j = 0; j < p->n; j++) {
            double sum = p->accumulate ? before[i * p->n + j] : 0, size = fabs(sum);
            for (int64_t t = 0; t < p->k; t++) {
                double term = (double)rounded(p->a[p->ta ? t * p->lda + i : i * p->lda + t]) *
                              rounded(p->b[p->tb ? j * p->ldb + t : t * p->ldb + j]);
                sum += term;
                size += fabs(term);
            }
            double got = p->c[i * p->n + j],
                   bound = (double)(p->k + 2) * (size * 0x1p-23 + 0x1p-126);
            check(isnan(sum)   ? isnan(got)
                  : isinf(sum) ? got == sum
                               : fabs(got - sum) <= bound,
                  "%" PRId64 " x %" PRId64 " x %" PRId64 ", transposed %d %d: element (%" PRId64
                  ", %" PRId64 ") is %.9g, %.9g expected",
                  p->m, p->k, p->n, p->ta, p->tb, i, j, got, sum);
        }
}

static void test_rows(ld_product p, numbers kind)
{
    float *a = new_floats(p.m * p.k, kind), *b = new_floats(p.k * p.n, kind);
    float *before = new_floats(p.m * p.n, ORDINARY);
    float *whole = copy_floats(before, p.m * p.n), *parts = copy_floats(before, p.m * p.n);
    int64_t cut = p.m / 3;
    p.a = a;
    p.b = b;
    p.lda = p.ta ? p.m : p.k;
    p.ldb = p.tb ? p.k : p.n;
    p.c = parts;
    check(ld_bfloat16_rows(&p, 0, cut) == LD_OK && ld_bfloat16_rows(&p, cut, p.m) == LD_OK,
          "parts");
    p.c = whole;
    check(ld_bfloat16_rows(&p, 0, p.m) == LD_OK, "all rows");
    check(same_floats(parts, whole, p.m * p.n), "rows up to %" PRId64 " and behind it", cut);
    check_elements(&p, before);
}

void test(void)
{
    const ld_tile_units *units = ld_tile_units_in_use();
    static const int64_t shapes[][3] = {{0, 3, 4},    {3, 1, 0},     {1, 1, 1},   {7, 33, 3},
                                        {33, 70, 17}, {65, 31, 129}, {5, 2100, 9}};
    check(units ? ld_bfloat16_units() == units->name : !ld_bfloat16_units(),
          "the name of the units");
    if (!units) {
        check(ld_bfloat16_rows(&(ld_product){.m = 1, .n = 1, .k = 1}, 0, 1) == LD_STATE,
              "no units");
        return;
    }
    for (int way = 0; way < 4; way++)
        test_fill(units, way & 1, way & 2);
    for (int rows = 1; rows <= LD_TILE_PAIR; rows += 5)
        for (int cols = 1; cols <= LD_TILE_PAIR; cols += 3)
            for (int tiles = 0; tiles <= 3; tiles++)
                test_multiply(units, rows, cols, tiles, tiles % 2);
    for (int i = 0; i < (int)(sizeof shapes / sizeof *shapes); i++)
        for (int way = 0; way < 8; way++) {
            ld_product p = {.m = shapes[i][0],
                            .k = shapes[i][1],
                            .n = shapes[i][2],
                            .ta = way & 1,
                            .tb = way & 2,
                            .accumulate = way & 4};
            test_rows(p, ORDINARY);
            test_rows(p, SPECIAL);
        }
}

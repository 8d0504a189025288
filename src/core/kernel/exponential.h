/* e^x as the C library's expf gives it, but in loops that are compiled for vector units. With N =
 * 32, x = (k / N + r / N) ln 2 for an integer k and |r| <= 1/2; 2^(k/N) is a number of a table
 * times a power of two, and 2^(r/N) a polynomial in r. All is computed in double and rounded to
 * float once.
 *
 * Where the constants come from: the size of the table, the three coefficients of the polynomial and
 * the order of operations are those of the expf of ARM's optimized routines, which glibc and musl
 * have as well. They are needed as they are, since the results are to have the bits of glibc's:
 * with others, what models compute would change in its last bits. (tests/c holds the results to one
 * unit of the last place, whichever C library there is.) The table follows from its definition, and
 * can be computed anew. The code is our own. */
#ifndef LD_KERNEL_EXPONENTIAL_H
#define LD_KERNEL_EXPONENTIAL_H

#include <stdint.h>
#include <string.h>

#include "kernel/chains.h"

enum { LD_EXP_PARTS = 32 };

/* The bits of 2^(i / 32) as a double, less i << 47, which is added again with the rest of k. */
extern const uint64_t ld_exp_table[LD_EXP_PARTS];

static LD_INLINE float ld_exp_as_libm(float x)
{
    const double above = -0x1.9fe368p6, below = 0x1.62e42ep6; /* beyond: 0 and infinity */
    const double to_integer = 0x1.8p52;
    double clamped = x < above - 1 ? above - 1 : x > below + 1 ? below + 1 : x;
    double z = clamped * (0x1.71547652b82fep+0 * LD_EXP_PARTS), shifted = z + to_integer;
    double r = z - (shifted - to_integer);
    uint64_t k, bits;
    memcpy(&k, &shifted, sizeof k);
    bits = ld_exp_table[k % LD_EXP_PARTS] + (k << 47);
    double power;
    memcpy(&power, &bits, sizeof power);
    double high = 0x1.c6af84b912394p-5 / (1 << 15) * r + 0x1.ebfce50fac4f3p-3 / (1 << 10);
    double low = 0x1.62e42ff0c52d6p-1 / (1 << 5) * r + 1.0;
    float y = (float)((high * (r * r) + low) * power);
    return x == x ? y : x;
}

#endif

/* Philox with vectors. A processor multiplies every second 32-bit lane of its vectors, to 64 bits.
 * So there is one word of a counter in each 64-bit lane: of a product the upper half is a shift
 * away, the lower one stays where it is, and what is above a word is never read. (What a compiler
 * makes of ld_philox for many positions takes twice as long: it parts and joins vectors at every
 * product.) */
#include "random/philox.h"

#include "system/simd.h"

enum { LANES = LD_PHILOX_LANES, ROUNDS = 10 };

#if LD_HAVE_CLONES
#include <immintrin.h>
#include <string.h>

typedef uint64_t lanes4 __attribute__((vector_size(32)));
typedef uint64_t lanes8 __attribute__((vector_size(64)));

#define NAME    with_avx2
#define TARGET  "arch=x86-64-v3"
#define VECTOR  lanes4
#define VECTORS 2
#define EVEN                                                                                       \
    {                                                                                              \
        0, 2, 4, 6                                                                                 \
    }
#define PRODUCT(a, b) (lanes4) _mm256_mul_epu32((__m256i)(a), (__m256i)(b))
#include "random/philox_vectors.inc"

#define NAME    with_avx512
#define TARGET  "arch=x86-64-v4"
#define VECTOR  lanes8
#define VECTORS 4
#define EVEN                                                                                       \
    {                                                                                              \
        0, 2, 4, 6, 8, 10, 12, 14                                                                  \
    }
#define PRODUCT(a, b) (lanes8) _mm512_mul_epu32((__m512i)(a), (__m512i)(b))
#include "random/philox_vectors.inc"
#endif

/* Computes one position after the other. */
static void by_position(uint32_t *words, ld_stream s, uint64_t first)
{
    for (int i = 0; i < LANES; i++) {
        uint32_t block[4];
        ld_philox(block, s, first + (uint64_t)i);
        for (int w = 0; w < 4; w++)
            words[w * LANES + i] = block[w];
    }
}

void ld_philox_lanes(uint32_t words[4 * LD_PHILOX_LANES], ld_stream s, uint64_t first)
{
#if LD_HAVE_CLONES
    ld_units units = ld_units_in_use();
    if (units >= LD_UNITS_AVX512) {
        with_avx512(words, s, first);
        return;
    }
    if (units == LD_UNITS_AVX2) {
        with_avx2(words, s, first);
        return;
    }
#endif
    by_position(words, s, first);
}

/* Scans ids for those that may be in a set. Most are in none, and the filter says so without a
 * branch for each. */
#include "kernel/filter.h"

#include "system/simd.h"

#if LD_HAVE_CLONES
#include <immintrin.h>
#endif

/* Gives the positions of those of n ids that may be members. A position is written in any case, and
 * then kept or written over: a branch would be guessed wrong for most members. */
static int scan_plain(int32_t *at, const int32_t *ids, int n, const ld_filter *filter)
{
    int found = 0;
    for (int i = 0; i < n; i++) {
        at[found] = i;
        found += ld_filter_maybe(filter, ids[i]);
    }
    return found;
}

#if LD_HAVE_CLONES
/* Scans 16 ids at a time; `at` has room for a multiple of 16. */
__attribute__((target("arch=x86-64-v4"))) static int scan_avx512(int32_t *at, const int32_t *ids,
                                                                 int n, const ld_filter *filter)
{
    const __m512i low = _mm512_set1_epi32(LD_FILTER_BITS - 1), one = _mm512_set1_epi32(1);
    __m512i i = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    int found = 0;
    for (int first = 0; first < n; first += 16) {
        __mmask16 all = (__mmask16)_bzhi_u32(0xffff, (unsigned)(n - first));
        __m512i id = _mm512_maskz_loadu_epi32(all, ids + first);
        __m512i word = _mm512_srli_epi32(_mm512_and_si512(id, low), 5);
        __m512i bits = _mm512_i32gather_epi32(word, filter->words, 4);
        __mmask16 maybe = _mm512_mask_test_epi32_mask(all, bits, _mm512_rolv_epi32(one, id));
        _mm512_storeu_si512(at + found, _mm512_maskz_compress_epi32(maybe, i));
        found += __builtin_popcount(maybe);
        i = _mm512_add_epi32(i, _mm512_set1_epi32(16));
    }
    return found;
}
#endif

int ld_filter_scan(int32_t *at, const int32_t *ids, int n, const ld_filter *filter)
{
#if LD_HAVE_CLONES
    if (ld_units_in_use() >= LD_UNITS_AVX512)
        return scan_avx512(at, ids, n, filter);
#endif
    return scan_plain(at, ids, n, filter);
}

#include "kernel/bfloat16_tiles.h"

#include <stddef.h>
#include <string.h>

#include "system/simd.h"

/* True for compilers that know the instructions. */
#if LD_HAVE_CLONES && (defined(__clang__) ? __clang_major__ >= 12 : __GNUC__ >= 11)
#include <immintrin.h>

enum { LINES = LD_TILE_LINES, TERMS = LD_TILE_TERMS, PAIR = LD_TILE_PAIR };

#define AVX512_BF16 "arch=x86-64-v4,avx512bf16"
#define AMX         "arch=x86-64-v4,avx512bf16,amx-tile,amx-bf16"

/* Unrolls a loop whose vectors are to stay in registers. */
#define UNROLLED _Pragma("GCC unroll 16")

/* Transposes 16 x 16 pairs: quarters of 4 x 4 pairs each, and then the quarters. */
static inline __attribute__((always_inline, target(AVX512_BF16))) void
transpose(__m512i line[LINES])
{
    __m512i x[LINES];
    UNROLLED
    for (int i = 0; i < LINES; i += 4) {
        __m512i a = _mm512_unpacklo_epi32(line[i], line[i + 1]),
                b = _mm512_unpackhi_epi32(line[i], line[i + 1]),
                c = _mm512_unpacklo_epi32(line[i + 2], line[i + 3]),
                d = _mm512_unpackhi_epi32(line[i + 2], line[i + 3]);
        x[i] = _mm512_unpacklo_epi64(a, c);
        x[i + 1] = _mm512_unpackhi_epi64(a, c);
        x[i + 2] = _mm512_unpacklo_epi64(b, d);
        x[i + 3] = _mm512_unpackhi_epi64(b, d);
    }
    UNROLLED
    for (int i = 0; i < 4; i++) {
        __m512i a = _mm512_shuffle_i32x4(x[i], x[i + 4], 0x88),
                b = _mm512_shuffle_i32x4(x[i], x[i + 4], 0xdd),
                c = _mm512_shuffle_i32x4(x[i + 8], x[i + 12], 0x88),
                d = _mm512_shuffle_i32x4(x[i + 8], x[i + 12], 0xdd);
        line[i] = _mm512_shuffle_i32x4(a, c, 0x88);
        line[i + 4] = _mm512_shuffle_i32x4(b, d, 0x88);
        line[i + 8] = _mm512_shuffle_i32x4(a, c, 0xdd);
        line[i + 12] = _mm512_shuffle_i32x4(b, d, 0xdd);
    }
}

/* Returns a mask of the lowest `count` of 16 lanes; count may be out of range. */
static inline __mmask16 lowest(int count)
{
    return (__mmask16)(count <= 0 ? 0 : count >= LINES ? 0xffff : (1 << count) - 1);
}

static __attribute__((target(AVX512_BF16))) void fill(uint16_t *tile, const ld_tile_source *s)
{
    __m512i line[LINES];
    if (s->terms_together) {
        __mmask16 low = lowest(s->length), high = lowest(s->length - LINES);
        UNROLLED
        for (int i = 0; i < LINES; i++) {
            const float *from = s->from + (i < s->lines ? i * s->stride : 0);
            __mmask16 here = i < s->lines ? 0xffff : 0;
            line[i] = (__m512i)_mm512_cvtne2ps_pbh(_mm512_maskz_loadu_ps(high & here, from + LINES),
                                                   _mm512_maskz_loadu_ps(low & here, from));
        }
    } else {
        const __m512i alternate =
            _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7,
                             22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
        __mmask16 width = lowest(s->length);
        UNROLLED
        for (int i = 0; i < LINES; i++) {
            const float *even = s->from + (2 * i < s->lines ? 2 * i * s->stride : 0);
            const float *odd = s->from + (2 * i + 1 < s->lines ? (2 * i + 1) * s->stride : 0);
            __m512 second = _mm512_maskz_loadu_ps(2 * i + 1 < s->lines ? width : 0, odd);
            __m512 first = _mm512_maskz_loadu_ps(2 * i < s->lines ? width : 0, even);
            line[i] =
                _mm512_permutexvar_epi16(alternate, (__m512i)_mm512_cvtne2ps_pbh(second, first));
        }
    }
    if (s->terms_together == s->right)
        transpose(line);
    UNROLLED
    for (int i = 0; i < LINES; i++)
        _mm512_storeu_si512(tile + i * TERMS, line[i]);
}

/* Sets or adds 16 columns of a row of c. */
static inline __attribute__((always_inline, target(AVX512_BF16))) void
put(float *c, __mmask16 columns, bool accumulate, __m512 sums)
{
    if (accumulate)
        sums = _mm512_add_ps(_mm512_maskz_loadu_ps(columns, c), sums);
    _mm512_mask_storeu_ps(c, columns, sums);
}

static __attribute__((target(AVX512_BF16))) void
multiply_avx512(float *c, int64_t stride, int rows, int cols, bool accumulate, const uint16_t *left,
                const uint16_t *right, int64_t tiles)
{
    for (int top = 0; top < rows; top += LINES, left += tiles * LD_TILE_SIZE) {
        const uint16_t *b = right;
        for (int from = 0; from < cols; from += LINES) {
            const uint16_t *a = left;
            __m512 sums[LINES];
            UNROLLED
            for (int i = 0; i < LINES; i++)
                sums[i] = _mm512_setzero_ps();
            for (int64_t t = 0; t < tiles; t++, a += LD_TILE_SIZE)
                for (int pair = 0; pair < LINES; pair++, b += TERMS) {
                    __m512bh columns = (__m512bh)_mm512_loadu_si512(b);
                    UNROLLED
                    for (int i = 0; i < LINES; i++) {
                        int32_t terms;
                        memcpy(&terms, a + i * TERMS + 2 * pair, sizeof terms);
                        sums[i] =
                            _mm512_dpbf16_ps(sums[i], (__m512bh)_mm512_set1_epi32(terms), columns);
                    }
                }
            UNROLLED
            for (int i = 0; i < LINES; i++)
                if (top + i < rows)
                    put(c + (top + i) * stride + from, lowest(cols - from), accumulate, sums[i]);
        }
    }
}

/* The registers of a square: 0 to 3 are sums, 4 and 5 of the left factor, 6 and 7 of the right. */
static const struct {
    uint8_t palette, start, reserved[14];
    uint16_t line_bytes[16];
    uint8_t lines[16];
} TILES = {1, 0, {0}, {64, 64, 64, 64, 64, 64, 64, 64}, {16, 16, 16, 16, 16, 16, 16, 16}};

static __attribute__((target(AMX))) void multiply_amx(float *c, int64_t stride, int rows, int cols,
                                                      bool accumulate, const uint16_t *left,
                                                      const uint16_t *right, int64_t tiles)
{
    const size_t line = TERMS * sizeof *left, wide = PAIR * sizeof *c;
    const uint16_t *lower = left + tiles * LD_TILE_SIZE, *further = right + tiles * LD_TILE_SIZE;
    float sums[PAIR * PAIR];
    _tile_loadconfig(&TILES);
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (int64_t at = 0; at < tiles * LD_TILE_SIZE; at += LD_TILE_SIZE) {
        _tile_loadd(4, left + at, line);
        _tile_loadd(5, lower + at, line);
        _tile_loadd(6, right + at, line);
        _tile_loadd(7, further + at, line);
        _tile_dpbf16ps(0, 4, 6);
        _tile_dpbf16ps(1, 4, 7);
        _tile_dpbf16ps(2, 5, 6);
        _tile_dpbf16ps(3, 5, 7);
    }
    _tile_stored(0, sums, wide);
    _tile_stored(1, sums + LINES, wide);
    _tile_stored(2, sums + LINES * PAIR, wide);
    _tile_stored(3, sums + LINES * PAIR + LINES, wide);
    _tile_release();
    for (int i = 0; i < rows; i++)
        for (int from = 0; from < cols; from += LINES)
            put(c + i * stride + from, lowest(cols - from), accumulate,
                _mm512_loadu_ps(sums + i * PAIR + from));
}

const ld_tile_units *ld_tile_units_in_use(void)
{
    static const ld_tile_units amx = {"AMX", fill, multiply_amx};
    static const ld_tile_units avx512 = {"AVX512-BF16", fill, multiply_avx512};
    ld_units units = ld_units_in_use();
    if (units < LD_UNITS_AVX512 || !__builtin_cpu_supports("avx512bf16"))
        return NULL;
    return units == LD_UNITS_AMX ? &amx : &avx512;
}
#else
const ld_tile_units *ld_tile_units_in_use(void)
{
    return NULL;
}
#endif

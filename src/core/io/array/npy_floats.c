/* Converts float32 to numbers of 16 bits, as many at a time as a vector holds. */
#include <math.h>
#include <string.h>

#include "io/array/npy_values.h"
#include "system/simd.h"

typedef struct {
    uint16_t *out;
    const float *in;
    bool too_large; /* some number, for float16 */
} halving;

/* Returns the nearest float16, of two the even one. From 2^-14 on the exponent and ten bits of the
 * fraction are where a float has them; a smaller number's bits are the last ones of the sum of 0.5
 * and it. */
static inline uint16_t half_of(float value)
{
    uint32_t bits, sum;
    memcpy(&bits, &value, sizeof bits);
    uint32_t sign = bits >> 16 & 0x8000, size = bits & 0x7fffffff;
    float small = fabsf(value) + 0.5f;
    memcpy(&sum, &small, sizeof sum);
    uint32_t normal = (size + 0xfff + (size >> 13 & 1) - (112u << 23)) >> 13;
    uint32_t finite = size < 0x38800000 ? sum - 0x3f000000 : normal;
    uint32_t large = size > 0x7f800000 ? 0x7e00 : 0x7c00; /* nan or infinite */
    return (uint16_t)(sign | (size >= 0x477ff000 ? large : finite));
}

LD_CLONES(put_halves)
{
    halving *h = ctx;
    const float *in = h->in;
    uint16_t *out = h->out;
    uint32_t too_large = 0;
    for (int64_t i = begin; i < end; i++) {
        float size = fabsf(in[i]);
        out[i] = half_of(in[i]);
        too_large |= (uint32_t)(size >= 65520) & (uint32_t)(size < INFINITY);
    }
    h->too_large |= too_large;
}

ld_status ld_npy_put_floats(void *items, ld_npy_type type, const float *numbers, int64_t begin,
                            int64_t end, int64_t before)
{
    halving h = {.out = items, .in = numbers};
    ld_status st = LD_OK;
    if (type.kind == 'f' && type.size == 2) {
        put_halves(&h, begin, end);
        if (!h.too_large)
            return LD_OK;
    }
    for (int64_t i = begin; i < end && st == LD_OK; i++)
        st = ld_npy_put_number((char *)items + i * type.size, type, before + i, (double)numbers[i]);
    return st;
}

/* Converts numbers of 16 bits, IEEE 754 binary16 and bfloat16, to floats, which hold each of them
 * exactly. */
#ifndef LD_BASE_FLOAT16_H
#define LD_BASE_FLOAT16_H

#include <stdint.h>
#include <string.h>

static inline float ld_float_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Converts IEEE 754 binary16. Its exponent and fraction, shifted to the places where a float has
 * them, are a float that is too small by the factor 2^112, also if the number is subnormal. A
 * result of 2^16 or more is past the largest binary16, so the bits meant infinity or NaN. */
static inline float ld_float_of_float16(uint16_t bits)
{
    float size = ld_float_of_bits((uint32_t)(bits & 0x7fff) << 13) * 0x1p112f;
    uint32_t word;
    memcpy(&word, &size, sizeof word);
    word |= (size >= 0x1p16f ? 0x7f800000u : 0) | (uint32_t)(bits & 0x8000) << 16;
    return ld_float_of_bits(word);
}

/* bfloat16 is the upper half of a float. */
static inline float ld_float_of_bfloat16(uint16_t bits)
{
    return ld_float_of_bits((uint32_t)bits << 16);
}

#endif

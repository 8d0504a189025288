/* A loop for each type, so that the type is not asked for at each number and the compiler can work on
 * several of them at once. */
#include "io/array/npy_numbers.h"

#include <math.h>
#include <string.h>

#define EACH_AS(type)                                                                              \
    for (int64_t i = 0; i < count; i++)                                                            \
    out[i] = ((const type *)items)[i]

static void bools_to_integers(int64_t *out, const uint8_t *items, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        out[i] = items[i] != 0;
}

void ld_npy_to_integers(int64_t *out, ld_npy_type type, const void *items, int64_t count)
{
    bool is_signed = type.kind == 'i';
    if (type.kind == 'b')
        bools_to_integers(out, items, count);
    else if (type.size == 1 && is_signed)
        EACH_AS(int8_t);
    else if (type.size == 1)
        EACH_AS(uint8_t);
    else if (type.size == 2 && is_signed)
        EACH_AS(int16_t);
    else if (type.size == 2)
        EACH_AS(uint16_t);
    else if (type.size == 4 && is_signed)
        EACH_AS(int32_t);
    else if (type.size == 4)
        EACH_AS(uint32_t);
    else
        EACH_AS(int64_t);
}

/* bfloat16 is the upper half of a float32. */
static void bfloats_to_doubles(double *out, const uint16_t *items, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        uint32_t bits = (uint32_t)items[i] << 16;
        float value;
        memcpy(&value, &bits, sizeof value);
        out[i] = value;
    }
}

/* The float16 (IEEE 754 binary16) with these bits. */
static double half(uint16_t bits)
{
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double size = exponent == 0   ? ldexp(fraction, -24)
                  : exponent < 31 ? ldexp(1024 + fraction, exponent - 25)
                  : fraction == 0 ? (double)INFINITY
                                  : (double)NAN;
    return bits & 0x8000 ? -size : size;
}

static void halves_to_doubles(double *out, const uint16_t *items, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        out[i] = half(items[i]);
}

/* Integers become doubles in pieces, as numbers of 64 bits between. */
static void integers_to_doubles(double *out, ld_npy_type type, const char *items, int64_t count)
{
    int64_t whole[256], most = sizeof whole / sizeof *whole;
    for (int64_t done = 0; done < count; done += most) {
        int64_t n = count - done < most ? count - done : most;
        ld_npy_to_integers(whole, type, items + done * type.size, n);
        for (int64_t i = 0; i < n; i++)
            out[done + i] = (double)whole[i];
    }
}

void ld_npy_to_doubles(double *out, ld_npy_type type, const void *items, int64_t count)
{
    if (type.kind == 'B')
        bfloats_to_doubles(out, items, count);
    else if (type.kind == 'f' && type.size == 2)
        halves_to_doubles(out, items, count);
    else if (type.kind == 'f' && type.size == 4)
        EACH_AS(float);
    else if (type.kind == 'f')
        EACH_AS(double);
    else if (type.kind == 'u' && type.size == 8)
        EACH_AS(uint64_t);
    else
        integers_to_doubles(out, type, items, count);
}

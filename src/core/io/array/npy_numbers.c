/* Converts the numbers of .npy files by a loop for each type, so that the type is not looked up for
 * each number and the compiler can work on several numbers at once. */
#include "io/array/npy_numbers.h"

#include "base/float16.h"

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

static void bfloats_to_doubles(double *out, const uint16_t *items, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        out[i] = ld_float_of_bfloat16(items[i]);
}

static void halves_to_doubles(double *out, const uint16_t *items, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        out[i] = ld_float_of_float16(items[i]);
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

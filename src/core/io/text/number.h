/* Parses numbers in text. Parsing stops by itself at a byte that cannot belong to a number, so the
 * text must have such a byte behind it: the end of the line, or a zero. */
#ifndef LD_IO_NUMBER_H
#define LD_IO_NUMBER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Parses a whole number with an optional sign. Returns where it ends, or NULL when there is none at
 * p. A number beyond the range of int64 gives that range's end. */
static inline const char *ld_parse_integer(int64_t *out, const char *p)
{
    uint64_t value = 0;
    int negative = *p == '-';
    p += negative || *p == '+';
    const char *first = p;
    for (unsigned digit; (digit = (unsigned)(unsigned char)*p - '0') < 10; p++) {
        if (value > (uint64_t)(INT64_MAX - 9) / 10) {
            while ((unsigned)(unsigned char)*p - '0' < 10)
                p++;
            *out = negative ? INT64_MIN : INT64_MAX;
            return p;
        }
        value = value * 10 + digit;
    }
    *out = negative ? -(int64_t)value : (int64_t)value;
    return p > first ? p : NULL;
}

/* Parses a whole number without a sign and of 1 to 7 digits, as most ids are, with 8 bytes to be
 * read from p on; returns NULL for any other. It takes all digits at once: the bytes behind the
 * last one are shifted out, then pairs, fours and all eight are added up. */
static inline const char *ld_parse_short(int64_t *out, const char *p)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint64_t digits;
    memcpy(&digits, p, sizeof digits);
    digits ^= 0x3030303030303030;
    uint64_t others = ((digits + 0x7676767676767676) | digits) & 0x8080808080808080; /* no digits */
    if (others == 0 || (others & 0x80))
        return NULL;
    int bits = __builtin_ctzll(others) - 7;
    digits <<= 64 - bits;
    digits = digits * 10 + (digits >> 8);
    *out = (int64_t)(((digits & 0x000000FF000000FF) * 0x000F424000000064 +
                      (digits >> 16 & 0x000000FF000000FF) * 0x0000271000000001) >>
                     32);
    return p + bits / 8;
#else
    (void)out, (void)p;
    return NULL;
#endif
}

/* Parses a decimal number, "-12", "1.5e-3", ".5", rounded correctly to float. Returns where it
 * ends, or NULL when there is none at p. One too large gives an infinity. "inf", "nan" and "0x1"
 * are no numbers. */
const char *ld_parse_float(float *out, const char *p);

#endif

/* Numbers in text. Parsing stops by itself at a byte that cannot belong to a number, so whatever
 * holds the text must have such a byte behind it: the end of the line, or a zero. */
#ifndef LD_IO_NUMBER_H
#define LD_IO_NUMBER_H

#include <stddef.h>
#include <stdint.h>

/* A whole number with an optional sign; where it ends, or NULL when there is none at p. One beyond
 * the range of int64 gives that range's end. */
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

/* A decimal number, "-12", "1.5e-3", ".5", rounded correctly to float; where it ends, or NULL when
 * there is none at p. One too large gives an infinity. "inf", "nan" and "0x1" are no numbers. */
const char *ld_parse_float(float *out, const char *p);

#endif

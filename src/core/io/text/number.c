/* Parses decimal text to a float.
 *
 * The leading 18 digits m and a power of ten give m * 10^e in double precision with an error of a
 * few units in the last of its 53 bits: dropped digits, the conversion of m, the power and the
 * product each add at most one. Rounded to the 24 bits of a float that is the right result, unless
 * the double lies within that error of the midpoint between two floats. Such numbers, one in
 * millions of arbitrary ones, and those at the ends of the range go to strtof. */
#include "io/text/number.h"

#include <float.h>
#include <locale.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    DIGITS = 18,        /* fit int64 */
    POWERS = 64,        /* the table's last: 1e-45 with 19 digits is 10^-64 times an integer */
    FURTHEST = 1 << 30, /* exponents stop counting here, beyond the digits of any line */
    ERROR = 8,          /* a bound on the error, in units of the last bit of a double */
};

static const double powers[2 * POWERS + 1] = {
    1e-64, 1e-63, 1e-62, 1e-61, 1e-60, 1e-59, 1e-58, 1e-57, 1e-56, 1e-55, 1e-54, 1e-53, 1e-52,
    1e-51, 1e-50, 1e-49, 1e-48, 1e-47, 1e-46, 1e-45, 1e-44, 1e-43, 1e-42, 1e-41, 1e-40, 1e-39,
    1e-38, 1e-37, 1e-36, 1e-35, 1e-34, 1e-33, 1e-32, 1e-31, 1e-30, 1e-29, 1e-28, 1e-27, 1e-26,
    1e-25, 1e-24, 1e-23, 1e-22, 1e-21, 1e-20, 1e-19, 1e-18, 1e-17, 1e-16, 1e-15, 1e-14, 1e-13,
    1e-12, 1e-11, 1e-10, 1e-9,  1e-8,  1e-7,  1e-6,  1e-5,  1e-4,  1e-3,  1e-2,  1e-1,  1e0,
    1e1,   1e2,   1e3,   1e4,   1e5,   1e6,   1e7,   1e8,   1e9,   1e10,  1e11,  1e12,  1e13,
    1e14,  1e15,  1e16,  1e17,  1e18,  1e19,  1e20,  1e21,  1e22,  1e23,  1e24,  1e25,  1e26,
    1e27,  1e28,  1e29,  1e30,  1e31,  1e32,  1e33,  1e34,  1e35,  1e36,  1e37,  1e38,  1e39,
    1e40,  1e41,  1e42,  1e43,  1e44,  1e45,  1e46,  1e47,  1e48,  1e49,  1e50,  1e51,  1e52,
    1e53,  1e54,  1e55,  1e56,  1e57,  1e58,  1e59,  1e60,  1e61,  1e62,  1e63,  1e64,
};

static locale_t c_locale;

static void make_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* Parses by the C library, whatever decimal point the user's language has. */
static float slow(const char *p)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_locale);
    locale_t own = c_locale ? uselocale(c_locale) : (locale_t)0;
    float value = strtof(p, NULL);
    if (own)
        uselocale(own);
    return value;
}

/* Returns true if every number within ERROR of d rounds to one and the same normal float. */
static bool rounds_safely(double d)
{
    enum { DROPPED = 29 }; /* bits of a double that a float lacks */
    const uint64_t mask = ((uint64_t)1 << DROPPED) - 1, middle = (uint64_t)1 << (DROPPED - 1);
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    uint64_t low = bits & mask;
    return d >= 2 * (double)FLT_MIN && d < (double)FLT_MAX &&
           (low < middle - ERROR || low > middle + ERROR);
}

static bool is_digit(char c)
{
    return (unsigned)(unsigned char)c - '0' < 10;
}

/* A number's digits as an integer m and a power of ten. */
typedef struct {
    int64_t m;
    int64_t exponent;
} decimal;

/* Takes the digits of a number without sign, and a point within, before or behind them; returns
 * NULL when there are none. With more than DIGITS of them m has no meaning. */
static const char *take_digits(const char *p, decimal *x)
{
    const char *first = p, *point = NULL;
    uint64_t m = 0; /* wraps around when there are too many */
    for (; is_digit(*p); p++)
        m = m * 10 + (unsigned)(*p - '0');
    if (*p == '.')
        for (point = p++; is_digit(*p); p++)
            m = m * 10 + (unsigned)(*p - '0');
    int64_t digits = p - first - (point != NULL);
    *x = (decimal){.m = (int64_t)m, .exponent = point ? point + 1 - p : 0};
    return digits > 0 ? p : NULL;
}

/* Takes any number of digits as take_digits does: leading zeros take no room in m, and digits that
 * do not fit count in the exponent only. */
static const char *take_many_digits(const char *p, decimal *x)
{
    int room = DIGITS;
    bool fraction = false;
    *x = (decimal){0};
    for (; is_digit(*p) || (*p == '.' && !fraction); p++) {
        if (*p == '.') {
            fraction = true;
        } else if (room > 0) {
            x->m = x->m * 10 + (*p - '0');
            room -= x->m != 0;
            x->exponent -= fraction;
        } else {
            x->exponent += !fraction;
        }
    }
    return p;
}

/* Takes an exponent such as "e-12" behind a number; returns NULL when the digits are missing. */
static const char *take_exponent(const char *p, int64_t *exponent)
{
    bool negative = p[1] == '-';
    int64_t e = 0;
    p += 1 + (negative || p[1] == '+');
    if (!is_digit(*p))
        return NULL;
    for (; is_digit(*p); p++)
        e = e < FURTHEST ? e * 10 + (*p - '0') : e;
    *exponent += negative ? -e : e;
    return p;
}

const char *ld_parse_float(float *out, const char *p)
{
    const char *start = p;
    decimal x;
    bool negative = *p == '-';
    p += negative || *p == '+';
    const char *first = p;
    p = take_digits(p, &x);
    if (!p)
        return NULL;
    if (p - first > DIGITS)
        take_many_digits(first, &x);
    if ((*p | 32) == 'e' && !(p = take_exponent(p, &x.exponent)))
        return NULL;
    if (x.m == 0) {
        *out = negative ? -0.0f : 0.0f;
        return p;
    }
    bool in_table = x.exponent >= -POWERS && x.exponent <= POWERS;
    double d = in_table ? (double)x.m * powers[x.exponent + POWERS] : 0;
    if (rounds_safely(d))
        *out = negative ? -(float)d : (float)d;
    else
        *out = slow(start);
    return p;
}

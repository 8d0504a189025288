/* Decimal text to float.
 *
 * The leading 19 digits m and a power of ten give m * 10^e in double precision with an error of a
 * few units in the last of its 53 bits: dropped digits, the conversion of m, the power and the
 * product each add at most one. Rounded to the 24 bits of a float that is the right result, unless
 * the double lies within that error of the midpoint between two floats. Such numbers, one in
 * millions of arbitrary ones, and those at the ends of the range go to strtof. */
#include "io/number.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    DIGITS = 19,        /* fit 64 bits */
    POWERS = 64,        /* the table's last: 1e-45 with 19 digits is 10^-64 times an integer */
    FURTHEST = 1 << 30, /* exponents stop counting here, beyond the digits of any line */
    ERROR = 8,          /* a bound on the error, in units of the last bit of a double */
};

static const double powers[POWERS + 1] = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11, 1e12,
    1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22, 1e23, 1e24, 1e25,
    1e26, 1e27, 1e28, 1e29, 1e30, 1e31, 1e32, 1e33, 1e34, 1e35, 1e36, 1e37, 1e38,
    1e39, 1e40, 1e41, 1e42, 1e43, 1e44, 1e45, 1e46, 1e47, 1e48, 1e49, 1e50, 1e51,
    1e52, 1e53, 1e54, 1e55, 1e56, 1e57, 1e58, 1e59, 1e60, 1e61, 1e62, 1e63, 1e64,
};

static locale_t c_locale;

static void make_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* By the C library, whatever decimal point the user's language has. */
static float slow(const char *p)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_locale);
    return c_locale ? strtof_l(p, NULL, c_locale) : strtof(p, NULL);
}

/* Whether every number within ERROR of d rounds to the same normal float. */
static bool rounds_safely(double d)
{
    enum { DROPPED = 29 }; /* bits of a double that a float has not */
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

/* Digits into m, of which *room more fit; the exponent that those that do not fit stand for is
 * added to *dropped. Leading zeros take no room. */
static const char *take_digits(const char *p, uint64_t *m, int *room, int64_t *dropped)
{
    for (; is_digit(*p); p++) {
        if (*room == 0) {
            ++*dropped;
        } else {
            *m = *m * 10 + (unsigned)(*p - '0');
            *room -= *m != 0;
        }
    }
    return p;
}

/* "e-12" behind a number; NULL when the digits are missing. */
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
    uint64_t m = 0;
    int room = DIGITS;
    int64_t exponent = 0, dropped = 0;
    bool negative = *p == '-';
    p += negative || *p == '+';
    const char *first = p;
    p = take_digits(p, &m, &room, &exponent);
    int64_t digits = p - first;
    if (*p == '.') {
        const char *point = ++p;
        p = take_digits(p, &m, &room, &dropped);
        digits += p - point;
        exponent -= p - point - dropped;
    }
    if (digits == 0)
        return NULL;
    if ((*p == 'e' || *p == 'E') && !(p = take_exponent(p, &exponent)))
        return NULL;
    if (m == 0) {
        *out = negative ? -0.0f : 0.0f;
        return p;
    }
    double d = 0;
    if (exponent >= 0 && exponent <= POWERS)
        d = (double)m * powers[exponent];
    else if (exponent < 0 && -exponent <= POWERS)
        d = (double)m / powers[-exponent];
    if (rounds_safely(d))
        *out = negative ? -(float)d : (float)d;
    else
        *out = slow(start);
    return p;
}

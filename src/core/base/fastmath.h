/* Elementary functions of a float that vectorise inside LD_CLONES loops, where libm's would be
 * called one element at a time. Relative error at most 3e-7; nan, infinities, overflow to infinity
 * and underflow by way of denormals as in libm, without a branch and without a conversion to int
 * that does not fit. */
#ifndef LD_BASE_FASTMATH_H
#define LD_BASE_FASTMATH_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Returns (e^r - 1) / r for |r| < 0.35: the Taylor series of e^r to degree 7, without its first
 * term. */
static inline __attribute__((always_inline)) float ld_exp_series(float r)
{
    float p = 1.0f / 5040.0f;
    p = p * r + 1.0f / 720.0f;
    p = p * r + 1.0f / 120.0f;
    p = p * r + 1.0f / 24.0f;
    p = p * r + 1.0f / 6.0f;
    p = p * r + 0.5f;
    return p * r + 1.0f;
}

/* Returns 2^n for -126 <= n <= 127. */
static inline __attribute__((always_inline)) float ld_power_of_two(int32_t n)
{
    int32_t bits = (n + 127) << 23;
    float power;
    memcpy(&power, &bits, sizeof power);
    return power;
}

/* Returns e^x, and gives the series in r. With n = round(x / ln 2) and r = x - n ln 2, |r| <= ln 2 /
 * 2: 2^n e^r. Subtracting ln 2 in two parts keeps r exact. 2^n is two factors, for it need not be a
 * float itself; only the second product rounds, and only among the denormals. Beyond -104 and 89 all
 * is 0 and infinity; nan, which every comparison sends to -104, is put back at the end. */
static inline __attribute__((always_inline)) float ld_exp_and_series(float x, float *series)
{
    float above = x > -104.0f ? x : -104.0f, clamped = above < 89.0f ? above : 89.0f;
    float rounded = (clamped * 1.44269504f + 12582912.0f) - 12582912.0f; /* to nearest */
    float r = (clamped - rounded * 0.693359375f) + rounded * 2.12194440e-4f;
    *series = ld_exp_series(r);
    float p = *series * r + 1.0f;
    int32_t n = (int32_t)rounded, half = n / 2;
    float y = p * ld_power_of_two(half) * ld_power_of_two(n - half);
    return x == x ? y : x;
}

static inline __attribute__((always_inline)) float ld_expf(float x)
{
    float series;
    return ld_exp_and_series(x, &series);
}

/* Returns e^x - 1 without cancellation near 0, where r is x. */
static inline __attribute__((always_inline)) float ld_expm1f(float x)
{
    float series, far = ld_exp_and_series(x, &series) - 1.0f;
    return fabsf(x) < 0.34f ? series * x : far;
}

/* Returns log(1 + u) for 0 <= u <= 1: 2 artanh(s) = 2 (s + s^3 / 3 + s^5 / 5 + ...) with s = u / (2
 * + u), which is at most 1/3. */
static inline __attribute__((always_inline)) float ld_log1pf(float u)
{
    float s = u / (2.0f + u), q = s * s;
    float p = 1.0f / 15.0f;
    p = p * q + 1.0f / 13.0f;
    p = p * q + 1.0f / 11.0f;
    p = p * q + 1.0f / 9.0f;
    p = p * q + 1.0f / 7.0f;
    p = p * q + 1.0f / 5.0f;
    p = p * q + 1.0f / 3.0f;
    return 2.0f * (s + s * q * p);
}

/* Returns tanh(x) = e / (e + 2) with e = e^(2x) - 1. */
static inline __attribute__((always_inline)) float ld_tanhf(float x)
{
    float above = x > -20.0f ? x : -20.0f, clamped = above < 20.0f ? above : 20.0f;
    float e = ld_expm1f(2.0f * clamped), y = e / (e + 2.0f);
    return x == x ? y : x;
}

#endif

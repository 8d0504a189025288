/* Elementary functions of a float that vectorise inside LD_CLONES loops, where libm's would be called
 * one element at a time. Relative error at most 3e-7; special values as in libm up to the ends of
 * float's range, beyond which results saturate. */
#ifndef LD_BASE_FASTMATH_H
#define LD_BASE_FASTMATH_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* (e^r - 1) / r for |r| < 0.35: the Taylor series of e^r to degree 7, without its first term. */
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

/* e^x. With n = round(x / ln 2) and r = x - n ln 2, |r| <= ln 2 / 2: 2^n e^r. Subtracting
 * ln 2 in two parts keeps r exact. */
static inline __attribute__((always_inline)) float ld_expf(float x)
{
    float clamped = x < -87.3f ? -87.3f : x > 88.3f ? 88.3f : x;
    float n = (clamped * 1.44269504f + 12582912.0f) - 12582912.0f; /* round to nearest */
    float r = (clamped - n * 0.693359375f) + n * 2.12194440e-4f;
    float p = ld_exp_series(r) * r + 1.0f;
    int32_t bits = ((int32_t)n + 127) << 23;
    float scale;
    memcpy(&scale, &bits, sizeof scale);
    return x == x ? p * scale : x;
}

/* e^x - 1 without cancellation near 0. */
static inline __attribute__((always_inline)) float ld_expm1f(float x)
{
    float near = ld_exp_series(x) * x, far = ld_expf(x) - 1.0f;
    return x > -0.34f && x < 0.34f ? near : far;
}

/* tanh(x) = e / (e + 2) with e = e^(2x) - 1. */
static inline __attribute__((always_inline)) float ld_tanhf(float x)
{
    float e = ld_expm1f(2.0f * (x > 20.0f ? 20.0f : x < -20.0f ? -20.0f : x));
    return e / (e + 2.0f);
}

#endif

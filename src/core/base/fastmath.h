/* Elementary functions of a float that vectorise inside LD_CLONES loops, where libm's would be called
 * one element at a time. Relative error at most 2^-22; special values as in libm up to the ends of
 * float's range, beyond which results saturate. */
#ifndef LD_BASE_FASTMATH_H
#define LD_BASE_FASTMATH_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* e^x. With n = round(x / ln 2) and r = x - n ln 2, |r| <= ln 2 / 2: 2^n times a polynomial in r,
 * the Taylor series to degree 7. Subtracting ln 2 in two parts keeps r exact. */
static inline __attribute__((always_inline)) float ld_expf(float x)
{
    float clamped = x < -87.3f ? -87.3f : x > 88.3f ? 88.3f : x;
    float n = (clamped * 1.44269504f + 12582912.0f) - 12582912.0f; /* round to nearest */
    float r = (clamped - n * 0.693359375f) + n * 2.12194440e-4f;
    float p = 1.0f / 5040.0f;
    p = p * r + 1.0f / 720.0f;
    p = p * r + 1.0f / 120.0f;
    p = p * r + 1.0f / 24.0f;
    p = p * r + 1.0f / 6.0f;
    p = p * r + 0.5f;
    p = p * r + 1.0f;
    p = p * r + 1.0f;
    int32_t bits = ((int32_t)n + 127) << 23;
    float scale;
    memcpy(&scale, &bits, sizeof scale);
    return x == x ? p * scale : x;
}

/* e^x - 1 without cancellation near 0: the same series without its first term. */
static inline __attribute__((always_inline)) float ld_expm1f(float x)
{
    float p = 1.0f / 5040.0f;
    p = p * x + 1.0f / 720.0f;
    p = p * x + 1.0f / 120.0f;
    p = p * x + 1.0f / 24.0f;
    p = p * x + 1.0f / 6.0f;
    p = p * x + 0.5f;
    p = p * x + 1.0f;
    float near = p * x, far = ld_expf(x) - 1.0f;
    return x > -0.34f && x < 0.34f ? near : far;
}

/* tanh(x) = e / (e + 2) with e = e^(2x) - 1. */
static inline __attribute__((always_inline)) float ld_tanhf(float x)
{
    float e = ld_expm1f(2.0f * (x > 20.0f ? 20.0f : x < -20.0f ? -20.0f : x));
    return e / (e + 2.0f);
}

#endif

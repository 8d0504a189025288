/* How a thread computes with denormal floats, those below 2^-126: exactly, as threads begin, or as
 * if they were zeros. Exactly takes a processor up to a hundred times as long. */
#ifndef LD_SYSTEM_FLOAT_MODE_H
#define LD_SYSTEM_FLOAT_MODE_H

#include <stdint.h>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

typedef uint64_t ld_float_mode;

/* Returns the mode of the calling thread. */
static inline ld_float_mode ld_float_mode_get(void)
{
#if defined(__SSE2__)
    return _mm_getcsr();
#elif defined(__aarch64__) && defined(__GNUC__)
    ld_float_mode mode;
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    return mode;
#else
    return 0;
#endif
}

static inline void ld_float_mode_set(ld_float_mode mode)
{
#if defined(__SSE2__)
    _mm_setcsr((unsigned)mode);
#elif defined(__aarch64__) && defined(__GNUC__)
    __asm__ volatile("msr fpcr, %0" : : "r"(mode) : "memory");
#else
    (void)mode;
#endif
}

/* Returns the mode with denormal operands and results taken for zeros, where the processor has
 * it. */
static inline ld_float_mode ld_float_mode_flushing(ld_float_mode mode)
{
#if defined(__SSE2__)
    return mode | 0x8040; /* flush to zero, denormals are zeros */
#else
    return mode | 1 << 24; /* FPCR.FZ */
#endif
}

#endif

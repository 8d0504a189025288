/* The question that the loader's choice among the clones asks the processor, asked once more; without
 * clones the answer was given when the library was compiled. */
#include "base/simd.h"

const char *ld_vector_units(void)
{
#if LD_HAVE_CLONES
    if (__builtin_cpu_supports("x86-64-v4"))
        return "AVX-512";
    if (__builtin_cpu_supports("x86-64-v3"))
        return "AVX2";
#endif
#if defined(__AVX512F__)
    return "AVX-512";
#elif defined(__AVX2__)
    return "AVX2";
#elif defined(__SSE2__)
    return "SSE2";
#elif defined(__ARM_NEON)
    return "NEON";
#else
    return "none";
#endif
}

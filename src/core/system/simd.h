/* LD_CLONES(name) { ... } defines the static function of a hot loop, as ld_parallel_for calls it:
 * its arguments are `ctx`, `begin` and `end`. The body is compiled for plain x86-64, AVX2 and
 * AVX-512, and a call runs the one that fits the machine, so one binary runs everywhere and uses
 * what is there. The environment may hold it back: LADIES_ISA=avx2 or LADIES_ISA=sse2. Results are
 * the same bits. */
#ifndef LD_SYSTEM_SIMD_H
#define LD_SYSTEM_SIMD_H

#include <stdint.h>

#include "base/status.h"

/* The vector units that loops are compiled for, and AMX, which multiplies tiles of bfloat16
 * (kernel/bfloat16.h); each has all of those before it. */
typedef enum { LD_UNITS_PLAIN, LD_UNITS_AVX2, LD_UNITS_AVX512, LD_UNITS_AMX } ld_units;

#if defined(__x86_64__) && defined(__GNUC__) && !defined(LD_NO_CLONES)
#define LD_HAVE_CLONES 1
#define LD_CLONES(name)                                                                            \
    static inline __attribute__((always_inline)) void name##_loop(void *, int64_t, int64_t);       \
    static __attribute__((target("arch=x86-64-v4"))) void name##_avx512(void *ctx, int64_t begin,  \
                                                                        int64_t end)               \
    {                                                                                              \
        name##_loop(ctx, begin, end);                                                              \
    }                                                                                              \
    static __attribute__((target("arch=x86-64-v3"))) void name##_avx2(void *ctx, int64_t begin,    \
                                                                      int64_t end)                 \
    {                                                                                              \
        name##_loop(ctx, begin, end);                                                              \
    }                                                                                              \
    static void name(void *ctx, int64_t begin, int64_t end)                                        \
    {                                                                                              \
        ld_units units = ld_units_in_use();                                                        \
        if (units >= LD_UNITS_AVX512)                                                              \
            name##_avx512(ctx, begin, end);                                                        \
        else if (units == LD_UNITS_AVX2)                                                           \
            name##_avx2(ctx, begin, end);                                                          \
        else                                                                                       \
            name##_loop(ctx, begin, end);                                                          \
    }                                                                                              \
    static inline void name##_loop(void *ctx, int64_t begin, int64_t end)
#else
#define LD_HAVE_CLONES  0
#define LD_CLONES(name) static void name(void *ctx, int64_t begin, int64_t end)
#endif

/* Before a function that such a loop calls: it is compiled into the loop, for the same vector units
 * and for the arguments that are constants there. */
#define LD_INLINE inline __attribute__((always_inline))

/* Says of the loop behind it that its iterations do not meet in memory, though its pointers may be
 * equal. */
#if defined(__clang__)
#define LD_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define LD_INDEPENDENT _Pragma("GCC ivdep")
#else
#define LD_INDEPENDENT
#endif

/* Before a loop over the elements of one vector, which gcc would take apart and not put together
 * again. */
#if defined(__GNUC__) && !defined(__clang__)
#define LD_ONE_VECTOR _Pragma("GCC unroll 1")
#else
#define LD_ONE_VECTOR
#endif

/* In an outer loop that counts with this pointer or integer: keeps a compiler from counting its
 * iterations, and so from merging some of them, which would take the inner loop's vectors apart. */
#if defined(__GNUC__)
#define LD_ONE_BY_ONE(counter) __asm__("" : "+r"(counter))
#else
#define LD_ONE_BY_ONE(counter) ((void)0)
#endif

/* Returns the most that the processor has. */
ld_units ld_units_of_machine(void);

/* Finds the units of a name: "amx", "avx512", "avx2" or "sse2", or as ld_vector_units writes it.
 * Fails with LD_VALUE for another name, and for units that the processor, the system or this
 * library lacks. */
ld_status ld_units_named(ld_units *units, const char *name);

/* Returns the units that loops run on: the most that the processor has, or what LADIES_ISA says,
 * when that is less. */
ld_units ld_units_in_use(void);

/* Makes loops run on the units of that name from now on. It fails as ld_units_named does. */
ld_status ld_use_units(const char *name);

/* Fails if LADIES_ISA is set to a value that is an error. */
ld_status ld_check_units(void);

/* Returns the name of the units: "AVX-512" (with AMX too), "AVX2", "SSE2", "NEON", or "none" that
 * this file knows. */
const char *ld_vector_units(void);

#endif

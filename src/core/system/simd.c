/* Finds the vector units that loops run on. The processor is asked once; where loops have no
 * clones, the units were chosen when the library was compiled. */
#include "system/simd.h"

#include <ctype.h>
#include <stdlib.h>

#include "system/platform.h"

#if LD_HAVE_CLONES
#include <cpuid.h>
#endif

/* The units that loops run on, plus 1; 0 before they are first asked for. */
static atomic_int chosen;

#if LD_HAVE_CLONES
/* Returns true if processor and system let this process use AMX. They are asked once. */
static bool has_amx(void)
{
    enum { AMX_BF16 = 22, AMX_TILE = 24, ASKED = 1, HAS = 2 }; /* bits of CPUID's leaf 7, in EDX */
    static atomic_int answer;
    int known = atomic_load_explicit(&answer, memory_order_relaxed);
    unsigned eax, ebx, ecx, edx;
    if (known == 0) {
        bool has = __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && edx >> AMX_BF16 & 1 &&
                   edx >> AMX_TILE & 1 && ld_platform_allow_tiles();
        known = has ? ASKED | HAS : ASKED;
        atomic_store_explicit(&answer, known, memory_order_relaxed);
    }
    return known & HAS;
}
#endif

ld_units ld_units_of_machine(void)
{
#if LD_HAVE_CLONES
    __builtin_cpu_init();
    bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
              __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma");
    bool v4 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
              __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
              __builtin_cpu_supports("avx512vl");
    if (v3)
        return !v4 ? LD_UNITS_AVX2 : has_amx() ? LD_UNITS_AMX : LD_UNITS_AVX512;
#endif
    return LD_UNITS_PLAIN;
}

/* Returns true if two names are equal but for case and hyphens. */
static bool is_name(const char *a, const char *b)
{
    for (;; a++, b++) {
        a += *a == '-';
        b += *b == '-';
        if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
            return false;
        if (!*a)
            return true;
    }
}

ld_status ld_units_named(ld_units *units, const char *name)
{
    static const char *const names[] = {"SSE2", "AVX2", "AVX-512", "AMX"};
    for (int i = 0; i <= LD_UNITS_AMX; i++) {
        if (!is_name(name, names[i]))
            continue;
        if (!LD_HAVE_CLONES || i > (int)ld_units_of_machine())
            return ld_fail(LD_VALUE, "vector units: there is no %s here", names[i]);
        *units = (ld_units)i;
        return LD_OK;
    }
    return ld_fail(LD_VALUE, "vector units: %s is none of amx, avx512, avx2 and sse2", name);
}

/* Returns the name that the environment asks for, or NULL. */
static const char *wanted(void)
{
    const char *name = getenv("LADIES_ISA");
    return name && *name ? name : NULL;
}

ld_units ld_units_in_use(void)
{
    int known = atomic_load_explicit(&chosen, memory_order_relaxed);
    if (known)
        return (ld_units)(known - 1);
    ld_units units = ld_units_of_machine();
    const char *name = wanted();
    if (name)
        ld_units_named(&units, name); /* what is wrong with it is told by ld_check_units */
    atomic_store_explicit(&chosen, (int)units + 1, memory_order_relaxed);
    return units;
}

ld_status ld_use_units(const char *name)
{
    ld_units units;
    LD_CHECK(ld_units_named(&units, name));
    atomic_store_explicit(&chosen, (int)units + 1, memory_order_relaxed);
    return LD_OK;
}

ld_status ld_check_units(void)
{
    ld_units units;
    const char *name = wanted();
    return name ? ld_units_named(&units, name) : LD_OK;
}

const char *ld_vector_units(void)
{
#if LD_HAVE_CLONES
    ld_units units = ld_units_in_use();
    if (units != LD_UNITS_PLAIN)
        return units >= LD_UNITS_AVX512 ? "AVX-512" : "AVX2";
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

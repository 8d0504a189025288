/* LD_CLONES before a hot loop's function compiles it for plain x86-64, AVX2 and AVX-512 and picks
 * one when the program starts, so one binary runs everywhere and uses what the machine has. */
#ifndef LD_BASE_SIMD_H
#define LD_BASE_SIMD_H

/* The sanitizers cannot instrument the resolver that picks a clone. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&                             \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(LD_NO_CLONES)
#define LD_HAVE_CLONES 1
#define LD_CLONES      __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define LD_HAVE_CLONES 0
#define LD_CLONES
#endif

/* The vector units that these functions run on here: "AVX-512", "AVX2", "SSE2", "NEON", or "none"
 * that this file knows. Results are the same bits on all of them. */
const char *ld_vector_units(void);

#endif

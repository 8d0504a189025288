/* What must be done before OpenBLAS is initialised, which comes before main: the program is started
 * once more with another environment.
 *
 * OpenBLAS starts a thread for every processor but one, of which none is ever used here (see
 * tensor/blas.h); each maps 128 MiB, and where a limit on address space (ulimit -v) has no room for
 * that, it asks again for ever. OPENBLAS_NUM_THREADS=1 spares the threads.
 *
 * It chooses its kernels by the processor. Where LADIES_ISA holds our own loops back (base/simd.h),
 * OPENBLAS_CORETYPE does the same for them, unless it is set. */
#include <unistd.h>

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>

#include "base/simd.h"

static const char THREADS[] = "OPENBLAS_NUM_THREADS=", KERNELS[] = "OPENBLAS_CORETYPE=";

enum { MOST = 4096, ADDED = 2 };

/* The value of a variable, whose name ends with its "=", or NULL. (getenv has nothing yet.) */
static const char *value_of(char **environment, const char *name)
{
    size_t length = strlen(name);
    for (char **p = environment; *p; p++)
        if (strncmp(*p, name, length) == 0)
            return *p + length;
    return NULL;
}

static bool wants_one_thread(char **environment)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return false;
    const char *set = value_of(environment, THREADS);
    return !set || strcmp(set, "1") != 0;
}

/* The kernels for processors with no more than LADIES_ISA says, as a setting; NULL for those that
 * OpenBLAS chooses. */
static const char *wanted_kernels(char **environment)
{
    const char *isa = value_of(environment, "LADIES_ISA=");
    ld_units units;
    if (!isa || value_of(environment, KERNELS) || ld_units_named(&units, isa) != LD_OK ||
        units == ld_units_of_machine() || units >= LD_UNITS_AVX512)
        return NULL;
    return units == LD_UNITS_AVX2 ? "OPENBLAS_CORETYPE=Haswell" : "OPENBLAS_CORETYPE=Prescott";
}

static void start_again(int argc, char **argv, char **environment)
{
    const char *threads = wants_one_thread(environment) ? "OPENBLAS_NUM_THREADS=1" : NULL;
    const char *kernels = wanted_kernels(environment);
    char *changed[MOST];
    int n = 0;
    (void)argc;
    if (!threads && !kernels)
        return;
    for (char **p = environment; *p; p++) {
        if (n == MOST - ADDED - 1)
            return; /* an environment of thousands: OpenBLAS may find room anyway */
        if (!threads || strncmp(*p, THREADS, strlen(THREADS)) != 0)
            changed[n++] = *p;
    }
    if (threads)
        changed[n++] = (char *)threads;
    if (kernels)
        changed[n++] = (char *)kernels;
    changed[n] = NULL;
    execve("/proc/self/exe", argv, changed);
}

/* The only place that the loader calls before the constructors of libraries. */
__attribute__((section(".preinit_array"), used)) static void (*const early)(int, char **,
                                                                            char **) = start_again;

#endif

/* Tells OpenBLAS by its environment what it must know before it is initialised, which happens
 * before main: until main begins, one or two variables of the environment are replaced. Neither
 * scripts nor other programs see that, except where the environment has too few variables to
 * replace: then the program is started once more, with one more.
 *
 * OpenBLAS starts a thread for every processor but one, of which none is ever used here
 * (kernel/gemm.h). They spin for 20 ms, each maps 128 MiB, and where a limit on address space
 * (ulimit -v) has no room for that, it asks again for ever. OPENBLAS_NUM_THREADS=1 spares the
 * threads.
 *
 * It chooses its kernels by the processor. Where LADIES_ISA holds our own loops back
 * (system/simd.h), OPENBLAS_CORETYPE holds back its kernels, unless it is set. */
#include <string.h> /* defines __GLIBC__ */

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

#include <stdbool.h>
#include <unistd.h>

#include "system/simd.h"

static const char THREADS[] = "OPENBLAS_NUM_THREADS=1", KERNELS[] = "OPENBLAS_CORETYPE=";

enum { MOST = 2 };

static struct {
    char **at, *was;
} exchanged[MOST];
static int n_exchanged;

static bool is_of(const char *variable, const char *name, size_t length)
{
    return strncmp(variable, name, length) == 0;
}

/* Returns the value of a variable, whose name ends with its "=", or NULL. (getenv has nothing
 * yet.) */
static const char *value_of(char **environment, const char *name)
{
    for (char **p = environment; *p; p++)
        if (is_of(*p, name, strlen(name)))
            return *p + strlen(name);
    return NULL;
}

/* Puts a setting in the place of its variable or, where there is none, of another that is not for
 * OpenBLAS, if there is one. */
static void exchange(char **environment, const char *setting)
{
    char **place = NULL;
    for (char **p = environment; *p; p++) {
        if (is_of(*p, setting, strcspn(setting, "=") + 1)) {
            place = p;
            break;
        }
        if (!is_of(*p, "OPENBLAS_", strlen("OPENBLAS_")))
            place = p;
    }
    if (!place)
        return;
    exchanged[n_exchanged].at = place;
    exchanged[n_exchanged++].was = *place;
    *place = (char *)setting;
}

/* Returns the setting for kernels within what LADIES_ISA allows; NULL where OpenBLAS may choose. */
static const char *wanted_kernels(char **environment)
{
    const char *isa = value_of(environment, "LADIES_ISA=");
    ld_units units;
    if (!isa || value_of(environment, KERNELS) || ld_units_named(&units, isa) != LD_OK ||
        units == ld_units_of_machine() || units >= LD_UNITS_AVX512)
        return NULL;
    return units == LD_UNITS_AVX2 ? "OPENBLAS_CORETYPE=Haswell" : "OPENBLAS_CORETYPE=Prescott";
}

static void before_libraries(int argc, char **argv, char **environment)
{
    const char *kernels = wanted_kernels(environment);
    (void)argc;
    if (!environment[0] || !environment[1]) {
        char *more[] = {(char *)THREADS, environment[0], NULL};
        execve("/proc/self/exe", argv, more);
    }
    exchange(environment, THREADS);
    if (kernels)
        exchange(environment, kernels);
}

/* Makes the loader call before_libraries before the constructors of libraries; it calls nothing
 * else so early. */
__attribute__((section(".preinit_array"),
               used)) static void (*const early)(int, char **, char **) = before_libraries;

/* Exchanges the variables back, the last exchange first. It runs behind the constructors of
 * libraries, before main. */
__attribute__((constructor)) static void after_libraries(void)
{
    while (n_exchanged > 0) {
        n_exchanged--;
        *exchanged[n_exchanged].at = exchanged[n_exchanged].was;
    }
}

#endif

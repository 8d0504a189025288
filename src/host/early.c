/* What must be done before OpenBLAS is initialised, which comes before main.
 *
 * It then starts a thread for every processor but one, of which none is ever used here (see
 * tensor/blas.h); each maps 128 MiB, and where a limit on address space (ulimit -v) has no room for
 * that, it asks again for ever. OPENBLAS_NUM_THREADS=1 spares the threads. The program is started
 * once more with it, where there is such a limit. */
#include <features.h>

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static const char SETTING[] = "OPENBLAS_NUM_THREADS=1";

enum { NAME = 21 /* of SETTING, with its "=" */, MOST = 4096 };

static void spare_threads(int argc, char **argv, char **environment)
{
    char *changed[MOST];
    struct rlimit limit;
    int n = 0;
    (void)argc;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return;
    for (char **p = environment; *p; p++) {
        if (strcmp(*p, SETTING) == 0)
            return;
        if (n == MOST - 2)
            return; /* an environment of thousands: OpenBLAS may find room anyway */
        if (strncmp(*p, SETTING, NAME) != 0)
            changed[n++] = *p;
    }
    changed[n++] = (char *)SETTING;
    changed[n] = NULL;
    execve("/proc/self/exe", argv, changed);
}

/* The only place that the loader calls before the constructors of libraries. */
__attribute__((section(".preinit_array"),
               used)) static void (*const early)(int, char **, char **) = spare_threads;

#endif

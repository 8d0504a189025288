/* Clocks that only go forward. */
#ifndef LD_SYSTEM_CLOCK_H
#define LD_SYSTEM_CLOCK_H

#include <time.h>

/* Seconds since some moment that stays the same while the machine is on. */
static inline double ld_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds for which the calling thread has had a processor. */
static inline double ld_thread_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif

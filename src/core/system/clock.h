/* A clock that only goes forward. */
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

#endif

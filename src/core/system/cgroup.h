/* The part of the machine that Linux leaves this process by its control groups: containers and
 * batch systems bound memory and processors by these, while the rest of the system tells those of
 * the whole machine. Groups are nested; the least limit on the way to the outermost one holds.
 * Versions 1 and 2, also side by side. */
#ifndef LD_SYSTEM_CGROUP_H
#define LD_SYSTEM_CGROUP_H

#include <stdint.h>

typedef struct {
    uint64_t memory;   /* bytes; UINT64_MAX without a limit */
    double quota;      /* processors' worth of time; INFINITY without a limit */
    int64_t n_allowed; /* processors that the groups have; INT64_MAX where they do not say */
} ld_cgroup_limits;

/* Reads the limits below `root`, "" for the system's own files; what cannot be read is no limit. */
ld_cgroup_limits ld_cgroup_read(const char *root);

#endif

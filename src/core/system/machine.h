/* Tells how much of the machine this process has: as much as its control groups and the mask of its
 * processors leave of it, divided by the ranks that are on the host. */
#ifndef LD_SYSTEM_MACHINE_H
#define LD_SYSTEM_MACHINE_H

#include <stddef.h>

/* Says that so many processes, the ranks, divide what there is between them: 1 before. */
void ld_machine_divide(int n_processes);

/* Returns the bytes of memory; SIZE_MAX where they are not known. */
size_t ld_machine_memory(void);

/* Returns the processors that may be busy at a time, at least 1: no more than the system lets this
 * process run on and than its part of the host's. A part of a processor's time counts as one. */
int ld_machine_processors(void);

/* Return the processors of the host, as far as its groups leave them, and this process's part of
 * them, whichever it may run on; at least 1 each. */
int ld_machine_all_processors(void);
int ld_machine_share(void);

#endif

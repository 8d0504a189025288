/* Measures the cost of parallel loops, and estimates it for more threads than there are processors
 * here. While loops are watched, each runs in its caller's thread alone and the processor seconds
 * of every chunk are measured. The estimate then gives the chunks to threads as the pool would:
 * each goes to the thread that is free first. It leaves out that threads share memory and caches,
 * and that it takes time to wake them. */
#ifndef LD_SYSTEM_LOOP_COST_H
#define LD_SYSTEM_LOOP_COST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* The type of functions that work on the items begin .. end-1; they are called from several threads
 * at once. */
typedef void ld_loop_fn(void *ctx, int64_t begin, int64_t end);

enum { LD_LOOP_WIDTHS = 5 };

/* The numbers of threads for which costs are estimated: 2, 8, 16, 32 and 64. */
extern const int ld_loop_widths[LD_LOOP_WIDTHS];

/* The loops whose function has one name. */
typedef struct {
    const char *name;
    int64_t calls, chunks;
    double seconds;                /* of one thread */
    double within[LD_LOOP_WIDTHS]; /* seconds with so many threads */
} ld_loop_cost;

/* Begins to watch the loops of all threads but workers, with nothing known of them, or ends it. */
void ld_loops_watch(bool on);

bool ld_loops_are_watched(void);

/* Returns what was seen since ld_loops_watch(true), a name each, of which there are *n; *watching
 * gets the seconds that were spent in loops and in watching them. Valid until watching begins. */
const ld_loop_cost *ld_loops_seen(int *n, double *watching);

/* Runs a loop, as ld_parallel_for does with one thread, and adds what it costs. One loop at a
 * time. */
ld_status ld_loops_run(const char *name, int64_t n, int64_t grain, ld_loop_fn *fn, void *ctx);

#endif

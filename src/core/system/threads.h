/* The one pool of threads that runs the parallel loops of core. */
#ifndef LD_SYSTEM_THREADS_H
#define LD_SYSTEM_THREADS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "base/status.h"
#include "system/loop_cost.h"

/* Runs fn over 0 .. n-1 in chunks of `grain` items (the last may be shorter). Chunks depend on n
 * and grain alone, never on the number of threads, so a loop whose chunks write to separate places
 * gives the same bits with any number of threads. The cancel flag is polled before each chunk:
 * LD_CANCELLED means that some chunks did not run. A loop that starts while another runs (in
 * another thread, or nested) runs in its caller's thread alone, as one of a worker does. */
#define ld_parallel_for(n, grain, fn, ctx) ld_run_loop(#fn, n, grain, fn, ctx)

/* Does so for a loop that is called `name` where loops are watched (system/loop_cost.h). */
ld_status ld_run_loop(const char *name, int64_t n, int64_t grain, ld_loop_fn *fn, void *ctx);

/* The first failure among the chunks of a loop. Messages are each thread's own, so this one goes
 * from the thread where it happened to the one that called. It begins as zeros. */
typedef struct {
    atomic_int status;
    char message[256];
} ld_loop_failure;

/* Keeps, in a chunk, the status and this thread's message, if it is the first that is not LD_OK. */
void ld_loop_note(ld_loop_failure *f, ld_status st);

/* Returns, behind the loop, the status that was kept, with its message, or else the loop's own. */
ld_status ld_loop_result(const ld_loop_failure *f, ld_status loop);

/* Makes *least the least of what it is and the x that several chunks give. */
static inline void ld_note_least(_Atomic int64_t *least, int64_t x)
{
    for (int64_t known = *least; x < known && !atomic_compare_exchange_weak(least, &known, x);)
        continue;
}

/* Sets the number of threads (1 .. 256) for later loops; the default is ld_machine_processors.
 * Where the system grants fewer, loops run with those. LD_VALUE when out of range. */
ld_status ld_set_threads(int64_t n);

/* Returns the number of threads that loops are to have. */
int ld_threads(void);

/* Takes a flag that one thread at a time may hold, around work that is done once for all: a second
 * thread waits. Fails with LD_CANCELLED when the cancel flag is raised meanwhile. */
ld_status ld_hold(atomic_bool *held);

/* Gives it back. */
void ld_unhold(atomic_bool *held);

/* Starts a thread that blocks all signals but SIGBUS and SIGSEGV: any other handler runs in a
 * thread of the program's own. False when the system grants no thread. */
bool ld_thread_start(pthread_t *thread, void *(*run)(void *), void *arg);

#endif

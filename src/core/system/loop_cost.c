#include "system/loop_cost.h"

#include <stdatomic.h>
#include <string.h>

#include "system/clock.h"

enum { MOST_LOOPS = 256, MOST_THREADS = 64 };

const int ld_loop_widths[LD_LOOP_WIDTHS] = {2, 8, 16, 32, MOST_THREADS};

static struct {
    atomic_bool on;
    int n;
    double watching;
    ld_loop_cost loop[MOST_LOOPS];
} watch;

/* When each of some threads will be free, from the beginning of a loop on. */
typedef struct {
    double free_at[LD_LOOP_WIDTHS][MOST_THREADS];
} plan;

void ld_loops_watch(bool on)
{
    if (on) {
        watch.n = 0;
        watch.watching = 0;
    }
    atomic_store(&watch.on, on);
}

bool ld_loops_are_watched(void)
{
    return atomic_load_explicit(&watch.on, memory_order_relaxed);
}

const ld_loop_cost *ld_loops_seen(int *n, double *watching)
{
    *n = watch.n;
    *watching = watch.watching;
    return watch.loop;
}

/* Returns the entry of a loop's name; loops for which there is no room share the last entry. */
static ld_loop_cost *loop_of(const char *name)
{
    for (int i = 0; i < watch.n; i++)
        if (strcmp(watch.loop[i].name, name) == 0)
            return &watch.loop[i];
    if (watch.n == MOST_LOOPS)
        return &watch.loop[MOST_LOOPS - 1];
    watch.loop[watch.n] = (ld_loop_cost){.name = name};
    return &watch.loop[watch.n++];
}

/* Gives a chunk to the thread that is free first. */
static void give(double *free_at, int threads, double seconds)
{
    int first = 0;
    for (int t = 1; t < threads; t++)
        if (free_at[t] < free_at[first])
            first = t;
    free_at[first] += seconds;
}

/* Returns when the last thread is done. */
static double end_of(const double *free_at, int threads)
{
    double end = 0;
    for (int t = 0; t < threads; t++)
        end = free_at[t] > end ? free_at[t] : end;
    return end;
}

ld_status ld_loops_run(const char *name, int64_t n, int64_t grain, ld_loop_fn *fn, void *ctx)
{
    plan p = {{{0}}};
    ld_loop_cost *loop = loop_of(name);
    double began = ld_thread_clock();
    for (int64_t begin = 0; begin < n; begin += grain) {
        LD_CHECK(ld_poll());
        double chunk_began = ld_thread_clock();
        fn(ctx, begin, n - begin < grain ? n : begin + grain);
        double seconds = ld_thread_clock() - chunk_began;
        loop->seconds += seconds;
        loop->chunks++;
        for (int w = 0; w < LD_LOOP_WIDTHS; w++)
            give(p.free_at[w], ld_loop_widths[w], seconds);
    }
    for (int w = 0; w < LD_LOOP_WIDTHS; w++)
        loop->within[w] += end_of(p.free_at[w], ld_loop_widths[w]);
    loop->calls++;
    watch.watching += ld_thread_clock() - began;
    return LD_OK;
}

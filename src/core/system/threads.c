/* The pool of threads. For a loop the caller publishes a job, takes chunks itself from an atomic
 * counter together with those of the pool's threads that come, shuts the gate when there are none
 * left, and waits until all who are inside have left. Helpers that wake up too late, as on a busy
 * machine they may, find the gate shut: nobody waits for them. Helpers spin for some microseconds
 * before they sleep, since the loops of a training step follow each other closely. No more of them
 * are woken than there are chunks to take and processors to run on. */
#include "system/threads.h"

#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>

#include "system/float_mode.h"
#include "system/machine.h"
#include "text/decimal_point.h"

#if defined(__x86_64__)
#define pause_cpu() __builtin_ia32_pause()
#else
#define pause_cpu() ((void)0)
#endif

enum { MAX_THREADS = 256, SPINS = 4000 };
enum { OPEN = 1 << 16 }; /* in the gate, above the number of helpers inside */

static struct {
    pthread_mutex_t owner; /* held by the thread whose loop runs */
    pthread_mutex_t lock;  /* guards sleeping and waking */
    pthread_cond_t wake;
    pthread_t thread[MAX_THREADS];
    int started;            /* helper threads that exist */
    int useful;             /* those that processors are there for, at least 1 */
    int wanted;             /* threads in all, the caller included; 0 = not yet asked */
    atomic_int sleeping;    /* helpers that wait on `wake` */
    atomic_uint generation; /* counts jobs; a change wakes the helpers */
    atomic_int gate;        /* OPEN, while helpers may enter, + the helpers inside */
    atomic_bool stop;
    /* the current job; only those inside may look */
    ld_loop_fn *fn;
    void *ctx;
    int64_t n, grain;
    ld_float_mode mode; /* the caller's */
    atomic_llong next;
    atomic_bool cancelled;
} pool = {.owner = PTHREAD_MUTEX_INITIALIZER,
          .lock = PTHREAD_MUTEX_INITIALIZER,
          .wake = PTHREAD_COND_INITIALIZER};

static int processors(void)
{
    int n = ld_machine_processors();
    return n > MAX_THREADS ? MAX_THREADS : n;
}

static void run_chunks(void)
{
    for (;;) {
        int64_t begin = atomic_fetch_add(&pool.next, 1) * pool.grain;
        if (begin >= pool.n)
            return;
        if (ld_cancelled()) {
            atomic_store(&pool.cancelled, true);
            return;
        }
        int64_t end = pool.n - begin < pool.grain ? pool.n : begin + pool.grain;
        pool.fn(pool.ctx, begin, end);
    }
}

static void wait_for_job(unsigned seen)
{
    for (int i = 0; i < SPINS; i++) {
        if (atomic_load(&pool.generation) != seen)
            return;
        pause_cpu();
    }
    pthread_mutex_lock(&pool.lock);
    atomic_fetch_add(&pool.sleeping, 1);
    while (atomic_load(&pool.generation) == seen)
        pthread_cond_wait(&pool.wake, &pool.lock);
    atomic_fetch_sub(&pool.sleeping, 1);
    pthread_mutex_unlock(&pool.lock);
}

static bool enter(void)
{
    int gate = atomic_load(&pool.gate);
    while (gate & OPEN)
        if (atomic_compare_exchange_weak(&pool.gate, &gate, gate + 1))
            return true;
    return false;
}

static void *helper(void *start)
{
    unsigned seen = (unsigned)(uintptr_t)start;
    ld_decimal_point_only();
    for (;;) {
        wait_for_job(seen);
        seen = atomic_load(&pool.generation);
        if (atomic_load(&pool.stop))
            return NULL;
        if (enter()) {
            ld_float_mode_set(pool.mode);
            run_chunks();
            atomic_fetch_sub(&pool.gate, 1);
        }
    }
}

/* Tells of a job that `wanted` helpers may share. Those that spin come by themselves, so only as
 * many sleepers are woken as are missing. */
static void announce(int64_t wanted)
{
    atomic_fetch_add(&pool.generation, 1);
    int64_t missing = wanted - (pool.started - atomic_load(&pool.sleeping));
    if (missing > 0) {
        pthread_mutex_lock(&pool.lock);
        for (; missing > 0; missing--)
            pthread_cond_signal(&pool.wake);
        pthread_mutex_unlock(&pool.lock);
    }
}

static void stop_helpers(void)
{
    if (pool.started == 0)
        return;
    atomic_store(&pool.stop, true);
    announce(pool.started);
    for (int i = 0; i < pool.started; i++)
        pthread_join(pool.thread[i], NULL);
    pool.started = 0;
    atomic_store(&pool.stop, false);
}

bool ld_thread_start(pthread_t *thread, void *(*run)(void *), void *arg)
{
    sigset_t most, before;
    sigfillset(&most);
    sigdelset(&most,
              SIGBUS); /* of a page that is gone from a mapped file: the thread's own fault */
    sigdelset(&most, SIGSEGV); /* likewise, of what another program wrote to one */
    pthread_sigmask(SIG_SETMASK, &most, &before);
    bool started = pthread_create(thread, NULL, run, arg) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

void ld_loop_note(ld_loop_failure *f, ld_status st)
{
    static atomic_flag writing = ATOMIC_FLAG_INIT;
    if (st == LD_OK || atomic_load(&f->status) != LD_OK)
        return;
    while (atomic_flag_test_and_set(&writing))
        pause_cpu();
    if (atomic_load(&f->status) == LD_OK) {
        snprintf(f->message, sizeof f->message, "%s", ld_message());
        atomic_store(&f->status, (int)st);
    }
    atomic_flag_clear(&writing);
}

ld_status ld_loop_result(const ld_loop_failure *f, ld_status loop)
{
    ld_status st = (ld_status)atomic_load(&f->status);
    return st == LD_OK ? loop : ld_fail(st, "%s", f->message);
}

ld_status ld_hold(atomic_bool *held)
{
    const struct timespec moment = {.tv_nsec = 200000}; /* what is waited for takes far longer */
    while (atomic_exchange(held, true)) {
        LD_CHECK(ld_poll());
        nanosleep(&moment, NULL);
    }
    return LD_OK;
}

void ld_unhold(atomic_bool *held)
{
    atomic_store(held, false);
}

/* Starts the helpers. When the system grants fewer threads than wanted, the loops run with
 * those. */
static void start_helpers(void)
{
    uintptr_t seen = atomic_load(&pool.generation);
    while (pool.started < pool.wanted - 1 &&
           ld_thread_start(&pool.thread[pool.started], helper, (void *)seen))
        pool.started++;
    int n = processors();
    pool.useful = n > 1 ? n - 1 : 1;
}

/* Returns how many helpers a loop of so many chunks can use. */
static int64_t helpers_for(int64_t chunks)
{
    int useful = pool.started < pool.useful ? pool.started : pool.useful;
    return chunks - 1 < useful ? chunks - 1 : useful;
}

static ld_status run_alone(int64_t n, int64_t grain, ld_loop_fn *fn, void *ctx)
{
    for (int64_t begin = 0; begin < n; begin += grain) {
        if (ld_cancelled())
            return ld_poll();
        fn(ctx, begin, n - begin < grain ? n : begin + grain);
    }
    return LD_OK;
}

ld_status ld_run_loop(const char *name, int64_t n, int64_t grain, ld_loop_fn *fn, void *ctx)
{
    bool watched = ld_loops_are_watched();
    if ((n <= grain && !watched) || ld_in_worker() || pthread_mutex_trylock(&pool.owner) != 0)
        return run_alone(n, grain, fn, ctx);
    if (pool.wanted == 0)
        pool.wanted = processors();
    if (pool.started < pool.wanted - 1)
        start_helpers();
    ld_status st = LD_OK;
    if (watched) {
        st = ld_loops_run(name, n, grain, fn, ctx);
    } else if (pool.started == 0) {
        st = run_alone(n, grain, fn, ctx);
    } else {
        pool.fn = fn;
        pool.ctx = ctx;
        pool.n = n;
        pool.grain = grain;
        pool.mode = ld_float_mode_get();
        atomic_store(&pool.next, 0);
        atomic_store(&pool.cancelled, false);
        atomic_store(&pool.gate, OPEN);
        announce(helpers_for((n - 1) / grain + 1));
        run_chunks();
        atomic_fetch_and(&pool.gate, ~OPEN);
        for (int spins = 0; atomic_load(&pool.gate) > 0; spins++) {
            if (spins < SPINS)
                pause_cpu();
            else
                sched_yield(); /* more threads than processors: let the helpers run */
        }
        if (atomic_load(&pool.cancelled))
            st = ld_fail(LD_CANCELLED, "interrupted");
    }
    pthread_mutex_unlock(&pool.owner);
    return st;
}

ld_status ld_set_threads(int64_t n)
{
    if (n < 1 || n > MAX_THREADS)
        return ld_fail(LD_VALUE, "threads must be 1 to %d, got %" PRId64, MAX_THREADS, n);
    pthread_mutex_lock(&pool.owner);
    stop_helpers();
    pool.wanted = (int)n;
    pthread_mutex_unlock(&pool.owner);
    return LD_OK;
}

int ld_threads(void)
{
    pthread_mutex_lock(&pool.owner);
    int n = pool.wanted ? pool.wanted : processors();
    pthread_mutex_unlock(&pool.owner);
    return n;
}

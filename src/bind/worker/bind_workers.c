/* Workers: threads that compute job(first), job(first + 1), ..., job(last) ahead of the one that
 * takes the results, which come in this order.
 *
 * Each worker has a Lua state of its own, made when it gets its first number. Numbers are claimed
 * in order, and at most `ahead` results exist that have not been taken: result n lies in slot n %
 * ahead. Job and results cross as parcels, so no state is ever used by two threads. No thread
 * outlives the Workers: closing them stops all threads, in C loops by the flag that core polls, in
 * Lua by a hook, and waits for them. */
#include <pthread.h>
#include <time.h>

#include "memory/memory.h"
#include "system/threads.h"
#include "worker/worker.h"

#define BIND_WORKERS "ladies.Workers"

enum {
    MOST_WORKERS = 256,
    MOST_AHEAD = 4096,
    WAIT_NS = 20000000, /* the owner, while it waits, looks this often whether it is cancelled */
};

typedef struct {
    bind_parcel *value; /* the result or the error; NULL where there was no memory even for that */
    bool ready, failed;
} slot;

typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t room, ready;
    atomic_int stop;
    bind_job job;
    uint64_t next, wanted, last; /* to be claimed; to be taken; both get past any lua_Integer */
    int ahead, n_threads;
    slot *slots;
    pthread_t *threads;
} crew;

static atomic_int n_crews;

/* --- in the worker's thread ------------------------------------------------------------------- */

/* Claims the next number once there is room for its result. Returns false when there is nothing
 * more to do. */
static bool claim(crew *c, lua_Integer *number)
{
    pthread_mutex_lock(&c->lock);
    while (!atomic_load(&c->stop) && c->next <= c->last && c->next >= c->wanted + c->ahead)
        pthread_cond_wait(&c->room, &c->lock);
    bool any = !atomic_load(&c->stop) && c->next <= c->last;
    *number = any ? (lua_Integer)c->next++ : 0;
    pthread_mutex_unlock(&c->lock);
    return any;
}

static void deliver(crew *c, lua_Integer number, slot result)
{
    pthread_mutex_lock(&c->lock);
    c->slots[number % c->ahead] = result;
    pthread_cond_signal(&c->ready);
    pthread_mutex_unlock(&c->lock);
}

static void *work(void *given)
{
    crew *c = given;
    lua_State *L = NULL;
    lua_Integer number;
    ld_become_worker(&c->stop);
    while (claim(c, &number)) {
        slot result = {NULL, true, true};
        if (L || (L = bind_job_state(&c->job)))
            result.value = bind_job_run(L, &c->job, number, &result.failed);
        deliver(c, number, result);
    }
    if (L)
        lua_close(L);
    return NULL;
}

/* --- the owner -------------------------------------------------------------------------------- */

static void stop(crew *c)
{
    pthread_mutex_lock(&c->lock);
    atomic_store(&c->stop, 1);
    pthread_cond_broadcast(&c->room);
    pthread_mutex_unlock(&c->lock);
    for (int i = 0; i < c->n_threads; i++)
        pthread_join(c->threads[i], NULL);
}

static void crew_free(void *given)
{
    crew *c = given;
    stop(c);
    for (int i = 0; c->slots && i < c->ahead; i++)
        bind_parcel_free(c->slots[i].value);
    bind_job_free(&c->job);
    ld_free(c->slots);
    ld_free(c->threads);
    pthread_cond_destroy(&c->room);
    pthread_cond_destroy(&c->ready);
    pthread_mutex_destroy(&c->lock);
    ld_free(c);
    atomic_fetch_sub(&n_crews, 1);
}

static crew *crew_new(void)
{
    crew *c = ld_calloc_array(1, sizeof *c, LD_MEM_SCRATCH);
    if (!c)
        return NULL;
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->room, NULL);
    pthread_cond_init(&c->ready, &monotonic);
    pthread_condattr_destroy(&monotonic);
    atomic_init(&c->stop, 0);
    atomic_fetch_add(&n_crews, 1);
    return c;
}

/* Takes the next result; LD_CANCELLED when Ctrl-C came first. */
static ld_status take(crew *c, slot *out)
{
    ld_status st = LD_OK;
    pthread_mutex_lock(&c->lock);
    slot *s = &c->slots[c->wanted % c->ahead];
    while (!s->ready && (st = ld_poll()) == LD_OK) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += WAIT_NS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&c->ready, &c->lock, &until);
    }
    if (st == LD_OK) {
        *out = *s;
        *s = (slot){NULL, false, false};
        c->wanted++;
        pthread_cond_signal(&c->room);
    }
    pthread_mutex_unlock(&c->lock);
    return st;
}

static ld_status workers_next(bind_call *c)
{
    lua_State *L = c->L;
    crew *workers = c->in[0].object;
    if (workers->wanted > workers->last) {
        c->n_pushed = 0;
        return LD_OK;
    }
    bind_parcel **p = bind_new_parcel(L);
    slot result = {NULL, false, false};
    bind_check(L, take(workers, &result));
    *p = result.value;
    if (!*p)
        return ld_fail(LD_NOMEM, "out of memory in a worker");
    bind_unpack(L, *p);
    bind_parcel_free(*p); /* at once: it may hold much */
    *p = NULL;
    if (result.failed)
        lua_error(L);
    return LD_OK;
}

static void workers_describe(lua_State *L, const void *object)
{
    lua_pushfstring(L, "Workers, %d threads", ((const crew *)object)->n_threads);
}

/* Returns the option in[i], which must be from `least` to `most`. */
static lua_Integer within(const bind_call *c, int i, const char *name, lua_Integer least,
                          lua_Integer most)
{
    lua_Integer n = c->in[i].integer;
    if (n < least || n > most)
        bind_error(c->L, "workers: %s must be an integer %I to %I, got %I", name,
                   (LUAI_UACINT)least, (LUAI_UACINT)most, (LUAI_UACINT)n);
    return n;
}

static ld_status workers_new(bind_call *c)
{
    lua_State *L = c->L;
    bind_check_type(L, 1, LUA_TFUNCTION);
    int n = (int)within(c, 3, "threads", 1, MOST_WORKERS);
    lua_Integer first = within(c, 4, "first", 0, LUA_MAXINTEGER);
    lua_Integer last = within(c, 5, "last", 0, LUA_MAXINTEGER);
    int ahead = (int)within(c, 6, "ahead", 1, MOST_AHEAD);
    lua_settop(L, 2);
    if (atomic_load(&n_crews) > 0) { /* forgotten ones end here at the latest */
        lua_gc(L, LUA_GCCOLLECT);
        bind_settle(L);
    }
    void **place = bind_new_object(L, BIND_WORKERS);
    crew *made = *place = crew_new();
    if (!made || !(made->slots = ld_calloc_array(ahead, sizeof *made->slots, LD_MEM_SCRATCH)) ||
        !(made->threads = ld_calloc_array(n, sizeof *made->threads, LD_MEM_SCRATCH)))
        return LD_NOMEM;
    made->ahead = ahead;
    made->next = made->wanted = (uint64_t)first;
    made->last = (uint64_t)last;
    bind_job_pack(L, &made->job, 1);
    while (made->n_threads < n && ld_thread_start(&made->threads[made->n_threads], work, made))
        made->n_threads++;
    return made->n_threads > 0 ? LD_OK : ld_fail(LD_STATE, "workers: the system grants no thread");
}

static const bind_function functions[] = {
    {"workers", workers_new,
     "ladies_core.workers(make, argument, {threads = integer, first = integer,\n"
     "  last = integer, ahead = integer}) -> Workers\n"
     "Computes job(n) for n = first .. last, where job = make(argument), in threads with Lua states\n"
     "of their own; at most `ahead` results wait to be taken. make and argument cross into them: see\n"
     "ladies.batches."},
    {NULL, NULL, NULL},
};

static const bind_function methods[] = {
    {"next", workers_next,
     "workers:next() -> value\n"
     "The result for the next number, waited for; nothing after the last. An error of the job is\n"
     "raised here."},
    {"close", NULL, "workers:close()\nStops the threads and waits until they have ended.",
     .raw = bind_close},
    {NULL, NULL, NULL},
};

static const bind_class class = {
    .name = BIND_WORKERS,
    .drop = crew_free,
    .closes = true,
    .methods = methods,
    .describe = workers_describe,
};

static const bind_subject subject = {.classes = {&class}, .functions = {{functions}}};

void bind_open_workers(lua_State *L, lua_CFunction module)
{
    bind_job_open_with(L, module);
    bind_add(L, &subject);
}

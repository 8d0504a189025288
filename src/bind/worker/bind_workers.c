/* Workers: threads that compute job(first), job(first + 1), ..., job(last) ahead of the one that
 * takes the results, which come in this order.
 *
 * Each worker has a Lua state of its own, made when it gets its first number. Numbers are claimed in
 * order, and at most `ahead` results exist that have not been taken: result n lies in slot n % ahead.
 * Job and results cross as parcels, so no state is ever used by two threads. Nothing runs unless the
 * owner has it: closing the Workers stops all threads, in C loops by the flag that core polls, in Lua
 * by a hook, and waits for them. */
#include <pthread.h>
#include <time.h>

#include "base/memory.h"
#include "base/threads.h"
#include "worker/worker.h"

#define BIND_WORKERS "ladies.Workers"

enum {
    MOST_WORKERS = 256,
    MOST_AHEAD = 4096,
    WAIT_NS = 20000000, /* between two looks of the owner, who waits, at its own */
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
    lua_Integer next, wanted, last; /* to be claimed; to be taken */
    int ahead, n_threads;
    slot *slots;
    pthread_t *threads;
} crew;

static atomic_int n_crews;

/* --- in the worker's thread -------------------------------------------------------------------- */

/* Waits for room; false when there is nothing more to do. */
static bool claim(crew *c, lua_Integer *number)
{
    pthread_mutex_lock(&c->lock);
    while (!atomic_load(&c->stop) && c->next <= c->last && c->next >= c->wanted + c->ahead)
        pthread_cond_wait(&c->room, &c->lock);
    bool any = !atomic_load(&c->stop) && c->next <= c->last;
    *number = any ? c->next++ : 0;
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
        if (L || (L = bind_job_state()))
            result.value = bind_job_run(L, &c->job, number, &result.failed);
        deliver(c, number, result);
    }
    if (L)
        lua_close(L);
    return NULL;
}

/* --- the owner --------------------------------------------------------------------------------- */

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

static int workers_next(lua_State *L)
{
    crew *c = bind_object(L, 1, BIND_WORKERS);
    if (c->wanted > c->last)
        return 0;
    bind_parcel **p = bind_new_parcel(L);
    slot result = {NULL, false, false};
    bind_check(L, take(c, &result));
    *p = result.value;
    if (!*p)
        return bind_error(L, "out of memory in a worker");
    bind_unpack(L, *p);
    bind_parcel_free(*p); /* at once: it may hold much */
    *p = NULL;
    return result.failed ? lua_error(L) : 1;
}

static int workers_close(lua_State *L)
{
    bind_drop(L, bind_check_userdata(L, 1, BIND_WORKERS), crew_free);
    return 0;
}

static int workers_tostring(lua_State *L)
{
    if (bind_push_closed(L, 1, BIND_WORKERS))
        return 1;
    const crew *c = bind_object(L, 1, BIND_WORKERS);
    lua_pushfstring(L, "Workers, %d threads", c->n_threads);
    return 1;
}

static int workers_get(lua_State *L)
{
    return bind_no_field(L, BIND_WORKERS);
}

static lua_Integer integer_option(lua_State *L, const char *name, lua_Integer least,
                                  lua_Integer most)
{
    int whole;
    bind_option(L, 3, name);
    lua_Integer n = lua_tointegerx(L, -1, &whole);
    if (!whole || n < least || n > most)
        bind_error(L, "workers: %s must be an integer %I to %I, got %s", name, (LUAI_UACINT)least,
                   (LUAI_UACINT)most, bind_show(L, -1));
    lua_pop(L, 1);
    return n;
}

static int workers_new(lua_State *L)
{
    static const char *const names[] = {"threads", "first", "last", "ahead", NULL};
    bind_check_type(L, 1, LUA_TFUNCTION);
    bind_check_any(L, 2);
    bind_check_options(L, 3, "workers", names);
    lua_Integer first = integer_option(L, "first", 0, LUA_MAXINTEGER);
    lua_Integer last = integer_option(L, "last", 0, LUA_MAXINTEGER);
    int ahead = (int)integer_option(L, "ahead", 1, MOST_AHEAD);
    int n = (int)integer_option(L, "threads", 1, MOST_WORKERS);
    lua_settop(L, 2);
    if (atomic_load(&n_crews) > 0) { /* forgotten ones end here at the latest */
        lua_gc(L, LUA_GCCOLLECT);
        bind_settle(L);
    }
    crew **place = lua_newuserdatauv(L, sizeof(crew *), 0);
    *place = NULL;
    luaL_setmetatable(L, BIND_WORKERS);
    crew *c = *place = crew_new();
    if (!c || !(c->slots = ld_calloc_array(ahead, sizeof *c->slots, LD_MEM_SCRATCH)) ||
        !(c->threads = ld_calloc_array(n, sizeof *c->threads, LD_MEM_SCRATCH)))
        return bind_error(L, "%s", ld_message());
    c->ahead = ahead;
    c->next = c->wanted = first;
    c->last = last;
    bind_job_pack(L, &c->job, 1);
    while (c->n_threads < n && ld_thread_start(&c->threads[c->n_threads], work, c))
        c->n_threads++;
    if (c->n_threads == 0)
        return bind_error(L, "workers: the system grants no thread");
    return 1;
}

static const bind_function functions[] = {
    {"workers", workers_new,
     "ladies_core.workers(make, argument, {threads=, first=, last=, ahead=}) -> Workers\n"
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
    {"close", workers_close, "workers:close()\nStops the threads and waits until they have ended."},
    {NULL, NULL, NULL},
};

void bind_open_workers(lua_State *L, lua_CFunction module)
{
    static const luaL_Reg meta[] = {
        {"__close", workers_close},
        {"__gc", workers_close},
        {"__tostring", workers_tostring},
        {NULL, NULL},
    };
    static const char *const properties[] = {NULL};
    bind_open_parcels(L);
    bind_job_open_with(L, module);
    bind_class(L, BIND_WORKERS, methods, meta, properties, workers_get);
    bind_functions(L, functions);
}

/* Workers: threads that compute job(first), job(first + 1), ..., job(last) ahead of the one that
 * takes the results, which come in this order.
 *
 * Each worker has a Lua state of its own, made when it gets its first number. Numbers are claimed in
 * order, and at most `ahead` results exist that have not been taken: result n lies in slot n % ahead.
 * Job and results cross as parcels, so no state is ever used by two threads. Nothing runs unless the
 * owner has it: closing the Workers stops all threads, in C loops by the flag that core polls, in Lua
 * by a hook, and waits for them. */
#include <errno.h>
#include <lualib.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/threads.h"
#include "parcel.h"

#define BIND_WORKERS "ladies.Workers"

enum {
    MOST_WORKERS = 256,
    MOST_AHEAD = 4096,
    FEW_CREWS = 4, /* from here on the collector looks for forgotten ones before each new one */
    HOOK_EVERY = 10000, /* instructions between two looks at the flag */
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
    bind_parcel *paths, *job;       /* package.path and cpath; make and its argument */
    lua_Integer next, wanted, last; /* to be claimed; to be taken */
    int ahead, n_threads;
    slot *slots;
    pthread_t *threads;
} crew;

static atomic_int n_crews;

/* --- in the worker ----------------------------------------------------------------------------- */

/* Once stopped it comes back at every instruction: code that catches the error gets no further. */
static void stop_hook(lua_State *L, lua_Debug *where)
{
    (void)where;
    if (!ld_cancelled())
        return;
    lua_sethook(L, stop_hook, LUA_MASKCOUNT, 1);
    luaL_error(L, "the worker was stopped");
}

/* print, with each line written as a whole, since other threads print too. */
static int print_line(lua_State *L)
{
    int n = lua_gettop(L);
    luaL_Buffer line;
    luaL_buffinit(L, &line);
    for (int i = 1; i <= n; i++) {
        luaL_tolstring(L, i, NULL);
        luaL_addvalue(&line);
        luaL_addchar(&line, i < n ? '\t' : '\n');
    }
    if (n == 0)
        luaL_addchar(&line, '\n');
    luaL_pushresult(&line);
    size_t length;
    const char *text = lua_tolstring(L, -1, &length);
    fwrite(text, 1, length, stdout);
    fflush(stdout);
    return 0;
}

/* Pushes job, which make(argument) gives when it is first wanted. */
static void push_job(lua_State *L, const crew *c)
{
    static const char job_key;
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &job_key) == LUA_TFUNCTION)
        return;
    luaL_openlibs(L);
    lua_register(L, "print", print_line);
    luaL_requiref(L, "ladies_core", luaopen_ladies_core, 0);
    lua_getglobal(L, LUA_LOADLIBNAME);
    bind_unpack(L, c->paths);
    lua_setfield(L, -3, "cpath");
    lua_setfield(L, -2, "path");
    bind_unpack(L, c->job);
    lua_call(L, 1, 1);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &job_key);
}

/* (crew, number, place of the result) */
static int compute(lua_State *L)
{
    push_job(L, lua_touserdata(L, 1));
    lua_pushvalue(L, 2);
    lua_call(L, 1, 1);
    bind_parcel **p = bind_pack(L, lua_gettop(L), 1, "out of a worker");
    *(bind_parcel **)lua_touserdata(L, 3) = *p;
    *p = NULL;
    return 0;
}

/* (error value, place of the result); what cannot cross does as text. */
static int pack_error(lua_State *L)
{
    if (lua_type(L, 1) == LUA_TUSERDATA || lua_type(L, 1) == LUA_TFUNCTION)
        luaL_tolstring(L, 1, NULL), lua_replace(L, 1);
    bind_parcel **p = bind_pack(L, 1, 1, "out of a worker");
    *(bind_parcel **)lua_touserdata(L, 2) = *p;
    *p = NULL;
    return 0;
}

static slot run_job(lua_State *L, crew *c, lua_Integer number)
{
    slot result = {NULL, true, false};
    lua_pushcfunction(L, compute);
    lua_pushlightuserdata(L, c);
    lua_pushinteger(L, number);
    lua_pushlightuserdata(L, &result.value);
    if (lua_pcall(L, 3, 0, 0) != LUA_OK) {
        result.failed = true;
        lua_pushcfunction(L, pack_error);
        lua_insert(L, -2);
        lua_pushlightuserdata(L, &result.value);
        lua_pcall(L, 2, 0, 0);
    }
    lua_settop(L, 0);
    return result;
}

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

/* What a result leaves behind is young garbage that holds tensors: a young collection after each is
 * cheap, and finds it. */
static void *work(void *given)
{
    crew *c = given;
    lua_State *L = NULL;
    lua_Integer number;
    ld_become_worker(&c->stop);
    while (claim(c, &number)) {
        if (!L && (L = luaL_newstate())) {
            lua_sethook(L, stop_hook, LUA_MASKCOUNT, HOOK_EVERY);
            lua_gc(L, LUA_GCGEN, 0, 0);
        }
        deliver(c, number, L ? run_job(L, c, number) : (slot){NULL, true, true});
        if (L)
            lua_gc(L, LUA_GCSTEP, 0);
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

static void crew_free(crew *c)
{
    stop(c);
    for (int i = 0; c->slots && i < c->ahead; i++)
        bind_parcel_free(c->slots[i].value);
    bind_parcel_free(c->paths);
    bind_parcel_free(c->job);
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
    crew *c = *(crew **)luaL_checkudata(L, 1, BIND_WORKERS);
    if (!c)
        return luaL_error(L, "the workers have been closed");
    if (c->wanted > c->last)
        return 0;
    bind_parcel **p = bind_new_parcel(L);
    slot result = {NULL, false, false};
    bind_check(L, take(c, &result));
    *p = result.value;
    if (!*p)
        return luaL_error(L, "out of memory in a worker");
    bind_unpack(L, *p);
    bind_parcel_free(*p); /* at once: it may hold much */
    *p = NULL;
    return result.failed ? lua_error(L) : 1;
}

static int workers_close(lua_State *L)
{
    crew **c = luaL_checkudata(L, 1, BIND_WORKERS);
    if (*c)
        crew_free(*c);
    *c = NULL;
    return 0;
}

static int workers_tostring(lua_State *L)
{
    const crew *c = *(crew **)luaL_checkudata(L, 1, BIND_WORKERS);
    lua_pushfstring(L, "Workers, %d threads", c ? c->n_threads : 0);
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
        luaL_error(L, "workers: %s must be an integer %I to %I, got %s", name, (LUAI_UACINT)least,
                   (LUAI_UACINT)most, luaL_tolstring(L, -1, NULL));
    lua_pop(L, 1);
    return n;
}

/* Packs n values from `first` on for a worker. */
static bind_parcel *pack_for_worker(lua_State *L, int first, int n)
{
    bind_parcel **box = bind_pack(L, first, n, "into a worker"), *p = *box;
    *box = NULL;
    lua_pop(L, 1);
    return p;
}

static int workers_new(lua_State *L)
{
    static const char *const names[] = {"threads", "first", "last", "ahead", NULL};
    luaL_checktype(L, 1, LUA_TFUNCTION);
    luaL_checkany(L, 2);
    bind_check_options(L, 3, "workers", names);
    lua_Integer first = integer_option(L, "first", 0, LUA_MAXINTEGER);
    lua_Integer last = integer_option(L, "last", 0, LUA_MAXINTEGER);
    int ahead = (int)integer_option(L, "ahead", 1, MOST_AHEAD);
    int n = (int)integer_option(L, "threads", 1, MOST_WORKERS);
    lua_settop(L, 2);
    if (atomic_load(&n_crews) >= FEW_CREWS)
        lua_gc(L, LUA_GCCOLLECT);
    crew **place = lua_newuserdatauv(L, sizeof(crew *), 0);
    *place = NULL;
    luaL_setmetatable(L, BIND_WORKERS);
    crew *c = *place = crew_new();
    if (!c || !(c->slots = ld_calloc_array(ahead, sizeof *c->slots, LD_MEM_SCRATCH)) ||
        !(c->threads = ld_calloc_array(n, sizeof *c->threads, LD_MEM_SCRATCH)))
        return luaL_error(L, "%s", ld_message());
    c->ahead = ahead;
    c->next = c->wanted = first;
    c->last = last;
    lua_getglobal(L, LUA_LOADLIBNAME);
    lua_getfield(L, 4, "path");
    lua_getfield(L, 4, "cpath");
    c->paths = pack_for_worker(L, 5, 2);
    c->job = pack_for_worker(L, 1, 2);
    while (c->n_threads < n && ld_thread_start(&c->threads[c->n_threads], work, c))
        c->n_threads++;
    if (c->n_threads == 0)
        return luaL_error(L, "workers: the system grants no thread");
    lua_settop(L, 3);
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

void bind_open_workers(lua_State *L)
{
    static const luaL_Reg meta[] = {
        {"__close", workers_close},
        {"__gc", workers_close},
        {"__tostring", workers_tostring},
        {NULL, NULL},
    };
    static const char *const properties[] = {NULL};
    bind_open_parcels(L);
    bind_class(L, BIND_WORKERS, methods, meta, properties, workers_get);
    bind_functions(L, functions);
}

/* How long objects of core live.
 *
 * Lua runs finalizers wherever it allocates, so also in the middle of a bound function, which has
 * pointers in hand by then. A finalizer may let go of what they point to: a user's calls
 * t:release(), or an object's own runs although another finalizer made it reachable again. So
 * nothing is freed in a finalizer. It waits for the next call of a bound function, which begins
 * with bind_settle and has no pointers yet. A function that calls back into Lua holds bind_settle
 * off meanwhile, or looks at its arguments again afterwards. */
#include <stdlib.h>

#include "memory/memory.h"
#include "state/bind.h"

typedef struct {
    void *object;
    void (*drop)(void *object);
} leaving;

/* The objects that wait to be freed in one Lua state, and when the next full collection is due. */
typedef struct {
    leaving *list; /* let go of in finalizers */
    int64_t n, capacity;
    int held_off;      /* depth of bind_hold_off */
    bool closed;       /* the state itself is at its end */
    bool due;          /* a full collection */
    bool unsettled;    /* something is on the list, or due */
    int64_t threshold; /* bytes held by core at which the next one is due */
    int64_t least;     /* what the threshold does not fall below; 0: what memory asks for */
} lifetime;

static const char lifetime_key;

static lifetime *of_state(lua_State *L)
{
    lua_rawgetp(L, LUA_REGISTRYINDEX, &lifetime_key);
    lifetime *s = lua_touserdata(L, -1);
    lua_pop(L, 1);
    return s;
}

/* --- the end of objects ----------------------------------------------------------------------- */

bool bind_in_finalizer(lua_State *L)
{
    /* Lua lets no finalizer touch the collector; before 5.4.4 it was only shown as stopped. */
    return lua_gc(L, LUA_GCISRUNNING) < (LUA_VERSION_RELEASE_NUM >= 50404 ? 0 : 1);
}

/* Makes room for one more object on the list. The memory is not core's, which tests let run out on
 * purpose. */
static bool reserve(lifetime *s)
{
    if (s->n < s->capacity)
        return true;
    int64_t wanted = s->capacity ? 2 * s->capacity : 64;
    leaving *larger = realloc(s->list, (size_t)wanted * sizeof *larger);
    if (!larger)
        return false;
    s->list = larger;
    s->capacity = wanted;
    return true;
}

void bind_drop(lua_State *L, void *place, void (*drop)(void *object))
{
    void **held = place, *object = *held;
    lifetime *s = of_state(L);
    *held = NULL;
    if (!object)
        return;
    if (s->closed || !bind_in_finalizer(L))
        drop(object);
    else if (reserve(s)) /* else it stays for good: better than to be freed in use */
        s->list[s->n++] = (leaving){object, drop};
    s->unsettled = s->due || s->n > 0;
}

void bind_drop_tensor(lua_State *L, int arg)
{
    bind_drop(L, bind_check_userdata(L, arg, BIND_TENSOR), ld_tensor_drop);
}

static void drop_all(lifetime *s)
{
    while (s->n > 0) {
        leaving last = s->list[--s->n];
        last.drop(last.object);
    }
}

void bind_hold_off(lua_State *L, bool on)
{
    of_state(L)->held_off += on ? 1 : -1;
}

/* --- the collector ---------------------------------------------------------------------------- */

/* Returns how many bytes core may hold before the next full collection: half more than it holds
 * now, and an allowance for the cost of a collection, which is in proportion to Lua's own heap. */
static int64_t next_threshold(lua_State *L, int64_t live)
{
    static const int64_t least = 16 << 20;
    int64_t heap = (int64_t)lua_gc(L, LUA_GCCOUNT) * 1024; /* next to nothing in a finalizer */
    return live + live / 2 + least + 8 * heap;
}

/* The collector sees a userdata of a few bytes where core holds megabytes, so it would come far too
 * late. Core's growth since the last full collection brings on the next. */
void bind_collect(lua_State *L)
{
    lifetime *s = of_state(L);
    int64_t live = ld_memory_read().total, next = next_threshold(L, live);
    if (next < s->least)
        next = s->least;
    s->due = s->due || (s->threshold > 0 && live >= s->threshold);
    s->unsettled = s->unsettled || s->due;
    if (s->threshold == 0 ||
        next < s->threshold) /* it falls again after a moment of large tensors */
        s->threshold = next;
}

/* Collects all garbage. It takes milliseconds, and a training step of large tensors would grow past
 * the threshold each time with nothing but what it computes. So where hardly anything was garbage,
 * the next collection waits until there is half more than now, also when there was less meanwhile;
 * one that finds garbage ends that. */
static void collect_garbage(lua_State *L, lifetime *s)
{
    enum { HARDLY = 8 };
    int64_t before = ld_memory_read().total, live;
    lua_gc(L, LUA_GCCOLLECT);
    drop_all(s);
    live = ld_memory_read().total;
    s->threshold = next_threshold(L, live);
    s->least = before - live < before / HARDLY ? s->threshold : 0;
}

void bind_settle(lua_State *L)
{
    lifetime *s = of_state(L);
    if (!s->unsettled || s->held_off > 0 || bind_in_finalizer(L))
        return;
    if (s->due)
        collect_garbage(L, s);
    else
        drop_all(s);
    s->due = s->unsettled = false;
}

const bool *bind_unsettled(lua_State *L)
{
    return &of_state(L)->unsettled;
}

/* --- states ----------------------------------------------------------------------------------- */

static int lifetime_gc(lua_State *L)
{
    lifetime *s = lua_touserdata(L, 1);
    drop_all(s);
    free(s->list);
    *s = (lifetime){.closed = true};
    return 0;
}

/* A library that is loaded a second time, since a session took it out of package.loaded, goes on
 * with the list that there is: functions of the first one point to it. */
void bind_open_lifetime(lua_State *L)
{
    if (of_state(L))
        return;
    lifetime *s = lua_newuserdatauv(L, sizeof *s, 0);
    *s = (lifetime){0};
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, lifetime_gc);
    lua_setfield(L, -2, "__gc");
    lua_setmetatable(L, -2);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &lifetime_key);
}

/* The recording of operations of one Lua state, kept in its registry: the tape, the open step, and
 * pauses. */
#include "state/recording.h"

#include "state/error.h"
#include "state/lifetime.h"

/* The registry key of the state's recording. */
static const char state_key;

bind_recording *bind_recording_of(lua_State *L)
{
    lua_rawgetp(L, LUA_REGISTRYINDEX, &state_key);
    bind_recording *s = lua_touserdata(L, -1);
    lua_pop(L, 1);
    return s;
}

/* Returns true if a pause holds here. It holds for the coroutine that made it and for those that
 * run within that one. It does not while that one is suspended, nor when an error has ended it,
 * since Lua may close the scopes of a dead coroutine as late as when it collects them. */
static bool is_paused(const bind_recording *s)
{
    for (const bind_scope *pause = s->pauses; pause; pause = pause->next)
        if (lua_status(pause->thread) == LUA_OK)
            return true;
    return false;
}

ld_tape *bind_tape(lua_State *L)
{
    bind_recording *s = bind_recording_of(L);
    return ld_tape_is_open(s->tape) && !is_paused(s) ? s->tape : NULL;
}

bool bind_expects_step(lua_State *L)
{
    bind_recording *s = bind_recording_of(L);
    return !ld_tape_is_open(s->tape) && !is_paused(s);
}

ld_status bind_backward(lua_State *L, ld_tensor *loss)
{
    bind_recording *s = bind_recording_of(L);
    s->caller = L;
    return ld_tape_backward(s->tape, loss);
}

lua_State *const *bind_backward_caller(lua_State *L)
{
    return &bind_recording_of(L)->caller;
}

static int state_gc(lua_State *L)
{
    bind_recording *s = lua_touserdata(L, 1);
    ld_tape_free(s->tape);
    s->tape = NULL;
    return 0;
}

void bind_open_recording(lua_State *L)
{
    bind_recording *s = lua_newuserdatauv(L, sizeof *s, 0);
    *s = (bind_recording){0};
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, state_gc);
    lua_setfield(L, -2, "__gc");
    lua_setmetatable(L, -2);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &state_key);
    bind_check(L, ld_tape_new(&s->tape));
}

/* --- scopes ----------------------------------------------------------------------------------- */

bind_scope *bind_push_scope(lua_State *L, bool pause)
{
    bind_scope *s = lua_newuserdatauv(L, sizeof *s, pause ? 1 : 0);
    *s = (bind_scope){.pause = pause};
    luaL_setmetatable(L, BIND_STEP);
    return s;
}

void bind_push_pause(lua_State *L)
{
    bind_recording *t = bind_recording_of(L);
    bind_scope *s = bind_push_scope(L, true);
    lua_pushthread(L);
    lua_setiuservalue(L, -2, 1);
    s->open = true;
    s->thread = L;
    s->next = t->pauses;
    if (s->next)
        s->next->above = s;
    t->pauses = s;
}

static void end_pause(bind_recording *t, bind_scope *s)
{
    if (s->above)
        s->above->next = s->next;
    else
        t->pauses = s->next;
    if (s->next)
        s->next->above = s->above;
}

/* Closes a scope: ends its pause or its step. In a finalizer, which may run in the middle of an
 * operation on the step's tensors, the step is only marked; the next step then closes it. */
int bind_close_scope(lua_State *L)
{
    bind_scope *s = bind_check_userdata(L, 1, BIND_STEP);
    bind_recording *t = bind_recording_of(L);
    if (s->open && s->pause)
        end_pause(t, s);
    else if (s->open && bind_in_finalizer(L))
        t->forgotten = true;
    else if (s->open)
        ld_tape_close(t->tape);
    s->open = false;
    return 0;
}

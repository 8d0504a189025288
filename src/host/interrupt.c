/* Interrupts Lua and core by Ctrl-C.
 *
 * The handler does two things that are safe in a signal handler, as in lua.c: it stores into
 * lock-free atomics and it calls lua_sethook, which Lua allows asynchronously. From then on
 * whatever runs stops: a loop of core polls `cancel` and fails with LD_CANCELLED, Lua code meets
 * the hook at its next instruction. Both raise an interruption (bind_interrupt), and whoever raises
 * it first lowers `cancel`, so one Ctrl-C is one error and code that catches it can go on to save
 * its work.
 *
 * Hooks belong to a coroutine, not to the state, so the handler needs the one that runs. Lua has no
 * way to ask, therefore coroutine.resume and coroutine.wrap are replaced by equals that keep
 * `running` up to date. */
#include "interrupt.h"

#include <errno.h>
#include <lauxlib.h>
#include <lualib.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "base/status.h"
#include "state/bind.h"

enum { EVERY_EVENT = LUA_MASKCALL | LUA_MASKRET | LUA_MASKLINE | LUA_MASKCOUNT };

static lua_State *_Atomic running; /* the coroutine that runs now */
static atomic_int cancel;          /* an interruption waits to be raised */
static atomic_int arrived;         /* there was one since the call began */
static atomic_int deferred;        /* the next Ctrl-C waits for interrupted() instead */
static atomic_int noticed;         /* and has come */
static atomic_int terminated;      /* SIGTERM was one of them */
static bool heeds_termination;
static bool ended_call;
static int explain; /* registry reference of what explains an error, or LUA_NOREF */
static pthread_t lua_thread;

static void stop(lua_State *L, lua_Debug *where)
{
    (void)where;
    lua_sethook(L, NULL, 0, 0);
    if (atomic_exchange(&cancel, 0))
        bind_interrupt(L);
}

static void interrupt(void)
{
    atomic_store(&arrived, 1);
    atomic_store(&cancel, 1);
    lua_sethook(atomic_load(&running), stop, EVERY_EVENT, 1);
}

/* Writes a hint on stderr, as a signal handler may. */
static void say(const char *hint)
{
    ssize_t written = write(STDERR_FILENO, hint, strlen(hint));
    (void)written;
}

bool ld_interrupt_forward(int signal_number)
{
    return !pthread_equal(pthread_self(), lua_thread) &&
           pthread_kill(lua_thread, signal_number) == 0;
}

/* A second Ctrl-C before the first took effect means that something runs which neither polls nor
 * meets the hook: the third then ends the program. */
static void on_sigint(int signal_number)
{
    if (ld_interrupt_forward(signal_number))
        return;
    int saved = errno;
    if (signal_number == SIGTERM)
        atomic_store(&terminated, 1);
    if (atomic_exchange(&deferred, 0)) {
        atomic_store(&noticed, 1);
        if (isatty(STDERR_FILENO))
            say("\nladies: stops after the step in hand; Ctrl-C once more stops at once\n");
    } else {
        atomic_store(&noticed, 0); /* this one raises, and that is for both */
        if (atomic_load(&cancel)) {
            say("\nladies: still busy; Ctrl-C once more ends the program\n");
            signal(signal_number, SIG_DFL);
        }
        interrupt();
    }
    errno = saved;
}

/* The Lua function interrupted() -> boolean: true if Ctrl-C came while interruptions were deferred.
 * It tells that once. */
static int interrupted(lua_State *L)
{
    lua_pushboolean(L, atomic_exchange(&noticed, 0));
    return 1;
}

/* The Lua function defer_interrupt(on) -> boolean, which returns the setting before. Once on, the
 * next Ctrl-C only makes interrupted() true; the one after it raises as ever. Switching it off
 * raises the interruption that nobody has asked for. */
static int defer_interrupt(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TBOOLEAN);
    int on = lua_toboolean(L, 1);
    lua_pushboolean(L, atomic_exchange(&deferred, on));
    if (!on && atomic_exchange(&noticed, 0))
        interrupt();
    return 1;
}

static void catch_termination(void)
{
    sigaction(SIGTERM, &(struct sigaction){.sa_handler = on_sigint}, NULL);
}

/* The Lua function heed_termination(): from now on SIGTERM, by which a launcher of several
 * processes ends them, acts as Ctrl-C does, in this call and those to come. */
static int heed_termination(lua_State *L)
{
    (void)L;
    heeds_termination = true;
    catch_termination();
    return 0;
}

/* The Lua function terminated() -> boolean: true if that SIGTERM has come. */
static int was_terminated(lua_State *L)
{
    lua_pushboolean(L, atomic_load(&terminated));
    return 1;
}

/* Resumes `co` with the n arguments on top of L as lua_resume does, with `running` kept. Leaves the
 * results, or one error message, on L and returns their number, or -1 for an error. */
static int resume(lua_State *L, lua_State *co, int n)
{
    if (!lua_checkstack(co, n)) {
        lua_pushliteral(L, "too many arguments to resume");
        return -1;
    }
    lua_xmove(L, co, n);
    atomic_store(&running, co);
    int n_results, status = lua_resume(co, L, n, &n_results);
    atomic_store(&running, L);
    if (atomic_load(&cancel)) /* it came too late for `co` */
        lua_sethook(L, stop, EVERY_EVENT, 1);
    if (status != LUA_OK && status != LUA_YIELD) {
        lua_xmove(co, L, 1);
        return -1;
    }
    if (!lua_checkstack(L, n_results + 1)) {
        lua_pop(co, n_results);
        lua_pushliteral(L, "too many results to resume");
        return -1;
    }
    lua_xmove(co, L, n_results);
    return n_results;
}

static int coroutine_resume(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTHREAD);
    int n = resume(L, lua_tothread(L, 1), lua_gettop(L) - 1);
    lua_pushboolean(L, n >= 0);
    n = n < 0 ? 1 : n;
    lua_insert(L, -(n + 1));
    return n + 1;
}

/* Resumes a coroutine of coroutine.wrap, which is the upvalue. As in Lua's own, an error closes the
 * coroutine, and a message gets the position of the call. */
static int wrapped(lua_State *L)
{
    lua_State *co = lua_tothread(L, lua_upvalueindex(1));
    int n = resume(L, co, lua_gettop(L));
    if (n >= 0)
        return n;
    int status = lua_status(co);
    if (status != LUA_OK && status != LUA_YIELD) {
        lua_resetthread(co);
        lua_xmove(co, L, 1); /* the error again, or that of a pending close */
    }
    if (status != LUA_ERRMEM && lua_type(L, -1) == LUA_TSTRING) {
        luaL_where(L, 1);
        lua_insert(L, -2);
        lua_concat(L, 2);
    }
    return lua_error(L);
}

static int coroutine_wrap(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TFUNCTION);
    lua_State *co = lua_newthread(L);
    lua_pushvalue(L, 1);
    lua_xmove(L, co, 1);
    lua_pushcclosure(L, wrapped, 1);
    return 1;
}

void ld_interrupt_open(lua_State *L)
{
    static const luaL_Reg functions[] = {{"interrupted", interrupted},
                                         {"defer_interrupt", defer_interrupt},
                                         {"heed_termination", heed_termination},
                                         {"terminated", was_terminated},
                                         {NULL, NULL}};
    static const luaL_Reg replaced[] = {
        {"resume", coroutine_resume}, {"wrap", coroutine_wrap}, {NULL, NULL}};
    luaL_setfuncs(L, functions, 0);
    lua_getglobal(L, LUA_COLIBNAME);
    luaL_setfuncs(L, replaced, 0);
    lua_pop(L, 1);
    ld_set_cancel_flag(&cancel);
    lua_thread = pthread_self();
}

/* Pushes the text of an error that is no string, as the library tells it, which may know the line that
 * raised it: without the library its kind. */
static const char *push_text(lua_State *L)
{
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    if (lua_getfield(L, -1, "ladies.base.errors") == LUA_TTABLE) {
        lua_getfield(L, -1, "text");
        lua_pushvalue(L, 1);
        if (lua_pcall(L, 1, 1, 0) == LUA_OK && lua_type(L, -1) == LUA_TSTRING)
            return lua_tostring(L, -1);
    }
    return lua_pushfstring(L, "(error object is a %s value)", luaL_typename(L, 1));
}

/* Describes the error of a call: it is lua_pcall's message handler for every one. */
static int describe(lua_State *L)
{
    bool interruption = bind_is_interruption(L, 1);
    const char *text = interruption ? luaL_tolstring(L, 1, NULL) : lua_tostring(L, 1);
    ended_call = interruption && atomic_load(&arrived);
    if (!text) {
        const bool speaks = luaL_getmetafield(L, 1, "__tostring") != LUA_TNIL;
        text = push_text(L);
        if (speaks)
            return 1;
    }
    if (ended_call && explain == LUA_NOREF) /* a command that was still loading its modules, say */
        return 1;
    if (explain != LUA_NOREF) {
        lua_rawgeti(L, LUA_REGISTRYINDEX, explain);
        lua_pushstring(L, text);
        lua_pushboolean(L, ended_call);
        if (lua_pcall(L, 2, 1, 0) == LUA_OK && lua_isstring(L, -1))
            return 1;
    }
    luaL_traceback(L, L, text, 1);
    return 1;
}

int ld_interrupt_call(lua_State *L, int n_args, int n_results, int explain_with)
{
    struct sigaction action = {.sa_handler = on_sigint}, before;
    int base = lua_gettop(L) - n_args;
    lua_pushcfunction(L, describe);
    lua_insert(L, base);
    explain = explain_with;
    ended_call = false;
    atomic_store(&running, L);
    atomic_store(&cancel, 0);
    atomic_store(&arrived, 0);
    atomic_store(&deferred, 0);
    atomic_store(&noticed, 0);

    sigaction(SIGINT, NULL, &before);
    if (before.sa_handler != SIG_IGN) /* a shell's background job stays deaf to Ctrl-C */
        sigaction(SIGINT, &action, NULL);
    if (heeds_termination)
        catch_termination();
    int status = lua_pcall(L, n_args, n_results, base);
    sigaction(SIGINT, &before, NULL);
    if (heeds_termination)
        signal(SIGTERM, SIG_DFL);

    if (atomic_exchange(&cancel, 0) && lua_gethook(L) == stop) /* it came too late */
        lua_sethook(L, NULL, 0, 0);
    lua_remove(L, base);
    return status;
}

bool ld_interrupt_ended_call(void)
{
    return ended_call;
}

bool ld_interrupt_by_launcher(void)
{
    return ended_call && atomic_load(&terminated);
}

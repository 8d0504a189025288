#include "worker/worker.h"

#include <lualib.h>

enum { HOOK_EVERY = 10000 }; /* instructions between two looks at the flag */

static const char module_key; /* in the registry: what opens the module */

/* --- in the owner's state ---------------------------------------------------------------------- */

/* Packs n values from `first` on. */
static bind_parcel *pack(lua_State *L, int first, int n)
{
    bind_parcel **box = bind_pack(L, first, n, "into a worker"), *p = *box;
    *box = NULL;
    lua_pop(L, 1);
    return p;
}

void bind_job_open_with(lua_State *L, lua_CFunction module)
{
    lua_pushcfunction(L, module);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &module_key);
}

void bind_job_pack(lua_State *L, bind_job *job, int make)
{
    lua_rawgetp(L, LUA_REGISTRYINDEX, &module_key);
    job->module = lua_tocfunction(L, -1);
    lua_pop(L, 1);
    lua_getglobal(L, LUA_LOADLIBNAME);
    int package = lua_gettop(L);
    lua_getfield(L, package, "path");
    lua_getfield(L, package, "cpath");
    job->paths = pack(L, package + 1, 2);
    lua_settop(L, package - 1);
    job->job = pack(L, make, 2);
}

void bind_job_free(bind_job *job)
{
    bind_parcel_free(job->paths);
    bind_parcel_free(job->job);
}

/* --- in the worker's --------------------------------------------------------------------------- */

/* Once stopped it comes back at every instruction: code that catches the error gets no further. */
static void stop_hook(lua_State *L, lua_Debug *where)
{
    (void)where;
    if (!ld_cancelled())
        return;
    lua_sethook(L, stop_hook, LUA_MASKCOUNT, 1);
    bind_error(L, "the worker was stopped");
}

/* Pushes the job, which is made when it is first wanted. */
static void push_job(lua_State *L, const bind_job *job)
{
    static const char job_key;
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &job_key) == LUA_TFUNCTION)
        return;
    luaL_openlibs(L);
    lua_register(L, "print", bind_print_line);
    luaL_requiref(L, "ladies_core", job->module, 0);
    lua_getglobal(L, LUA_LOADLIBNAME);
    bind_unpack(L, job->paths);
    lua_setfield(L, -3, "cpath");
    lua_setfield(L, -2, "path");
    bind_unpack(L, job->job);
    lua_call(L, 1, 1);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &job_key);
}

/* Packs the value on top of the stack, and hands it over. */
static int pack_result(lua_State *L, bind_parcel **result)
{
    bind_parcel **box = bind_pack(L, lua_gettop(L), 1, "out of a worker");
    *result = *box;
    *box = NULL;
    return 0;
}

/* (job, number, place of the result) */
static int run(lua_State *L)
{
    push_job(L, lua_touserdata(L, 1));
    lua_pushvalue(L, 2);
    lua_call(L, 1, 1);
    return pack_result(L, lua_touserdata(L, 3));
}

/* (place of the result, error value) */
static int pack_error(lua_State *L)
{
    return pack_result(L, lua_touserdata(L, 1));
}

lua_State *bind_job_state(void)
{
    lua_State *L = luaL_newstate();
    if (!L)
        return NULL;
    lua_sethook(L, stop_hook, LUA_MASKCOUNT, HOOK_EVERY);
    lua_gc(L, LUA_GCGEN, 0, 0);
    return L;
}

/* A result leaves garbage that holds tensors: a young collection after each finds it cheaply. */
bind_parcel *bind_job_run(lua_State *L, const bind_job *job, lua_Integer number, bool *failed)
{
    bind_parcel *result = NULL;
    lua_pushcfunction(L, run);
    lua_pushlightuserdata(L, (void *)job);
    lua_pushinteger(L, number);
    lua_pushlightuserdata(L, &result);
    bool packed = lua_pcall(L, 3, 0, 0) == LUA_OK;
    *failed = !packed;
    for (int i = 0; !packed && i < 2; i++) { /* the second error says why the first stays */
        if (i > 0 || lua_isuserdata(L, -1) || lua_isfunction(L, -1))
            bind_error_text(L);
        lua_pushcfunction(L, pack_error);
        lua_pushlightuserdata(L, &result);
        lua_rotate(L, 1, 2); /* the error comes last */
        packed = lua_pcall(L, 2, 0, 0) == LUA_OK;
    }
    lua_settop(L, 0);
    lua_gc(L, LUA_GCSTEP, 0);
    if (!*failed) /* the module may be missing else */
        bind_settle(L);
    return result;
}

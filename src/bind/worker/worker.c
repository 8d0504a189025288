/* Packs a job in the state of the Workers' owner, and computes job(number) in the state of a
 * worker, which only that worker's thread uses. */
#include "worker/worker.h"

#include <lualib.h>

enum { HOOK_EVERY = 10000 }; /* Lua instructions between two looks at the cancel flag */

static const char module_key; /* registry key of the function that opens ladies_core */

/* --- in the owner's state --------------------------------------------------------------------- */

/* Packs n values from `first` on for a worker and returns the parcel, which is the caller's. */
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

/* --- in the worker's -------------------------------------------------------------------------- */

/* Raises an error once the worker is stopped. From then on it does so at every instruction, so that
 * code which catches the error gets no further. */
static void stop_hook(lua_State *L, lua_Debug *where)
{
    (void)where;
    if (!ld_cancelled())
        return;
    lua_sethook(L, stop_hook, LUA_MASKCOUNT, 1);
    bind_error(L, "the worker was stopped");
}

/* Pushes job, which the first call makes by make(argument). */
static void push_job(lua_State *L, const bind_job *job)
{
    static const char job_key;
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &job_key) == LUA_TFUNCTION)
        return;
    lua_getglobal(L, LUA_LOADLIBNAME);
    bind_unpack(L, job->paths);
    lua_setfield(L, -3, "cpath");
    lua_setfield(L, -2, "path");
    bind_unpack(L, job->job);
    lua_call(L, 1, 1);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &job_key);
}

/* Packs the value on top of the stack as the worker's result. */
static int pack_result(lua_State *L, bind_parcel **result)
{
    bind_parcel **box = bind_pack(L, lua_gettop(L), 1, "out of a worker");
    *result = *box;
    *box = NULL;
    return 0;
}

/* Computes job(number) and packs its value. It is called by lua_pcall with the job, the number and
 * the place of the result. */
static int run(lua_State *L)
{
    push_job(L, lua_touserdata(L, 1));
    lua_pushvalue(L, 2);
    lua_call(L, 1, 1);
    return pack_result(L, lua_touserdata(L, 3));
}

/* Packs an error instead. It is called by lua_pcall with the place of the result and the error. */
static int pack_error(lua_State *L)
{
    return pack_result(L, lua_touserdata(L, 1));
}

/* Opens the libraries. It is called by lua_pcall with the job. */
static int open_libraries(lua_State *L)
{
    const bind_job *job = lua_touserdata(L, 1);
    luaL_openlibs(L);
    lua_register(L, "print", bind_print_line);
    luaL_requiref(L, "ladies_core", job->module, 0);
    return 0;
}

lua_State *bind_job_state(const bind_job *job)
{
    lua_State *L = luaL_newstate();
    if (!L)
        return NULL;
    lua_sethook(L, stop_hook, LUA_MASKCOUNT, HOOK_EVERY);
    lua_gc(L, LUA_GCGEN, 0, 0);
    lua_pushcfunction(L, open_libraries);
    lua_pushlightuserdata(L, (void *)job);
    if (lua_pcall(L, 1, 0, 0) == LUA_OK)
        return L;
    lua_close(L);
    return NULL;
}

/* Computes a result. It leaves garbage that holds tensors, which a young collection after each
 * result finds cheaply. */
bind_parcel *bind_job_run(lua_State *L, const bind_job *job, lua_Integer number, bool *failed)
{
    bind_parcel *result = NULL;
    lua_pushcfunction(L, run);
    lua_pushlightuserdata(L, (void *)job);
    lua_pushinteger(L, number);
    lua_pushlightuserdata(L, &result);
    bool packed = lua_pcall(L, 3, 0, 0) == LUA_OK;
    *failed = !packed;
    for (int i = 0; !packed && i < 2; i++) { /* the second error says why the first cannot cross */
        if (i > 0 || lua_isuserdata(L, -1) || lua_isfunction(L, -1))
            bind_error_text(L);
        lua_pushcfunction(L, pack_error);
        lua_pushlightuserdata(L, &result);
        lua_rotate(L, 1, 2); /* puts the error last */
        packed = lua_pcall(L, 2, 0, 0) == LUA_OK;
    }
    lua_settop(L, 0);
    lua_gc(L, LUA_GCSTEP, 0);
    bind_settle(L);
    return result;
}

#include "io/bind_progress.h"

bind_progress bind_option_progress(lua_State *L, int arg, const char *where)
{
    bind_progress p = {.L = L};
    if (!bind_option(L, arg, "progress")) {
        lua_pop(L, 1);
        return p;
    }
    if (!lua_isfunction(L, -1))
        bind_error(L, "%s: progress must be a function, got %s", where, luaL_typename(L, -1));
    p.function = lua_gettop(L);
    return p;
}

static ld_status call(void *context, int64_t done, int64_t total)
{
    bind_progress *p = context;
    lua_pushvalue(p->L, p->function);
    lua_pushinteger(p->L, done);
    lua_pushinteger(p->L, total);
    bind_hold_off(p->L, true);
    p->failed = lua_pcall(p->L, 2, 0, 0) != LUA_OK;
    bind_hold_off(p->L, false);
    return p->failed ? ld_fail(LD_CANCELLED, "stopped by its progress function") : LD_OK;
}

ld_progress *bind_progress_call(const bind_progress *p)
{
    return p->function ? call : NULL;
}

void bind_progress_check(lua_State *L, const bind_progress *p, ld_status status)
{
    if (p->failed)
        lua_error(L);
    bind_check(L, status);
}

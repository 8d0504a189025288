/* Progress functions: a failing one stops core, and its error is raised once core has returned. */
#include "io/bind_progress.h"

bind_progress bind_progress_at(lua_State *L, int at, const char *where)
{
    bool given = !lua_isnil(L, at);
    if (given && !lua_isfunction(L, at))
        bind_error(L, "%s: progress must be a function, got %s", where, luaL_typename(L, at));
    return (bind_progress){.L = L, .function = given ? at : 0};
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

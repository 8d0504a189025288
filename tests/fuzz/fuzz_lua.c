#include "fuzz_lua.h"

#include <lauxlib.h>
#include <lualib.h>

#include "fuzz.h"
#include "module.h"
#include "state/bind.h"

enum {
    ALWAYS = 8 << 20,     /* what Lua may take: this much, */
    BYTES_PER_BYTE = 128, /* and this much for every byte of the files */
};

static int64_t lua_bytes, lua_most;

/* Lua's allocator with a ceiling: to want more is a finding, not an error of the script. */
static void *allocate(void *context, void *block, size_t old_size, size_t new_size)
{
    (void)context;
    lua_bytes += (int64_t)new_size - (block ? (int64_t)old_size : 0);
    FUZZ_REQUIRE(lua_bytes <= lua_most, "Lua wants %" PRId64 " bytes, %" PRId64 " expected",
                 lua_bytes, lua_most);
    if (new_size > 0)
        return realloc(block, new_size);
    free(block);
    return NULL;
}

lua_State *fuzz_lua_start(const char *script)
{
    lua_most = INT64_MAX;
    lua_State *L = lua_newstate(allocate, NULL);
    FUZZ_REQUIRE(L, "no Lua state");
    luaL_openlibs(L);
    luaL_requiref(L, "ladies_core", luaopen_ladies_core, 0);
    lua_getglobal(L, "package");
    lua_pushliteral(L, FUZZ_SOURCE "/lua/?.lua;" FUZZ_SOURCE "/lua/?/init.lua;" FUZZ_SOURCE
                                   "/tests/?.lua");
    lua_setfield(L, -2, "path");
    lua_settop(L, 0);
    lua_pushfstring(L, FUZZ_SOURCE "/tests/fuzz/%s", script);
    if (luaL_dofile(L, lua_tostring(L, 1)) != LUA_OK)
        FUZZ_REQUIRE(false, "%s", lua_tostring(L, -1));
    return L;
}

static void collect(lua_State *L)
{
    lua_gc(L, LUA_GCCOLLECT);
    lua_gc(L, LUA_GCCOLLECT); /* what finalizers have let go */
    bind_settle(L);
}

void fuzz_lua_call(lua_State *L, const char *path, const char *text, int64_t content, int64_t bound)
{
    collect(L);
    fuzz_begin();
    lua_most = lua_bytes + ALWAYS + content * BYTES_PER_BYTE;
    lua_pushvalue(L, -1);
    lua_pushstring(L, path);
    lua_pushstring(L, text);
    if (lua_pcall(L, 2, 0, 0) != LUA_OK)
        FUZZ_REQUIRE(false, "%s", lua_tostring(L, -1));
    collect(L);
    fuzz_end(bound);
}

#include "tree.h"

#include <fcntl.h>
#include <lauxlib.h>
#include <limits.h>
#include <lualib.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "embedded.h"
#include "system/platform.h"

static bool exists(const char *path)
{
    return access(path, R_OK) == 0;
}

static const char PROGRAM[] = "ladies.program"; /* in the registry */

void ld_tree_open(lua_State *L, const char *name)
{
    char path[PATH_MAX];
    lua_pushstring(L, ld_platform_program(path, sizeof path, name) ? path : "");
    lua_setfield(L, LUA_REGISTRYINDEX, PROGRAM);
}

const char *ld_tree_program(lua_State *L)
{
    lua_getfield(L, LUA_REGISTRYINDEX, PROGRAM);
    return lua_tostring(L, -1);
}

/* Pushes the prefix of this executable: "/usr/local" for "/usr/local/bin/ladies". */
static const char *push_own_prefix(lua_State *L)
{
    const char *path = ld_tree_program(L);
    size_t length = strlen(path);
    for (int level = 0; level < 2; level++)
        while (length > 0 && path[--length] != '/')
            ;
    lua_pushlstring(L, path, length);
    lua_remove(L, -2);
    return lua_tostring(L, -1);
}

const char *ld_tree_prefix(lua_State *L, bool ignore_environment)
{
    const char *home = ignore_environment ? NULL : getenv("LADIES_HOME");
    const char *prefix = home && *home ? lua_pushstring(L, home)
                         : ld_embedded ? ld_embedded_prefix(L)
                                       : push_own_prefix(L);
    const char *init = lua_pushfstring(L, "%s/share/lua/5.4/ladies/init.lua", prefix);
    if (!exists(init)) {
        lua_pushfstring(L, "cannot find its Lua files: there is no %s (%s)", init,
                        home && *home ? "LADIES_HOME points there"
                                      : "LADIES_HOME may name the prefix that has them");
        lua_error(L);
    }
    if (strpbrk(prefix, ";?")) {
        lua_pushfstring(L, "cannot run from %s: Lua's paths have no room for ';' and '?'", prefix);
        lua_error(L);
    }
    lua_pop(L, 1);
    return prefix;
}

void ld_tree_add_to_path(lua_State *L, const char *prefix)
{
    lua_getglobal(L, LUA_LOADLIBNAME);
    lua_getfield(L, -1, "path");
    lua_pushfstring(L, "%s/share/lua/5.4/?.lua;%s/share/lua/5.4/?/init.lua;%s", prefix, prefix,
                    lua_tostring(L, -1));
    lua_setfield(L, -3, "path");
    lua_pop(L, 2);
}

void ld_tree_leave_relative(lua_State *L)
{
    static const char *const fields[] = {"path", "cpath"};
    lua_getglobal(L, LUA_LOADLIBNAME);
    for (int i = 0; i < 2; i++) {
        luaL_Buffer kept;
        lua_getfield(L, -1, fields[i]);
        const char *from = luaL_checkstring(L, -1);
        luaL_buffinit(L, &kept);
        for (size_t length; *from; from += length + (from[length] == ';')) {
            length = strcspn(from, ";");
            if (*from != '/')
                continue;
            luaL_addlstring(&kept, from, length);
            luaL_addchar(&kept, ';');
        }
        if (luaL_bufflen(&kept) > 0)
            luaL_buffsub(&kept, 1);
        luaL_pushresult(&kept);
        lua_setfield(L, -3, fields[i]);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

const char *ld_tree_script(lua_State *L, const char *prefix, const char *name)
{
    if (strchr(name, '/'))
        return NULL;
    const char *file = luaL_gsub(L, name, "-", "_");
    const char *path = lua_pushfstring(L, "%s/share/ladies/scripts/%s.lua", prefix, file);
    lua_remove(L, -2);
    if (exists(path))
        return path;
    lua_pop(L, 1);
    return NULL;
}

int ld_tree_make_private(lua_State *L)
{
    size_t length;
    const char *text = luaL_checklstring(L, 1, &length);
    char *path = memcpy(lua_newuserdatauv(L, length + 1, 0), text, length + 1);
    for (char *slash = path; (slash = strchr(slash + 1, '/'));) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    struct stat info;
    int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0600); /* it may be a fifo */
    bool is_file = file >= 0 && fstat(file, &info) == 0 && S_ISREG(info.st_mode);
    lua_pushboolean(L, file >= 0 && close(file) == 0 && is_file);
    return 1;
}

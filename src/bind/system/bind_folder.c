/* folder: trees of files, and locks between processes. */
#include "system/folder.h"

#include "state/bind.h"

#define BIND_LOCK "ladies.Lock"

static int folder_make(lua_State *L)
{
    bind_check(L, ld_folder_make(bind_check_string(L, 1)));
    return 0;
}

static int folder_bytes(lua_State *L)
{
    lua_pushinteger(L, ld_folder_bytes(bind_check_string(L, 1)));
    return 1;
}

static int folder_remove(lua_State *L)
{
    bind_check(L, ld_folder_remove(bind_check_string(L, 1)));
    return 0;
}

static int folder_sync(lua_State *L)
{
    bind_check(L, ld_sync(bind_check_string(L, 1)));
    return 0;
}

static int lock_close(lua_State *L)
{
    ld_lock_close(bind_check_userdata(L, 1, BIND_LOCK));
    return 0;
}

static int folder_lock(lua_State *L)
{
    bool taken;
    const char *path = bind_check_string(L, 1);
    lua_Number seconds = bind_opt_number(L, 2, 0);
    bind_arg_check(L, seconds >= 0, 2, "must be 0 or more seconds");
    ld_lock *lock = lua_newuserdatauv(L, sizeof *lock, 0);
    *lock = (ld_lock){-1, NULL};
    luaL_setmetatable(L, BIND_LOCK);
    bind_check(L, ld_lock_take(&taken, lock, path, seconds));
    if (taken)
        return 1;
    char holder[128];
    ld_lock_holder(holder, sizeof holder, path);
    lua_pushnil(L);
    lua_pushstring(L, holder);
    return 2;
}

static const bind_function functions[] = {
    {"make", folder_make, "folder.make(path)\nMakes a folder and those above it that are missing."},
    {"bytes", folder_bytes, "folder.bytes(path) -> integer\nThe bytes of all files in a tree."},
    {"remove", folder_remove,
     "folder.remove(path)\n"
     "Removes a file, or a folder with all that is in it. Links are not followed."},
    {"lock", folder_lock,
     "folder.lock(path [, seconds: number]) -> Lock | nil [, string]\n"
     "Takes a lock, a file that is there while a process holds it; nil and who holds it, \"process 17\n"
     "on alder\", when another one does for all of `seconds` (0). It is given back at the end of the\n"
     "scope of a <close> variable, or of the process."},
    {"sync", folder_sync,
     "folder.sync(path)\nBrings a file that was written, or the names in a folder, to the disk."},
    {NULL, NULL, NULL},
};

void bind_open_folder(lua_State *L)
{
    bind_hidden_class(L, BIND_LOCK, lock_close);
    lua_newtable(L);
    bind_functions(L, functions);
    lua_setfield(L, -2, "folder");
}

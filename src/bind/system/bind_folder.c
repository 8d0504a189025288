/* Files and folders by their paths: the kind of a path, making and removing trees of files, and
 * locks between processes. */
#include "system/folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "state/bind.h"

#define BIND_LOCK "ladies.Lock"

static ld_status path_mkdir(bind_call *c)
{
    const char *path = c->in[0].text;
    c->out[0].flag = mkdir(path, 0777) == 0;
    if (!c->out[0].flag && errno != EEXIST)
        return ld_fail(LD_IO, "mkdir: %s: %s", path, strerror(errno));
    return LD_OK;
}

static ld_status path_truncate(bind_call *c)
{
    if (truncate(c->in[0].text, (off_t)c->in[1].integer) != 0)
        return ld_fail(LD_IO, "truncate: %s: %s", c->in[0].text, strerror(errno));
    return LD_OK;
}

static ld_status path_exists(bind_call *c)
{
    struct stat info;
    if (stat(c->in[0].text, &info) != 0)
        lua_pushboolean(c->L, 0);
    else
        lua_pushstring(c->L, S_ISDIR(info.st_mode)   ? "folder"
                             : S_ISREG(info.st_mode) ? "file"
                                                     : "other");
    return LD_OK;
}

static ld_status path_same_file(bind_call *c)
{
    struct stat a, b;
    c->out[0].flag = stat(c->in[0].text, &a) == 0 && stat(c->in[1].text, &b) == 0 &&
                     a.st_dev == b.st_dev && a.st_ino == b.st_ino;
    return LD_OK;
}

static ld_status path_real_path(bind_call *c)
{
    char path[PATH_MAX];
    lua_pushstring(c->L, realpath(c->in[0].text, path)); /* nil where there is none */
    return LD_OK;
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* Returns a table of the names of the entries at 1, of which there are as many as 2 says. */
static int push_names(lua_State *L)
{
    struct dirent **entries = lua_touserdata(L, 1);
    lua_Integer n = lua_tointeger(L, 2);
    lua_newtable(L);
    for (lua_Integer i = 0; i < n; i++) {
        lua_pushstring(L, entries[i]->d_name);
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

static ld_status path_files(bind_call *c)
{
    struct dirent **entries = NULL;
    int n = scandir(c->in[0].text, &entries, is_visible, alphasort);
    lua_pushcfunction(c->L, push_names);
    lua_pushlightuserdata(c->L, entries);
    lua_pushinteger(c->L, n);
    int status = lua_pcall(c->L, 2, 1, 0); /* the entries are given back also where it fails */
    for (int i = 0; i < n; i++)
        free(entries[i]);
    free(entries);
    return status == LUA_OK ? LD_OK : (ld_status)lua_error(c->L);
}

static ld_status folder_make(bind_call *c)
{
    return ld_folder_make(c->in[0].text);
}

static ld_status folder_bytes(bind_call *c)
{
    c->out[0].integer = ld_folder_bytes(c->in[0].text);
    return LD_OK;
}

static ld_status folder_free(bind_call *c)
{
    int64_t bytes;
    LD_CHECK(ld_folder_free(&bytes, c->in[0].text));
    c->out[0].integer = bytes;
    return LD_OK;
}

static ld_status folder_remove(bind_call *c)
{
    return ld_folder_remove(c->in[0].text);
}

static ld_status folder_sync(bind_call *c)
{
    return ld_sync(c->in[0].text);
}

static int lock_close(lua_State *L)
{
    ld_lock_close(bind_check_userdata(L, 1, BIND_LOCK));
    return 0;
}

static ld_status folder_lock(bind_call *c)
{
    bool taken;
    const char *path = c->in[0].text;
    bind_arg_check(c->L, c->in[1].number >= 0, 2, "must be 0 or more seconds");
    ld_lock *lock = lua_newuserdatauv(c->L, sizeof *lock, 0);
    lock->fd = -1;
    luaL_setmetatable(c->L, BIND_LOCK);
    bind_check(c->L, ld_lock_take(&taken, lock, path, c->in[1].number));
    c->n_pushed = taken ? 1 : 2;
    if (!taken) {
        char holder[128];
        ld_lock_holder(holder, sizeof holder, path);
        lua_pushnil(c->L);
        lua_pushstring(c->L, holder);
    }
    return LD_OK;
}

static const bind_function paths[] = {
    {"mkdir", path_mkdir,
     "ladies_core.mkdir(path) -> boolean\nMakes a folder; false where something of this name exists."},
    {"truncate", path_truncate,
     "ladies_core.truncate(path, bytes: integer)\nCuts a file to a length."},
    {"exists", path_exists,
     "ladies_core.exists(path) -> \"file\" | \"folder\" | \"other\" | false\n"
     "The kind of thing that the path leads to; \"other\" is a pipe, a device or a socket."},
    {"same_file", path_same_file,
     "ladies_core.same_file(path, path) -> boolean\n"
     "True if both lead to one file or folder that is there, in whatever way they are written."},
    {"real_path", path_real_path,
     "ladies_core.real_path(path) -> string | nil\n"
     "The path from the root, without links, to what is there; nil where nothing is."},
    {"files", path_files,
     "ladies_core.files(folder: string) -> table\nThe names in a folder, sorted, without hidden ones; empty where\n"
     "there is no such folder."},
    {NULL, NULL, NULL},
};

static const bind_function folders[] = {
    {"make", folder_make, "folder.make(path)\nMakes a folder and those above it that are missing."},
    {"bytes", folder_bytes, "folder.bytes(path) -> integer\nThe bytes of all files in a tree."},
    {"free", folder_free,
     "folder.free(path) -> integer\n"
     "The bytes that this user may still write to the disk that a folder is on."},
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

static const bind_class lock = {.name = BIND_LOCK, .release = lock_close, .closes = true};

const bind_subject bind_subject_folder = {.classes = {&lock},
                                          .functions = {{paths}, {folders, "folder"}}};

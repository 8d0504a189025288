/* The archive of files that a program carries: checking, inflating and unpacking it to a folder of
 * the user. */
#include "embedded.h"

#ifdef LADIES_TREE

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <lauxlib.h>
#include <lua-cjson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/version.h"
#include "system/folder.h"

const bool ld_embedded = true;

/* clang-format off */
__asm__(".section .rodata\n"
        ".global ld_tree_begin\n" ".global ld_tree_end\n"
        "ld_tree_begin: .incbin \"" LADIES_TREE "\"\n"
        "ld_tree_end:\n"
        ".text\n");
/* clang-format on */

extern const unsigned char ld_tree_begin[], ld_tree_end[];

enum { BLOCK = 512, GZIP = 16, PLACES = 3 };

/* The fields of a tar header that are used. */
enum { NAME = 0, NAME_SIZE = 100, SIZE = 124, SIZE_SIZE = 12, TYPE = 156 };

/* Returns the n-th four bytes from the archive's end: gzip's own are the length (1) and the CRC-32
 * (2) of its contents. */
static uint32_t from_end(int n)
{
    const unsigned char *p = ld_tree_begin + (ld_tree_end - ld_tree_begin - 4 * n);
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* Pushes the archive, inflated. */
static const char *push_archive(lua_State *L, size_t *size)
{
    *size = from_end(1);
    char *bytes = lua_newuserdatauv(L, *size, 0);
    z_stream z = {.next_in = (Bytef *)(uintptr_t)ld_tree_begin,
                  .avail_in = (uInt)(ld_tree_end - ld_tree_begin),
                  .next_out = (Bytef *)bytes,
                  .avail_out = (uInt)*size};
    bool whole = inflateInit2(&z, MAX_WBITS + GZIP) == Z_OK;
    whole = whole && inflate(&z, Z_FINISH) == Z_STREAM_END && z.total_out == *size;
    inflateEnd(&z);
    if (!whole)
        luaL_error(L, "the files in the program are damaged");
    return bytes;
}

/* Raises the error for a path that cannot be written. */
static void fail(lua_State *L, const char *path)
{
    lua_pushfstring(L, "cannot unpack its files: %s: %s", path, strerror(errno));
    lua_error(L);
}

static void write_file(lua_State *L, const char *path, const char *data, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    while (fd >= 0 && size > 0) {
        ssize_t n = write(fd, data, size);
        if (n < 0)
            break;
        data += n;
        size -= (size_t)n;
    }
    if (fd < 0 || (close(fd) != 0) | (size > 0))
        fail(L, path);
}

/* Writes the files of the archive below a folder. */
static void unpack(lua_State *L, const char *folder)
{
    size_t size;
    const char *archive = push_archive(L, &size);
    for (size_t at = 0; at + BLOCK <= size && archive[at + NAME];) {
        const char *header = archive + at;
        size_t length = strtoul(header + SIZE, NULL, 8);
        const char *path = lua_pushfstring(L, "%s/%s", folder, header + NAME);
        if (header[TYPE] == '5' ? ld_folder_make(path) != LD_OK : header[TYPE] != '0')
            luaL_error(L, "cannot unpack its files: %s", path);
        if (header[TYPE] == '0')
            write_file(L, path, header + BLOCK, length);
        at += BLOCK + (length + BLOCK - 1) / BLOCK * BLOCK;
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

/* Tells whether there is a folder that nobody but this user or root can have written. */
static bool is_own(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0 && S_ISDIR(info.st_mode) && (info.st_mode & 022) == 0 &&
           (info.st_uid == geteuid() || info.st_uid == 0);
}

/* Pushes the n-th folder that the files may go to and returns it, or NULL. */
static const char *push_place(lua_State *L, int n)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (n == 0 && cache && *cache == '/')
        return lua_pushfstring(L, "%s/ladies-program", cache);
    if (n == 1 && home && *home == '/')
        return lua_pushfstring(L, "%s/.cache/ladies-program", home);
    if (n == PLACES - 1)
        return lua_pushfstring(L, "/tmp/ladies-program-%d", (int)geteuid());
    lua_pushnil(L);
    return NULL;
}

/* Makes the folder of a place where it is missing, for this user alone. */
static bool make_place(const char *place)
{
    mode_t before = umask(077);
    bool made = ld_folder_make(place) == LD_OK;
    umask(before);
    return made && is_own(place) && access(place, W_OK | X_OK) == 0;
}

const char *ld_embedded_prefix(lua_State *L)
{
    const char *place = NULL;
    for (int n = 0; n < PLACES && !place; n++) {
        place = push_place(L, n);
        if (place && !make_place(place))
            place = NULL;
    }
    if (!place)
        luaL_error(L, "cannot unpack its files: no folder can be made for them; XDG_CACHE_HOME may "
                      "name one that can be written to");
    char crc[16];
    snprintf(crc, sizeof crc, "%08" PRIx32, from_end(2));
    const char *prefix = lua_pushfstring(L, "%s/%s-%s", place, LD_VERSION, crc);
    if (is_own(prefix))
        return prefix;
    const char *begun = lua_pushfstring(L, "%s.%d", prefix, (int)getpid());
    ld_folder_remove(begun);
    if (mkdir(begun, 0755) != 0)
        fail(L, begun);
    unpack(L, begun);
    if (rename(begun, prefix) != 0) {
        int reason = errno;
        ld_folder_remove(begun);
        errno = reason;
        if (!is_own(prefix)) /* another process was quicker */
            fail(L, prefix);
    }
    lua_pop(L, 1);
    return prefix;
}

void ld_embedded_open(lua_State *L)
{
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
    lua_pushcfunction(L, luaopen_cjson);
    lua_setfield(L, -2, "cjson");
    lua_pop(L, 1);
}

#else

const bool ld_embedded = false;

const char *ld_embedded_prefix(lua_State *L)
{
    lua_pushnil(L);
    return NULL;
}

void ld_embedded_open(lua_State *L)
{
    (void)L;
}

#endif

#include "compiled.h"

#include <fcntl.h>
#include <lauxlib.h>
#include <lualib.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/platform.h"
#include "form.h"

/* The file, which stays mapped to the end of the process: finalizers may require modules. */
static struct {
    const char *bytes;
    size_t size;
    const ld_compiled_entry *entries;
    size_t count;
} compiled;

/* Whether the mapped bytes are a file of ours for this Lua. */
static bool check(void)
{
    ld_compiled_head head;
    if (compiled.size < sizeof head)
        return false;
    memcpy(&head, compiled.bytes, sizeof head);
    if (memcmp(head.magic, LD_COMPILED_MAGIC, sizeof head.magic) != 0 ||
        head.lua != ld_compiled_hash(lua_ident, strlen(lua_ident)) ||
        head.count > (compiled.size - sizeof head) / sizeof(ld_compiled_entry))
        return false;
    compiled.entries = (const ld_compiled_entry *)(compiled.bytes + sizeof head);
    compiled.count = head.count;
    return true;
}

static bool map(const char *path)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0) {
        compiled.size = (size_t)info.st_size;
        compiled.bytes = ld_platform_map_file(fd, 0, compiled.size, false);
    }
    close(fd);
    return compiled.bytes && check();
}

static int by_name(const void *name, const void *entry)
{
    return strncmp(name, ((const ld_compiled_entry *)entry)->name, LD_COMPILED_NAME);
}

/* Whether the file at `path` holds what the entry was made of. */
static bool is_same(const ld_compiled_entry *e, const char *path)
{
    struct stat info;
    char *text = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    if (fstat(fd, &info) == 0 && (uint64_t)info.st_size == e->source_size)
        text = malloc(e->source_size);
    bool same = text && read(fd, text, e->source_size) == (ssize_t)e->source_size &&
                ld_compiled_hash(text, e->source_size) == e->source_hash;
    free(text);
    close(fd);
    return same;
}

/* The code of an entry, or NULL where the file is damaged. */
static const char *code_of(const ld_compiled_entry *e)
{
    if (e->size < LD_COMPILED_BEFORE + LD_COMPILED_SOURCE || e->at > compiled.size ||
        e->size > compiled.size - e->at)
        return NULL;
    const char *code = compiled.bytes + e->at;
    return ld_compiled_hash(code, e->size) == e->hash ? code : NULL;
}

/* Code in pieces: what is before its source, the source's length, the source, what is behind it. */
typedef struct {
    struct {
        const char *bytes;
        size_t size;
    } pieces[4];
    int next;
} pieces;

static const char *read_piece(lua_State *L, void *from, size_t *size)
{
    pieces *p = from;
    (void)L;
    if (p->next == 4)
        return NULL;
    *size = p->pieces[p->next].size;
    return p->pieces[p->next++].bytes;
}

/* A length as lua_dump writes it, seven bits a byte, of which the last one has the high bit. Returns
 * where it begins in `digits`. */
static char *write_length(char *digits, size_t size, size_t length)
{
    char *p = digits + size;
    *--p = (char)(0x80 | (length & 0x7f));
    while (length >>= 7)
        *--p = (char)(length & 0x7f);
    return p;
}

/* Pushes the function of an entry's code, with the source "@PATH"; false where it has none. */
static bool push_function(lua_State *L, const ld_compiled_entry *e, const char *path)
{
    const char *code = code_of(e);
    if (!code)
        return false;
    char digits[10];
    const char *source = lua_pushfstring(L, "@%s", path);
    size_t length = strlen(source), before = LD_COMPILED_BEFORE;
    char *first = write_length(digits, sizeof digits, length + 1);
    pieces p = {{{code, before},
                 {first, (size_t)(digits + sizeof digits - first)},
                 {source, length},
                 {code + before + LD_COMPILED_SOURCE, e->size - before - LD_COMPILED_SOURCE}},
                0};
    return lua_load(L, read_piece, &p, source, "b") == LUA_OK;
}

/* searcher(name): upvalues are the table `package`, its function searchpath, and the folder of the
 * modules. */
static int search(lua_State *L)
{
    const char *name = luaL_checkstring(L, 1);
    size_t length;
    const char *folder = lua_tolstring(L, lua_upvalueindex(3), &length);
    lua_pushvalue(L, lua_upvalueindex(2));
    lua_pushstring(L, name);
    if (lua_getfield(L, lua_upvalueindex(1), "path") != LUA_TSTRING)
        return 0;
    lua_call(L, 2, 1);
    const char *path = lua_tostring(L, -1);
    if (!path || strncmp(path, folder, length) != 0)
        return 0;
    const ld_compiled_entry *e =
        bsearch(path + length, compiled.entries, compiled.count, sizeof *e, by_name);
    if (!e || !is_same(e, path) || !push_function(L, e, path))
        return 0;
    lua_pushstring(L, path);
    return 2;
}

void ld_compiled_open(lua_State *L, const char *prefix)
{
    const char *path = lua_pushfstring(L, "%s/share/ladies/modules.luac", prefix);
    bool mapped = map(path);
    lua_pop(L, 1);
    if (!mapped)
        return;
    lua_getglobal(L, LUA_LOADLIBNAME);
    int package = lua_gettop(L);
    lua_getfield(L, package, "searchers");
    for (lua_Integer i = luaL_len(L, -1); i >= 2; i--) { /* the first one is that of preload */
        lua_geti(L, -1, i);
        lua_seti(L, -2, i + 1);
    }
    lua_pushvalue(L, package);
    lua_getfield(L, package, "searchpath");
    lua_pushfstring(L, "%s/share/lua/5.4/", prefix);
    lua_pushcclosure(L, search, 3);
    lua_seti(L, -2, 2);
    lua_settop(L, package - 1);
}

/* Whole data sets through the readers in Lua. An input is a zip archive of a data set's files; they
 * are laid into a folder, and readers.lua, which lists the readers, is called with it.
 *
 * One Lua state serves all inputs: after each one it must hold no object of core any more. */
#include <errno.h>
#include <lauxlib.h>
#include <lualib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "bind.h"
#include "fuzz.h"
#include "io/zip.h"

enum {
    MOST_CONTENT = 1 << 22,   /* of the files of an input */
    LUA_ALWAYS = 8 << 20,     /* what Lua may take: this much, */
    LUA_BYTES_PER_BYTE = 128, /* and this much for every byte of the files */
    CORE_ALWAYS = 16 << 20,
    CORE_BYTES_PER_BYTE = 1024, /* files in gzip hold more than they have */
    SIDE = 1 << 24,             /* a .mtx file or a pickle may have so many columns; */
    BYTES_PER_COLUMN = 64,      /* what they take, several times over */
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

/* Leaves the function that readers.lua gives on the stack. */
static lua_State *start(void)
{
    lua_most = INT64_MAX;
    lua_State *L = lua_newstate(allocate, NULL);
    FUZZ_REQUIRE(L, "no Lua state");
    luaL_openlibs(L);
    luaL_requiref(L, "ladies_core", luaopen_ladies_core, 0);
    lua_getglobal(L, "package");
    lua_pushliteral(L, FUZZ_SOURCE "/lua/?.lua;" FUZZ_SOURCE "/lua/?/init.lua");
    lua_setfield(L, -2, "path");
    lua_settop(L, 0);
    if (luaL_dofile(L, FUZZ_SOURCE "/tests/fuzz/readers.lua") != LUA_OK)
        FUZZ_REQUIRE(false, "%s", lua_tostring(L, -1));
    return L;
}

static void collect(lua_State *L)
{
    lua_gc(L, LUA_GCCOLLECT);
    lua_gc(L, LUA_GCCOLLECT); /* what finalizers have let go */
}

/* Makes the folders of a path below `root`. */
static void make_folders(const char *path, size_t root)
{
    char folder[600];
    snprintf(folder, sizeof folder, "%s", path);
    for (char *slash = folder + root; (slash = strchr(slash + 1, '/'));) {
        *slash = '\0';
        mkdir(folder, 0700);
        *slash = '/';
    }
}

/* Writes the members that can be read into a folder; returns their bytes. */
static int64_t lay_out(const char *folder, const char *archive)
{
    static char content[MOST_CONTENT];
    ld_zip *z = NULL;
    int64_t total = 0;
    if (!fuzz_ok(ld_zip_open(&z, archive, "zip")))
        return 0;
    for (int64_t i = 0; i < z->count; i++) {
        const ld_zip_member *m = &z->members[i];
        char path[600];
        ld_source *s;
        if (m->size > MOST_CONTENT - total || ld_zip_read(&s, z, m) != LD_OK ||
            s->read(s, content, m->size) != LD_OK || s->finish(s) != LD_OK)
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, m->name);
        make_folders(path, strlen(folder));
        FILE *f = fopen(path, "wb");
        if (!f) /* a name that is also a folder's */
            continue;
        fwrite(content, 1, (size_t)m->size, f);
        fclose(f);
        total += m->size;
    }
    ld_zip_close(z);
    return total;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static lua_State *L;
    char folder[100];
    if (!L)
        L = start();
    snprintf(folder, sizeof folder, "%s/data", fuzz_folder());
    fuzz_remove(folder);
    FUZZ_REQUIRE(mkdir(folder, 0700) == 0, "cannot make %s: %s", folder, strerror(errno));
    int64_t content = lay_out(folder, fuzz_file(data, size));
    if (content == 0)
        return 0;
    collect(L);
    fuzz_begin();
    lua_most = lua_bytes + LUA_ALWAYS + content * LUA_BYTES_PER_BYTE;
    lua_pushvalue(L, -1);
    lua_pushstring(L, folder);
    if (lua_pcall(L, 1, 0, 0) != LUA_OK)
        FUZZ_REQUIRE(false, "%s", lua_tostring(L, -1));
    collect(L);
    fuzz_end(CORE_ALWAYS + content * CORE_BYTES_PER_BYTE + (int64_t)SIDE * BYTES_PER_COLUMN);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    return fuzz_mutate_zip(data, size, most, seed);
}

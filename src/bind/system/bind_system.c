/* What a script may ask of the process: threads, memory, clock, terminal, files. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/machine.h"
#include "base/marker.h"
#include "base/memory.h"
#include "base/platform.h"
#include "base/printable.h"
#include "base/simd.h"
#include "base/threads.h"
#include "base/version.h"
#include "graph/csr.h"
#include "state/bind.h"
#include "tensor/blas.h"

static int system_threads(lua_State *L)
{
    if (!lua_isnoneornil(L, 1))
        bind_check(L, ld_set_threads((int)bind_count(L, 1, "threads")));
    lua_pushinteger(L, ld_threads());
    return 1;
}

static int system_machine(lua_State *L)
{
    size_t memory = ld_machine_memory();
    lua_newtable(L);
    lua_pushinteger(L, memory > LUA_MAXINTEGER ? LUA_MAXINTEGER : (lua_Integer)memory);
    lua_setfield(L, -2, "memory");
    lua_pushinteger(L, ld_machine_processors());
    lua_setfield(L, -2, "processors");
    lua_pushinteger(L, ld_platform_processors());
    lua_setfield(L, -2, "allowed");
    lua_pushinteger(L, ld_machine_share());
    lua_setfield(L, -2, "share");
    lua_pushinteger(L, ld_machine_all_processors());
    lua_setfield(L, -2, "all");
    return 1;
}

static int system_vector_units(lua_State *L)
{
    if (!lua_isnoneornil(L, 1))
        bind_check(L, ld_use_units(bind_check_string(L, 1)));
    lua_pushstring(L, ld_vector_units());
    return 1;
}

static int system_memory(lua_State *L)
{
    ld_memory_stats s = ld_memory_read();
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    lua_newtable(L);
    for (int tag = 0; tag < LD_MEM_TAGS; tag++) {
        lua_pushinteger(L, s.live[tag]);
        lua_setfield(L, -2, ld_memory_tag_name((ld_memory_tag)tag));
    }
    lua_pushinteger(L, s.total);
    lua_setfield(L, -2, "total");
    lua_pushinteger(L, s.peak);
    lua_setfield(L, -2, "peak");
    lua_pushinteger(L, s.cached);
    lua_setfield(L, -2, "cached");
    lua_pushinteger(L, s.system_calls);
    lua_setfield(L, -2, "system_calls");
    lua_pushinteger(L, (lua_Integer)usage.ru_maxrss * 1024);
    lua_setfield(L, -2, "resident_peak");
    return 1;
}

static int system_memory_count(lua_State *L)
{
    int64_t before, number = lua_isnoneornil(L, 1) ? LD_NEW_COUNT : bind_check_integer(L, 1);
    number = ld_memory_count(number, &before);
    lua_pushinteger(L, number);
    lua_pushinteger(L, before);
    return 2;
}

static int system_memory_counted(lua_State *L)
{
    lua_pushinteger(L, ld_memory_counted(bind_check_integer(L, 1)));
    return 1;
}

static int system_memory_trim(lua_State *L)
{
    lua_gc(L, LUA_GCCOLLECT);
    lua_gc(L, LUA_GCCOLLECT); /* finalised objects are freed in the second round */
    bind_settle(L);
    ld_marker_trim();
    ld_memory_trim();
    return 0;
}

static int system_memory_fail_at(lua_State *L)
{
    ld_memory_fail_at(bind_check_integer(L, 1));
    return 0;
}

static int system_cancel_at(lua_State *L)
{
    lua_pushboolean(L, ld_cancel_at(bind_check_integer(L, 1)));
    return 1;
}

static int system_limit_entries(lua_State *L)
{
    ld_structure_limit(bind_check_integer(L, 1));
    return 0;
}

static int system_blas(lua_State *L)
{
    char text[128];
    ld_blas_name(text, sizeof text);
    lua_pushstring(L, text);
    return 1;
}

static int system_clock(lua_State *L)
{
    lua_pushnumber(L, ld_clock());
    return 1;
}

static int system_isatty(lua_State *L)
{
    lua_pushboolean(L, isatty((int)bind_check_integer(L, 1)));
    return 1;
}

static int system_printable(lua_State *L)
{
    size_t length;
    const char *text = bind_check_lstring(L, 1, &length), *end = text + length;
    bool lines = lua_toboolean(L, 2);
    luaL_Buffer shown;
    luaL_buffinit(L, &shown);
    while (text < end)
        luaL_addsize(&shown, (size_t)ld_printable(luaL_prepbuffsize(&shown, LD_PRINTABLE), &text,
                                                  end, lines));
    luaL_pushresult(&shown);
    return 1;
}

static int system_hash(lua_State *L)
{
    size_t length;
    const char *text = bind_check_lstring(L, 1, &length);
    uint64_t hash = strtoull(lua_isnoneornil(L, 2) ? "0" : bind_check_string(L, 2), NULL, 16);
    bind_check(L, ld_hash_bytes(&hash, text, length));
    bind_push_hash(L, hash);
    return 1;
}

static int system_blamed_line(lua_State *L)
{
    bind_push_where(L);
    return 1;
}

static int system_set_home(lua_State *L)
{
    bind_check_string(L, 1);
    lua_settop(L, 1);
    bind_set_home(L);
    return 0;
}

static int system_interruption(lua_State *L)
{
    bind_check_string(L, 1);
    lua_settop(L, 1);
    bind_push_interruption(L);
    return 1;
}

static int system_is_interruption(lua_State *L)
{
    lua_pushboolean(L, bind_is_interruption(L, 1));
    return 1;
}

static int system_default_places(lua_State *L)
{
    lua_pushliteral(L, LUA_PATH_DEFAULT);
    lua_pushliteral(L, LUA_CPATH_DEFAULT);
    return 2;
}

static int system_mkdir(lua_State *L)
{
    const char *path = bind_check_string(L, 1);
    bool made = mkdir(path, 0777) == 0;
    if (!made && errno != EEXIST)
        bind_check(L, ld_fail(LD_IO, "mkdir: %s: %s", path, strerror(errno)));
    lua_pushboolean(L, made);
    return 1;
}

static int system_truncate(lua_State *L)
{
    const char *path = bind_check_string(L, 1);
    if (truncate(path, (off_t)bind_check_integer(L, 2)) != 0)
        bind_check(L, ld_fail(LD_IO, "truncate: %s: %s", path, strerror(errno)));
    return 0;
}

static int system_exists(lua_State *L)
{
    struct stat info;
    if (stat(bind_check_string(L, 1), &info) != 0)
        lua_pushboolean(L, 0);
    else
        lua_pushstring(L, S_ISDIR(info.st_mode)   ? "folder"
                          : S_ISREG(info.st_mode) ? "file"
                                                  : "other");
    return 1;
}

static int system_same_file(lua_State *L)
{
    struct stat a, b;
    lua_pushboolean(L, stat(bind_check_string(L, 1), &a) == 0 &&
                           stat(bind_check_string(L, 2), &b) == 0 && a.st_dev == b.st_dev &&
                           a.st_ino == b.st_ino);
    return 1;
}

static int system_real_path(lua_State *L)
{
    char *path = realpath(bind_check_string(L, 1), NULL);
    lua_pushstring(L, path); /* nil where there is none */
    free(path);
    return 1;
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int system_files(lua_State *L)
{
    struct dirent **entries;
    const char *folder = bind_check_string(L, 1);
    lua_newtable(L);
    int n = scandir(folder, &entries, is_visible, alphasort);
    for (int i = 0; i < n; i++) {
        lua_pushstring(L, entries[i]->d_name);
        lua_rawseti(L, -2, i + 1);
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
    return 1;
}

static const bind_function functions[] = {
    {"threads", system_threads,
     "ladies.threads([n]) -> n\n"
     "Sets (when given) and returns the number of threads of the parallel loops. Results do not\n"
     "depend on it. Where nobody has set it, it is the number of processors that this process may use:\n"
     "no more than its control groups' quota, rounded up, and its part of the host's where several\n"
     "ranks share it."},
    {"machine", system_machine,
     "ladies_core.machine() -> table\n"
     "What this process has of the machine: memory in bytes, the machine's or, where it is less, the\n"
     "limit of its control groups; processors that may be busy at a time; both divided by the ranks\n"
     "on this host. Besides, allowed: the processors that it may run on; all: those of the host, as far\n"
     "as control groups leave them; share: its part of these."},
    {"vector_units", system_vector_units,
     "ladies_core.vector_units([name]) -> \"AVX-512\" | \"AVX2\" | \"SSE2\" | \"NEON\" | \"none\"\n"
     "Sets (when given: avx512, avx2 or sse2, which this machine must have) and returns the vector\n"
     "units that the library's own loops run on, to the same bits. OpenBLAS chooses for itself."},
    {"memory", system_memory,
     "ladies.memory() -> table\n"
     "Bytes in use by owner (tensor, index, matrix, tape, scratch, io), as many as were asked for;\n"
     "total, their sum, and peak, the largest total since the start or the last memory_trim(); cached,\n"
     "bytes of the free blocks kept for reuse; resident_peak, the most that the process has had in\n"
     "memory. Besides, system_calls: how many blocks were taken from malloc."},
    {"memory_count", system_memory_count,
     "ladies_core.memory_count([n: integer]) -> integer, integer\n"
     "Counts what this thread takes of memory from now on, for the n-th count, for a new one, or for\n"
     "none (0). Returns the number of the count, and of the one so far. What is taken counts until it\n"
     "is freed, by whatever thread; the latest 16 counts are kept."},
    {"memory_counted", system_memory_counted,
     "ladies_core.memory_counted(n: integer) -> integer\n"
     "The bytes in use of what was taken for the n-th count; 0 of one that is not kept."},
    {"memory_trim", system_memory_trim,
     "ladies.memory_trim()\nCollects garbage and gives cached memory back to the system; the peak\n"
     "starts anew."},
    {"memory_fail_at", system_memory_fail_at,
     "ladies_core.memory_fail_at(n)\nFor tests: makes the n-th allocation from now fail, once; 0 "
     "stops\n"
     "this."},
    {"cancel_at", system_cancel_at,
     "ladies_core.cancel_at(n) -> boolean\n"
     "For tests: the n-th time from now that a loop asks whether it was interrupted, it was, and so it\n"
     "is until cancel_at(0). Whether it has come to that since the call before."},
    {"limit_entries", system_limit_entries,
     "ladies_core.limit_entries(n)\n"
     "For tests: the positions of a matrix's entries count as too large for an Index where there are\n"
     "more than n, as they are where there are 2^31; 0 stops this."},
    {"blas", system_blas,
     "ladies_core.blas() -> string\n"
     "Which BLAS computes dense products, and its kernels here: \"OpenBLAS 0.3.21 Zen\"."},
    {"clock", system_clock, "ladies_core.clock() -> number\nMonotonic time in seconds."},
    {"isatty", system_isatty,
     "ladies_core.isatty(descriptor) -> boolean\nWhether the file descriptor is a terminal."},
    {"hash", system_hash,
     "ladies_core.hash(text [, before]) -> string\n"
     "16 hexadecimal digits that depend on every byte of a text, and on the hash of what was before."},
    {"printable", system_printable,
     "ladies_core.printable(text [, lines]) -> string\n"
     "The text with what must not reach a terminal, an axis or a table made visible: control\n"
     "characters, those that turn the direction of text, and bytes that are no UTF-8, as \\n and\n"
     "\\x1b. With lines = true, ends of lines and tabs stay."},
    {"blamed_line", system_blamed_line,
     "ladies_core.blamed_line() -> string\n"
     "\"FILE:LINE: \" of the line that an error raised here blames: the nearest one on the stack that\n"
     "is in no source of the library; \"\" when there is none."},
    {"set_home", system_set_home,
     "ladies_core.set_home(text)\n"
     "Tells what the names of the library's sources begin with, as debug.getinfo has them, before a\n"
     "slash or before _NAME and a slash."},
    {"interruption", system_interruption,
     "ladies_core.interruption(text) -> Interruption\n"
     "What Ctrl-C raises, with this text as its message."},
    {"is_interruption", system_is_interruption,
     "ladies_core.is_interruption(value) -> boolean\nWhether an error came of Ctrl-C."},
    {"default_places", system_default_places,
     "ladies_core.default_places() -> string, string\n"
     "What package.path and package.cpath are where the environment says nothing."},
    {"mkdir", system_mkdir,
     "ladies_core.mkdir(path) -> boolean\nMakes a folder; false where something of this name exists."},
    {"truncate", system_truncate, "ladies_core.truncate(path, bytes)\nCuts a file to a length."},
    {"exists", system_exists,
     "ladies_core.exists(path) -> \"file\" | \"folder\" | \"other\" | false\n"
     "What the path leads to; \"other\" is a pipe, a device or a socket."},
    {"same_file", system_same_file,
     "ladies_core.same_file(path, path) -> boolean\n"
     "Whether both lead to one file or folder that is there, in whatever way they are written."},
    {"real_path", system_real_path,
     "ladies_core.real_path(path) -> string\n"
     "The path from the root, without links, to what is there; nil where nothing is."},
    {"files", system_files,
     "ladies_core.files(folder) -> table\nThe names in a folder, sorted, without hidden ones; empty where\n"
     "there is no such folder."},
    {NULL, NULL, NULL},
};

void bind_open_system(lua_State *L)
{
    bind_functions(L, functions);
    lua_pushstring(L, LD_VERSION);
    lua_setfield(L, -2, "version");
}

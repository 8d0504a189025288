/* Writes each line of lua/ that a process executes, once, to the file LADIES_LINES as it is reached,
 * so that a process that is killed has written what it did. Tests load it by LUA_INIT, which is for the
 * first state of a process: the states of workers have no hook. A hook in Lua would make tests that
 * compute in Lua twenty times slower. */
#include <fcntl.h>
#include <lauxlib.h>
#include <lua.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LINES = 4096, SLOTS = 4096 };

typedef struct source {
    char *name;            /* as Lua has it, "@" and the path */
    const char *path;      /* below lua/, or NULL for a source that is not there */
    bool seen[MOST_LINES]; /* by line */
    struct source *next;
} source;

static int out = -1;
static source *sources;
static source *found[SLOTS]; /* what was found last, by the address of the name */

static const char *path_of(const char *name)
{
    const char *folder = name[0] == '@' ? strstr(name, "/lua/5.4/") : NULL;
    return folder && strncmp(name, "@/usr/", 6) != 0 ? folder + strlen("/lua/5.4/") : NULL;
}

/* Returns NULL where memory is short. The collector of Lua may give an address to another name. */
static source *source_of(const char *name)
{
    source **slot = &found[((uintptr_t)name >> 4) % SLOTS];
    if (*slot && strcmp((*slot)->name, name) == 0)
        return *slot;
    source *s = sources;
    while (s && strcmp(s->name, name) != 0)
        s = s->next;
    if (!s && (s = calloc(1, sizeof *s)) != NULL) {
        s->name = strdup(name);
        if (!s->name) {
            free(s);
            return NULL;
        }
        s->path = path_of(s->name);
        s->next = sources;
        sources = s;
    }
    return *slot = s;
}

static void on_line(lua_State *L, lua_Debug *at)
{
    if (at->event != LUA_HOOKLINE)
        return;
    lua_getinfo(L, "S", at);
    source *s = source_of(at->source);
    int line = at->currentline;
    if (!s || !s->path || line < 0 || line >= MOST_LINES || s->seen[line])
        return;
    s->seen[line] = true;
    dprintf(out, "lua/%s %d\n", s->path, line);
}

static void set_own_hook(lua_State *L)
{
    lua_sethook(L, on_line, LUA_MASKLINE, 0);
}

/* Calls the function of the debug library that the upvalue is, with the arguments. */
static int call_original(lua_State *L)
{
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
    return lua_gettop(L);
}

/* debug.gethook and debug.sethook as they are where nothing counts: the counter is no hook, and is
 * there again when another one is taken away. */
static int get_hook(lua_State *L)
{
    return lua_gethook(L) == on_line ? 0 : call_original(L);
}

static int set_hook(lua_State *L)
{
    int n_results = call_original(L);
    if (!lua_gethook(L))
        set_own_hook(L);
    return n_results;
}

static void wrap(lua_State *L, const char *name, lua_CFunction function)
{
    lua_getfield(L, -1, name);
    lua_pushcclosure(L, function, 1);
    lua_setfield(L, -2, name);
}

/* A new coroutine has the hook of the thread that makes it. */
LUALIB_API int count_lines(lua_State *L)
{
    const char *path = getenv("LADIES_LINES");
    out = path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666) : -1;
    if (out < 0)
        return 0;
    set_own_hook(L);
    lua_getglobal(L, "debug");
    wrap(L, "gethook", get_hook);
    wrap(L, "sethook", set_hook);
    return 0;
}

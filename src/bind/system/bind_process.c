/* process: other programs, without a shell in between. */
#include "system/process.h"

#include <string.h>
#include <unistd.h>

#include "state/bind.h"

extern char **environ; /* POSIX has it in no header */

#define BIND_PROCESS "ladies.Process"

static const lua_Number FOREVER = 1e18;

static ld_process *process(lua_State *L)
{
    return bind_check_userdata(L, 1, BIND_PROCESS);
}

/* The words at 1 as an array that ends with NULL; pushed. */
static char **push_words(lua_State *L)
{
    bind_check_type(L, 1, LUA_TTABLE);
    int64_t count = (int64_t)lua_rawlen(L, 1);
    char **words = lua_newuserdatauv(L, ((size_t)count + 1) * sizeof *words, 0);
    for (int64_t i = 0; i < count; i++) {
        if (lua_rawgeti(L, 1, i + 1) != LUA_TSTRING)
            bind_error(L, "process.start: word %d must be a string", (int)i + 1);
        size_t length;
        words[i] = (char *)lua_tolstring(L, -1, &length); /* the table at 1 keeps it */
        if (strlen(words[i]) != length)
            bind_error(L, "process.start: word %d has a zero byte", (int)i + 1);
        lua_pop(L, 1);
    }
    words[count] = NULL;
    bind_arg_check(L, count > 0, 1, "no program");
    return words;
}

/* This process's environment with the fields of the table `env` of the options; pushed. */
static char **push_environment(lua_State *L)
{
    int64_t count = 0;
    while (environ[count])
        count++;
    if (!bind_option(L, 2, "env"))
        lua_newtable(L);
    int env = lua_gettop(L);
    bind_check_type(L, env, LUA_TTABLE);
    for (lua_pushnil(L); lua_next(L, env); lua_pop(L, 1)) {
        const char *name = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : NULL;
        if (!name || *name == '\0' || strchr(name, '=') || strlen(name) != lua_rawlen(L, -2))
            bind_error(L, "process.start: env has the key '%s', which is no name of a variable",
                       bind_show(L, -2));
        if (!lua_isstring(L, -1) || strlen(lua_tostring(L, -1)) != lua_rawlen(L, -1))
            bind_error(L, "process.start: env.%s must be a text without a zero byte, not a %s",
                       name, luaL_typename(L, -1));
        count++;
    }
    lua_newtable(L); /* keeps the texts */
    int texts = lua_gettop(L);
    char **all = lua_newuserdatauv(L, ((size_t)count + 1) * sizeof *all, 1), **to = all;
    for (lua_pushnil(L); lua_next(L, env); lua_pop(L, 1)) {
        *to++ = (char *)lua_pushfstring(L, "%s=%s", bind_check_string(L, -2), lua_tostring(L, -1));
        lua_rawseti(L, texts, (lua_Integer)lua_rawlen(L, texts) + 1);
    }
    for (char **p = environ; *p; p++) {
        lua_pushlstring(L, *p, strcspn(*p, "="));
        if (lua_rawget(L, env) == LUA_TNIL)
            *to++ = *p;
        lua_pop(L, 1);
    }
    *to = NULL;
    lua_pushvalue(L, texts);
    lua_setiuservalue(L, -2, 1);
    return all;
}

static int process_start(lua_State *L)
{
    static const char *const options[] = {"env", "log", NULL};
    bind_check_options(L, 2, "process.start", options);
    bind_option(L, 2, "log");
    const char *log = bind_opt_string(L, -1, "/dev/null");
    char **words = push_words(L), **environment = push_environment(L);
    ld_process *p = lua_newuserdatauv(L, sizeof *p, 0);
    *p = (ld_process){0, 0};
    luaL_setmetatable(L, BIND_PROCESS);
    bind_check(L, ld_process_start(p, words, environment, log));
    return 1;
}

static int process_exists(lua_State *L)
{
    lua_pushboolean(L, ld_process_exists(bind_check_string(L, 1)));
    return 1;
}

static int process_lives(lua_State *L)
{
    lua_Integer pid = bind_check_integer(L, 1);
    lua_pushboolean(L, pid > 0 && pid <= INT32_MAX && ld_process_lives((pid_t)pid));
    return 1;
}

static int process_wait(lua_State *L)
{
    bool ended;
    ld_process *p = process(L);
    lua_Number seconds = bind_opt_number(L, 2, FOREVER);
    bind_arg_check(L, seconds >= 0, 2, "must be 0 or more seconds");
    bind_check(L, ld_process_wait(&ended, p, seconds));
    if (ended)
        lua_pushinteger(L, p->status);
    else
        lua_pushnil(L);
    return 1;
}

static int process_stop(lua_State *L)
{
    ld_process_stop(process(L));
    return 0;
}

static int process_get(lua_State *L)
{
    return bind_no_field(L, BIND_PROCESS);
}

static const bind_function functions[] = {
    {"start", process_start,
     "process.start({program, argument, ...} [, {log = path, env = {NAME = value}}]) -> Process\n"
     "Starts a program, a path or what PATH leads to, with its arguments as they are and without a\n"
     "shell. It reads nothing, and what it prints goes to `log`. It ends with this one at the\n"
     "latest, and at the end of the scope of a <close> variable."},
    {"exists", process_exists,
     "process.exists(name) -> boolean\nWhether PATH leads to a program of this name."},
    {"lives", process_lives,
     "process.lives(number: integer) -> boolean\n"
     "Whether a process of this number is there and has not ended."},
    {NULL, NULL, NULL},
};

static const bind_function methods[] = {
    {"wait", process_wait,
     "p:wait([seconds: number]) -> integer | nil\n"
     "Waits for its end, at most so long: its exit status (128 + n after signal n), or nil while\n"
     "it runs."},
    {"stop", process_stop, "p:stop()\nEnds the program and those that it has started."},
    {NULL, NULL, NULL},
};

void bind_open_process(lua_State *L)
{
    static const luaL_Reg meta[] = {
        {"__gc", process_stop}, {"__close", process_stop}, {NULL, NULL}};
    static const char *const properties[] = {NULL};
    bind_class(L, BIND_PROCESS, methods, meta, properties, process_get);
    lua_newtable(L);
    bind_functions(L, functions);
    lua_setfield(L, -2, "process");
}

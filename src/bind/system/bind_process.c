/* ladies.process: runs other programs, without a shell in between. */
#include "system/process.h"

#include <string.h>
#include <unistd.h>

#include "state/bind.h"

extern char **environ; /* POSIX has it in no header */

#define BIND_PROCESS "ladies.Process"

static const lua_Number FOREVER = 1e18;

/* Pushes a userdata with the words of the table at 1, up to NULL, and returns it. */
static char **push_words(lua_State *L)
{
    int64_t count = (int64_t)lua_rawlen(L, 1);
    char **words = lua_newuserdatauv(L, ((size_t)count + 1) * sizeof *words, 0);
    for (int64_t i = 0; i < count; i++) {
        lua_rawgeti(L, 1, i + 1);
        if (!bind_is_text(L, -1))
            bind_error(L, "process.start: word %d must be a string without zero bytes, not a %s",
                       (int)i + 1, luaL_typename(L, -1));
        words[i] = (char *)lua_tostring(L, -1); /* the table at 1 keeps it */
        lua_pop(L, 1);
    }
    words[count] = NULL;
    bind_arg_check(L, count > 0, 1, "no program");
    return words;
}

/* Pushes a userdata with this process's environment and the fields of the option `env`, which is at
 * 4, and returns it. */
static char **push_environment(lua_State *L)
{
    int64_t count = 0;
    while (environ[count])
        count++;
    int env = 4;
    if (lua_isnil(L, env)) {
        lua_newtable(L);
        lua_replace(L, env);
    }
    for (lua_pushnil(L); lua_next(L, env); lua_pop(L, 1)) {
        const char *name = bind_is_text(L, -2) ? lua_tostring(L, -2) : "";
        if (*name == '\0' || strchr(name, '='))
            bind_error(L, "process.start: env has the key '%s', which is no name of a variable",
                       bind_show(L, -2));
        if (!lua_tostring(L, -1) || !bind_is_text(L, -1))
            bind_error(L, "process.start: env.%s must be a string without zero bytes, not a %s",
                       name, luaL_typename(L, -1));
        count++;
    }
    lua_newtable(L); /* keeps the texts alive */
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

static ld_status process_start(bind_call *c)
{
    lua_State *L = c->L;
    const char *log = c->in[2].text ? c->in[2].text : "/dev/null";
    char **words = push_words(L), **environment = push_environment(L);
    ld_process *p = lua_newuserdatauv(L, sizeof *p, 0);
    *p = (ld_process){0, 0};
    luaL_setmetatable(L, BIND_PROCESS);
    return ld_process_start(p, words, environment, log);
}

static ld_status process_exists(bind_call *c)
{
    c->out[0].flag = ld_process_exists(c->in[0].text);
    return LD_OK;
}

static ld_status process_lives(bind_call *c)
{
    lua_Integer pid = c->in[0].integer;
    c->out[0].flag = pid > 0 && pid <= INT32_MAX && ld_process_lives((pid_t)pid);
    return LD_OK;
}

static ld_status process_wait(bind_call *c)
{
    bool ended;
    ld_process *p = c->in[0].object;
    lua_Number seconds = lua_isnil(c->L, 2) ? FOREVER : c->in[1].number;
    bind_arg_check(c->L, seconds >= 0, 2, "must be 0 or more seconds");
    bind_check(c->L, ld_process_wait(&ended, p, seconds));
    if (ended)
        lua_pushinteger(c->L, p->status);
    else
        lua_pushnil(c->L);
    return LD_OK;
}

static int process_stop(lua_State *L)
{
    ld_process_stop(bind_check_userdata(L, 1, BIND_PROCESS));
    return 0;
}

static const bind_function functions[] = {
    {"start", process_start,
     "process.start({program, argument, ...} [, {log = path, env = table}]) -> Process\n"
     "Starts a program, a path or what PATH leads to, with its arguments as they are and without a\n"
     "shell. It reads nothing, and what it prints goes to `log`. It ends with this one at the\n"
     "latest, and at the end of the scope of a <close> variable."},
    {"exists", process_exists,
     "process.exists(name) -> boolean\n"
     "True if PATH leads to a program of this name."},
    {"lives", process_lives,
     "process.lives(number: integer) -> boolean\n"
     "True if a process of this number is there and has not ended."},
    {NULL, NULL, NULL},
};

static const bind_function methods[] = {
    {"wait", process_wait,
     "p:wait([seconds: number]) -> integer | nil\n"
     "Waits for its end, at most so long: its exit status (128 + n after signal n), or nil while\n"
     "it runs."},
    {"stop", NULL, "p:stop()\nEnds the program and those that it has started.",
     .raw = process_stop},
    {NULL, NULL, NULL},
};

static const bind_class class = {
    .name = BIND_PROCESS, .release = process_stop, .closes = true, .methods = methods};

const bind_subject bind_subject_process = {.classes = {&class},
                                           .functions = {{functions, "process"}}};

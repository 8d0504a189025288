/* The prompt reads a line, and further ones where that is no whole chunk yet, runs it and prints what
 * comes of it. What a chunk is, what a value or an error looks like and how a name is completed is
 * decided in lua/ladies/prompt/repl.lua, the policy. */
#include "repl.h"

#include <lauxlib.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "interrupt.h"
#include "line.h"

static int explain = LUA_NOREF; /* registry reference of the policy's function of that name */

/* The prompt text: a global variable, as in lua.c, or the standard one. Pushes one string. */
static const char *push_prompt(lua_State *L, const char *variable, const char *standard)
{
    if (lua_getglobal(L, variable) == LUA_TNIL)
        lua_pushstring(L, standard);
    else
        luaL_tolstring(L, -1, NULL);
    lua_remove(L, -2);
    return lua_tostring(L, -1);
}

/* Pushes the line that was read, if any. */
static ld_line_result read_line(lua_State *L, const char *variable, const char *standard)
{
    int base = lua_gettop(L);
    ld_line_result result = ld_line_read(L, push_prompt(L, variable, standard));
    lua_remove(L, base + 1);
    return result;
}

/* Calls policy.NAME with the n_args values on top of the stack; pushes the first n_results of its results. */
static void consult(lua_State *L, int policy, const char *name, int n_args, int n_results)
{
    lua_getfield(L, policy, name);
    lua_insert(L, -(n_args + 1));
    lua_call(L, n_args, n_results);
}

/* Reads a chunk of one line or more. For LD_LINE_READ pushes its text and then the function that it
 * became, or nil and the message. LD_LINE_DROPPED: Ctrl-D behind a part of one. */
static ld_line_result read_chunk(lua_State *L, int policy)
{
    consult(L, policy, "begin_chunk", 0, 0);
    ld_line_result result = read_line(L, "_PROMPT", "> ");
    if (result != LD_LINE_READ)
        return result;
    int text = lua_gettop(L);
    for (;;) {
        lua_pushvalue(L, text);
        consult(L, policy, "load", 1, 3);
        bool wants_more = lua_toboolean(L, -1);
        lua_pop(L, 1);
        if (!wants_more)
            return LD_LINE_READ;
        result = read_line(L, "_PROMPT2", ">> ");
        if (result == LD_LINE_END && !isatty(STDIN_FILENO))
            return LD_LINE_READ; /* the message says what is missing */
        if (result == LD_LINE_END)
            return LD_LINE_DROPPED;
        if (result == LD_LINE_INTERRUPTED)
            return result;
        lua_pushvalue(L, text);
        lua_pushliteral(L, "\n");
        lua_rotate(L, -3, 2);
        lua_concat(L, 3);
        lua_replace(L, text);
        lua_settop(L, text);
    }
}

static void report(lua_State *L)
{
    fflush(stdout);
    if (ld_interrupt_ended_call())
        fputs("\ninterrupted\n", stderr); /* below the terminal's ^C */
    else
        fprintf(stderr, "%s\n", lua_tostring(L, -1));
}

/* Prints what lies on the stack above `base`. */
static void print_results(lua_State *L, int policy, int base)
{
    int n = lua_gettop(L) - base;
    if (n == 0)
        return;
    luaL_checkstack(L, LUA_MINSTACK, "too many results to print");
    lua_getfield(L, policy, "results");
    lua_pushinteger(L, ld_line_width());
    lua_rotate(L, base + 1, 2);
    if (ld_interrupt_call(L, n + 1, 1, explain) == LUA_OK)
        puts(lua_tostring(L, -1));
    else
        report(L);
}

static void remember(lua_State *L, int policy, const char *text)
{
    ld_line_remember(text);
    lua_pushstring(L, text);
    consult(L, policy, "append_history", 1, 0);
}

/* Runs the function on top of the stack and prints its results. */
static void run_chunk(lua_State *L, int policy)
{
    int base = lua_gettop(L) - 1;
    if (ld_interrupt_call(L, 0, LUA_MULTRET, explain) == LUA_OK)
        print_results(L, policy, base);
    else
        report(L);
    lua_settop(L, base);
}

/* Starts line editing with the entries that the history file holds. */
static void open_editor(lua_State *L, int policy)
{
    lua_getfield(L, policy, "tab");
    ld_line_open(L);
    consult(L, policy, "read_history", 0, 1);
    for (int i = 1; lua_rawgeti(L, -1, i) == LUA_TSTRING; i++) {
        ld_line_remember(lua_tostring(L, -1));
        lua_pop(L, 1);
    }
    lua_settop(L, policy);
}

static void push_module(lua_State *L, const char *name)
{
    lua_getglobal(L, "require");
    lua_pushstring(L, name);
    lua_call(L, 1, 1);
}

/* Pushes the module of the prompt's policy, which has made its globals. */
static int open_policy(lua_State *L)
{
    push_module(L, "ladies");
    lua_pop(L, 1);
    push_module(L, "ladies.prompt.repl");
    int policy = lua_gettop(L);
    if (explain == LUA_NOREF) {
        consult(L, policy, "open", 0, 0);
        lua_getfield(L, policy, "explain");
        explain = luaL_ref(L, LUA_REGISTRYINDEX);
    }
    return policy;
}

bool ld_repl_script(lua_State *L, const char *path, int (*push_arguments)(lua_State *L))
{
    int policy = open_policy(L);
    lua_pushstring(L, path);
    consult(L, policy, "load_file", 1, 2);
    bool is_loaded = !lua_isnil(L, -2);
    lua_pop(L, is_loaded);
    bool went_well = is_loaded && ld_interrupt_call(L, push_arguments(L), 0, explain) == LUA_OK;
    if (!went_well)
        report(L);
    lua_settop(L, policy - 1);
    return went_well;
}

void ld_repl_run(lua_State *L)
{
    int policy = open_policy(L), interruptions = 0;
    open_editor(L, policy);
    for (;;) {
        lua_settop(L, policy);
        ld_line_result result = read_chunk(L, policy);
        if (result == LD_LINE_END)
            break;
        if (result == LD_LINE_DROPPED) {
            puts("");
            continue;
        }
        if (result == LD_LINE_INTERRUPTED) {
            if (++interruptions > 1)
                puts("to leave, press Ctrl-D or call os.exit()");
            continue;
        }
        interruptions = 0;
        const char *text = lua_tostring(L, policy + 1);
        if (*text)
            remember(L, policy, text);
        if (lua_isfunction(L, policy + 2)) {
            lua_settop(L, policy + 2);
            run_chunk(L, policy);
        } else {
            fprintf(stderr, "%s\n", lua_tostring(L, policy + 3));
        }
        fflush(stdout);
    }
    ld_line_close();
    puts("");
    lua_settop(L, policy - 1);
}

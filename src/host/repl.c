/* The interactive prompt. It reads a line, and further ones where that is no whole chunk yet, runs
 * it and prints its values. lua/ladies/prompt/repl.lua, the policy, decides what a chunk is, how a
 * value or an error looks, and how a name is completed. */
#include "repl.h"

#include <lauxlib.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "interrupt.h"
#include "line.h"
#include "state/open.h"

/* Registry references: the policy, and its function `explain`. */
static int opened = LUA_NOREF, explain = LUA_NOREF;

static int to_text(lua_State *L)
{
    luaL_tolstring(L, 1, NULL);
    return 1;
}

/* Pushes the text of the prompt: a global variable, as in lua.c, or the standard one where it is
 * missing or has no text to give. Neither a strict _G nor a __tostring that fails ends the
 * prompt. */
static const char *push_prompt(lua_State *L, const char *variable, const char *standard)
{
    int top = lua_gettop(L);
    lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
    lua_pushcfunction(L, to_text);
    lua_pushstring(L, variable);
    bool is_there = lua_rawget(L, top + 1) != LUA_TNIL;
    if (!is_there || ld_interrupt_call(L, 1, 1, LUA_NOREF) != LUA_OK)
        lua_pushstring(L, standard);
    lua_replace(L, top + 1);
    lua_settop(L, top + 1);
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

static void report(lua_State *L)
{
    fflush(stdout);
    if (ld_interrupt_ended_call())
        fputs("\ninterrupted\n", stderr); /* below the terminal's ^C */
    else
        fprintf(stderr, "%s\n", lua_tostring(L, -1));
}

/* Calls policy.NAME with the n_args values on top of the stack; pushes the first n_results of its
 * results. Whatever a session has done to the libraries that the policy is written with, a call
 * that fails is reported and the prompt goes on, with nil for the results. */
static void consult(lua_State *L, int policy, const char *name, int n_args, int n_results)
{
    int base = lua_gettop(L) - n_args;
    lua_getfield(L, policy, name);
    lua_insert(L, base + 1);
    if (ld_interrupt_call(L, n_args, n_results, LUA_NOREF) == LUA_OK)
        return;
    report(L);
    lua_settop(L, base);
    lua_settop(L, base + n_results);
}

/* Reads a chunk of one line or more. For LD_LINE_READ it pushes the text and then the function that
 * the text became, or nil and the message, which is nil if it was printed already. LD_LINE_DROPPED:
 * Ctrl-D behind a part of a chunk. */
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

/* Prints what lies on the stack above `base`. */
static void print_results(lua_State *L, int policy, int base)
{
    int n = lua_gettop(L) - base;
    if (n == 0)
        return;
    if (!lua_checkstack(L, LUA_MINSTACK)) {
        fprintf(stderr, "too many results to print: %d\n", n);
        return;
    }
    lua_getfield(L, policy, "results");
    lua_pushinteger(L, ld_line_width());
    lua_rotate(L, base + 1, 2);
    if (ld_interrupt_call(L, n + 1, 1, explain) == LUA_OK)
        puts(lua_isstring(L, -1) ? lua_tostring(L, -1) : "");
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
    for (int i = 1; lua_istable(L, -1) && lua_rawgeti(L, -1, i) == LUA_TSTRING; i++) {
        ld_line_remember(lua_tostring(L, -1));
        lua_pop(L, 1);
    }
    lua_settop(L, policy);
}

/* Pushes the module of the prompt's policy, which has made its globals. It is kept in the registry,
 * since a script may change `require` and all modules. */
static int open_policy(lua_State *L)
{
    if (opened == LUA_NOREF) {
        bind_push_module(L, "ladies");
        lua_pop(L, 1);
        bind_push_module(L, "ladies.prompt.repl");
        lua_pushvalue(L, -1);
        opened = luaL_ref(L, LUA_REGISTRYINDEX);
        lua_getfield(L, -1, "explain");
        explain = luaL_ref(L, LUA_REGISTRYINDEX);
        consult(L, lua_gettop(L), "open", 0, 0);
    } else {
        lua_rawgeti(L, LUA_REGISTRYINDEX, opened);
    }
    return lua_gettop(L);
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
        } else if (lua_isstring(L, policy + 3)) {
            fprintf(stderr, "%s\n", lua_tostring(L, policy + 3));
        }
        fflush(stdout);
    }
    ld_line_close();
    puts("");
    lua_settop(L, policy - 1);
}

/* The program `ladies`: Lua with the library built in. Options, scripts and exit statuses are those
 * of lua5.4; besides, `ladies NAME` runs the script of that name from the program's own tree. */
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/version.h"
#include "complain.h"
#include "embedded.h"
#include "interrupt.h"
#include "line.h"
#include "memory/mapped_file.h"
#include "module.h"
#include "repl.h"
#include "state/bind.h"
#include "streams.h"
#include "system/simd.h"
#include "tree.h"

enum { STATUS_INTERRUPTED = 128 + SIGINT };

typedef struct {
    char **argv;
    int argc;
    int script; /* position of the script or command in argv; argc if there is none */
    bool bad, help, interactive, version, statement, no_environment;
    int status; /* what the program exits with */
} invocation;

static const char usage[] =
    "usage: ladies [options] [script [args]]   run a script (x/y, x.lua; - for stdin)\n"
    "       ladies NAME [args]                 run a command; `ladies help` has all\n"
    "       ladies                             the prompt\n"
    "  -e stat   execute string 'stat', with the library in the global 'ladies'\n"
    "  -i        enter the prompt after executing 'script', also when it fails\n"
    "  -l mod    require library 'mod' into global 'mod'\n"
    "  -l g=mod  require library 'mod' into global 'g'\n"
    "  -v        show version information, as --version does\n"
    "  -E        ignore environment variables\n"
    "  -W        turn warnings on\n"
    "  --help    show this text\n"
    "  --        stop handling options\n"
    "  -         stop handling options and execute stdin\n";

/* Finds the options in argv. On a bad one, `script` is its position. */
static void read_options(invocation *run)
{
    char **argv = run->argv;
    int i = 1;
    for (; i < run->argc && argv[i][0] == '-' && argv[i][1]; i++) {
        const char *option = argv[i] + 1;
        run->script = i;
        if (strcmp(option, "-help") == 0) {
            run->help = true;
            return;
        }
        if (strcmp(option, "-version") == 0) {
            run->version = true;
            continue;
        }
        if (strcmp(option, "-") == 0) {
            i++;
            break;
        }
        bool takes_value = *option == 'e' || *option == 'l';
        run->bad = !strchr("EWeilv", *option) || (!takes_value && option[1]);
        if (takes_value && !option[1]) /* the value is the next argument */
            run->bad = ++i == run->argc || argv[i][0] == '-';
        if (run->bad)
            return;
        run->interactive |= *option == 'i';
        run->version |= *option == 'v' || *option == 'i';
        run->statement |= *option == 'e';
        run->no_environment |= *option == 'E';
    }
    run->script = i;
}

static void print_version(void)
{
    printf("ladies " LD_VERSION " (" LUA_RELEASE ", %s)\n", ld_vector_units());
    fflush(stdout);
}

/* Prints the message that a failed call has left. Returns whether there was none. */
static bool report(lua_State *L, int status)
{
    if (status == LUA_OK)
        return true;
    fflush(stdout);
    if (!ld_interrupt_by_launcher())
        ld_complain(lua_tostring(L, -1));
    lua_pop(L, 1);
    return false;
}

/* Calls the chunk below the arguments if it was loaded, which `status` says, and reports the error
 * otherwise. `explain` is the reference of a function that describes errors, or LUA_NOREF. */
static bool call_explained(lua_State *L, int status, int n_args, int explain)
{
    if (status == LUA_OK)
        status = ld_interrupt_call(L, n_args, 0, explain);
    return report(L, status);
}

static bool call_loaded(lua_State *L, int status, int n_args)
{
    return call_explained(L, status, n_args, LUA_NOREF);
}

/* Describes an error that ends the user's own script or statement, in words that a Lua module has:
 * which line failed, and what may help. */
static int explain_error(lua_State *L)
{
    bind_push_module(L, "ladies.base.script_error");
    lua_pushvalue(L, 1);
    lua_call(L, 1, 1);
    return 1;
}

/* Returns a registry reference of explain_error, for call_explained. */
static int new_explainer(lua_State *L)
{
    lua_pushcfunction(L, explain_error);
    return luaL_ref(L, LUA_REGISTRYINDEX);
}

/* Sets the global `arg`: the script at 0, what precedes it below, its arguments above. */
static void push_arg_table(lua_State *L, const invocation *run)
{
    int zero = run->script == run->argc ? 0 : run->script;
    lua_createtable(L, run->argc - zero, zero + 1);
    for (int i = 0; i < run->argc; i++) {
        lua_pushstring(L, run->argv[i]);
        lua_rawseti(L, -2, i - zero);
    }
    lua_setglobal(L, "arg");
}

static bool run_init_variable(lua_State *L)
{
    const char *name = "=LUA_INIT_" LUA_VERSION_MAJOR "_" LUA_VERSION_MINOR;
    const char *init = getenv(name + 1);
    if (!init)
        init = getenv((name = "=LUA_INIT") + 1);
    if (!init)
        return true;
    int status =
        init[0] == '@' ? luaL_loadfile(L, init + 1) : luaL_loadbuffer(L, init, strlen(init), name);
    return call_loaded(L, status, 0);
}

/* Loads the library that -l names, as MODULE or GLOBAL=MODULE, into a global. */
static bool require_library(lua_State *L, const char *text)
{
    const char *equals = strchr(text, '=');
    const char *global = equals ? lua_pushlstring(L, text, (size_t)(equals - text)) : text;
    lua_getglobal(L, "require");
    lua_pushstring(L, equals ? equals + 1 : text);
    if (!report(L, ld_interrupt_call(L, 1, 1, LUA_NOREF)))
        return false;
    lua_setglobal(L, global);
    return true;
}

static bool run_statement(lua_State *L, const char *text)
{
    if (!require_library(L, "ladies"))
        return false;
    int status = luaL_loadbuffer(L, text, strlen(text), "=(command line)");
    return call_explained(L, status, 0, new_explainer(L));
}

/* Does what the options -e, -l and -W say, in the order of the command line. */
static bool run_options(lua_State *L, const invocation *run)
{
    for (int i = 1; i < run->script; i++) {
        char option = run->argv[i][1];
        if (option == 'W')
            lua_warning(L, "@on", 0);
        if (option != 'e' && option != 'l')
            continue;
        const char *value = run->argv[i][2] ? run->argv[i] + 2 : run->argv[++i];
        if (!(option == 'e' ? run_statement(L, value) : require_library(L, value)))
            return false;
    }
    return true;
}

/* Pushes args[1..] as the global `arg` holds them now. */
static int push_arguments(lua_State *L)
{
    if (lua_getglobal(L, "arg") != LUA_TTABLE)
        luaL_error(L, "'arg' is not a table");
    int table = lua_gettop(L), n = (int)luaL_len(L, table);
    luaL_checkstack(L, n + 3, "too many arguments to script");
    for (int i = 1; i <= n; i++)
        lua_rawgeti(L, table, i);
    lua_remove(L, table);
    return n;
}

static bool is_path(const char *name)
{
    size_t length = strlen(name);
    return strchr(name, '/') || (length >= 4 && strcmp(name + length - 4, ".lua") == 0);
}

/* Raises the error for an unknown command, which proposes similar ones. */
static void fail_unknown(lua_State *L, const char *name)
{
    bind_push_module(L, "ladies.command.commands");
    lua_getfield(L, -1, "unknown");
    lua_pushstring(L, name);
    lua_call(L, 1, 1);
    lua_error(L);
}

static bool run_script(lua_State *L, const invocation *run, const char *prefix)
{
    const char *name = run->argv[run->script];
    const char *path = name;
    int explain = LUA_NOREF;
    if (strcmp(name, "-") == 0)
        path = NULL;
    if (!path || is_path(name)) {
        explain = new_explainer(L);
    } else {
        ld_tree_leave_relative(L); /* a command has no business with modules that lie around */
        path = ld_tree_script(L, prefix, name);
        if (!path)
            fail_unknown(L, name);
    }
    if (run->interactive && path)
        return ld_repl_script(L, path, push_arguments);
    int status = luaL_loadfile(L, path);
    return call_explained(L, status, status == LUA_OK ? push_arguments(L) : 0, explain);
}

/* script(name) -> the path of the command's script, or nil */
static int host_script(lua_State *L)
{
    const char *name = luaL_checkstring(L, 1);
    if (!ld_tree_script(L, lua_tostring(L, lua_upvalueindex(1)), name))
        lua_pushnil(L);
    return 1;
}

/* is_terminal() -> boolean: whether standard output and standard error are terminals */
static int host_is_terminal(lua_State *L)
{
    lua_pushboolean(L, isatty(STDOUT_FILENO) && isatty(STDERR_FILENO));
    return 1;
}

/* width() -> the columns for texts: as COLUMNS says, or else those of the terminal, or 80 */
static int host_width(lua_State *L)
{
    const char *said = getenv("COLUMNS");
    long columns = said ? strtol(said, NULL, 10) : 0;
    lua_pushinteger(L, columns > 0 && columns < 10000 ? columns : ld_line_width());
    return 1;
}

static void open_libraries(lua_State *L, const char *prefix)
{
    luaL_openlibs(L);
    lua_register(L, "print", bind_print_line);
    ld_tree_add_to_path(L, prefix);
    ld_embedded_open(L);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
    lua_pushcfunction(L, luaopen_ladies_core);
    lua_setfield(L, -2, "ladies_core");
    lua_pop(L, 1);

    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    lua_newtable(L);
    ld_interrupt_open(L);
    ld_complain_open(L);
    lua_pushstring(L, prefix);
    lua_setfield(L, -2, "prefix");
    ld_tree_program(L);
    lua_setfield(L, -2, "program");
    lua_pushstring(L, prefix);
    lua_pushcclosure(L, host_script, 1);
    lua_setfield(L, -2, "script");
    lua_pushcfunction(L, host_is_terminal);
    lua_setfield(L, -2, "is_terminal");
    lua_pushcfunction(L, host_width);
    lua_setfield(L, -2, "width");
    lua_pushcfunction(L, ld_tree_make_private);
    lua_setfield(L, -2, "make_private");
    lua_pushstring(L, usage);
    lua_setfield(L, -2, "usage");
    lua_pushboolean(L, ld_line_editing);
    lua_setfield(L, -2, "line_editing");
    lua_setfield(L, -2, "ladies_host");
    lua_pop(L, 1);
}

static bool run_all(lua_State *L, const invocation *run)
{
    luaL_checkversion(L);
    if (run->no_environment) {
        lua_pushboolean(L, 1);
        lua_setfield(L, LUA_REGISTRYINDEX, "LUA_NOENV");
    }
    ld_tree_open(L, run->argv[0]);
    const char *prefix = ld_tree_prefix(L, run->no_environment);
    open_libraries(L, prefix);
    push_arg_table(L, run);
    if (!run->no_environment && !run_init_variable(L))
        return false;
    if (!run_options(L, run))
        return false;
    bool script = run->script < run->argc;
    if (script && !run_script(L, run, prefix) && !run->interactive)
        return false;
    bool nothing = !script && !run->statement && !run->version;
    if (nothing && !isatty(STDIN_FILENO))
        return call_loaded(L, luaL_loadfile(L, NULL), 0);
    if (nothing) {
        print_version();
        puts("tutorial() shows it in ten steps, ? lists the library, ?name explains a name,\n"
             "Tab completes, Ctrl-D leaves");
    }
    if (nothing || run->interactive)
        ld_repl_run(L);
    return true;
}

static int protected_main(lua_State *L)
{
    invocation *run = lua_touserdata(L, 1);
    if (run_all(L, run))
        run->status = EXIT_SUCCESS;
    else if (ld_interrupt_ended_call())
        run->status = STATUS_INTERRUPTED;
    return 0;
}

/* Writes a message from within a signal handler, with the name of the mapped file where it is
 * known. */
static void tell(const char *what, const char *file)
{
    const char *parts[] = {"ladies: ", what, *file ? " (" : "", file, *file ? ")\n" : "\n"};
    char line[LD_MAPPED_NAME + 100];
    size_t n = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        size_t more = strnlen(parts[i], sizeof line - 1 - n);
        memcpy(line + n, parts[i], more);
        n += more;
    }
    line[n] = '\0';
    ld_complain_in_handler(line);
}

/* Handles SIGBUS, which says that the pages of a mapped file are gone: tells so, which is all that
 * can be done, and ends the program. Several threads may meet that at the same time, and those that
 * come later wait for the end. */
static void on_sigbus(int signal_number)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    char name[LD_MAPPED_NAME] = "";
    while (atomic_flag_test_and_set(&told))
        pause();
    ld_mapped_file_changed_in_handler(name);
    tell("a file in use was shortened, or its disk failed", name);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static struct sigaction before_segv, before_abort;

/* Handles SIGSEGV and SIGABRT. If another program overwrote a mapped file, the numbers read from it
 * can send a loop to memory that is not there, or damage the allocator's, which then aborts. Such a
 * change is reported, and the program ends as for any error. Any other fault ends it as it would
 * without this handler. */
static void on_fault(int signal_number, siginfo_t *info, void *context)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    char name[LD_MAPPED_NAME];
    (void)context;
    if (ld_mapped_file_changed_in_handler(name)) {
        while (atomic_flag_test_and_set(&told))
            pause(); /* for the thread that tells it */
        tell("a file was overwritten while it was in use", name);
        _exit(EXIT_FAILURE);
    }
    sigaction(signal_number, signal_number == SIGSEGV ? &before_segv : &before_abort, NULL);
    if (info->si_code <= 0) /* sent: it does not come again by itself */
        raise(signal_number);
}

/* Installs the handlers by sigaction, since those installed by signal() may serve one signal
 * only. */
static void heed_faults(void)
{
    struct sigaction bus = {.sa_handler = on_sigbus};
    struct sigaction fault = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    sigemptyset(&bus.sa_mask);
    sigemptyset(&fault.sa_mask);
    sigaction(SIGBUS, &bus, NULL);
    sigaction(SIGSEGV, &fault, &before_segv);
    sigaction(SIGABRT, &fault, &before_abort);
}

int main(int argc, char **argv)
{
    ld_streams_open();
    heed_faults();
    invocation run = {.argv = argv, .argc = argc, .status = EXIT_FAILURE};
    read_options(&run);
    if (run.bad) {
        const char *option = argv[run.script];
        bool needs = (option[1] == 'e' || option[1] == 'l') && !option[2];
        fprintf(stderr,
                needs ? "ladies: '%s' needs an argument\n" : "ladies: unknown option '%s'\n",
                option);
        fputs(usage, stderr);
        return EXIT_FAILURE;
    }
    if (run.help) {
        fputs(usage, stdout);
        return EXIT_SUCCESS;
    }
    if (run.version)
        print_version();
    if (ld_check_units() != LD_OK) {
        ld_complain(ld_message());
        return EXIT_FAILURE;
    }
    lua_State *L = luaL_newstate();
    if (!L) {
        ld_complain("cannot create a Lua state: not enough memory");
        return EXIT_FAILURE;
    }
    lua_pushcfunction(L, protected_main);
    lua_pushlightuserdata(L, &run);
    report(L, lua_pcall(L, 1, 0, 0));
    lua_close(L);
    if (run.status == STATUS_INTERRUPTED) {
        ld_streams_close();
        raise(SIGINT); /* a shell then knows to stop the loop that ran us */
    }
    return run.status;
}

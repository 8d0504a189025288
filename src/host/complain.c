#include "complain.h"

#include <lauxlib.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/printable.h"

enum { LATE_SECONDS = 1 };

static char who[256]; /* "rank 2 of 4 on HOST: ", or "" */
static bool late;

/* What is wrong with all processes, such as an option, one of them says: it then ends the others, by
 * a signal that is heeded no more. */
static void let_others_speak(void)
{
    if (!late)
        return;
    signal(SIGTERM, SIG_DFL);
    nanosleep(&(struct timespec){.tv_sec = LATE_SECONDS}, NULL);
}

static void put(const char *before, const char *message)
{
    const char *end = message + strlen(message);
    let_others_speak();
    fputs(who, stderr);
    fputs(before, stderr);
    while (message < end) { /* it may quote a file, or its name */
        char shown[LD_PRINTABLE];
        fwrite(shown, 1, (size_t)ld_printable(shown, &message, end, true), stderr);
    }
    fputc('\n', stderr);
}

void ld_complain(const char *message)
{
    put(strncmp(message, "ladies: ", 8) == 0 ? "" : "ladies: ", message);
}

/* complain(text): prints an error as it is. */
static int complain(lua_State *L)
{
    fflush(stdout);
    put("", luaL_checkstring(L, 1));
    return 0;
}

/* set_who(name, late): what stands before errors of this process, and whether it is one that lets
 * others speak first. */
static int set_who(lua_State *L)
{
    snprintf(who, sizeof who, "%s", luaL_checkstring(L, 1));
    late = lua_toboolean(L, 2);
    return 0;
}

void ld_complain_open(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"complain", complain}, {"set_who", set_who}, {NULL, NULL}};
    luaL_setfuncs(L, functions, 0);
}

/* Prints errors to standard error so that those of several processes, such as the ranks of a run,
 * do not mix, and one error that all of them have is printed once. */
#include "complain.h"

#include <lauxlib.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "text/printable.h"

enum { AT_ONCE = 4096 };

static char who[256]; /* "rank 2 of 4 on HOST: ", or "" */
static double late;   /* seconds */

/* Waits a moment before an error that all ranks may have, such as a wrong option. Meanwhile the
 * rank that speaks first prints it and ends the others by SIGTERM, which then takes effect at
 * once. */
static void let_others_speak(void)
{
    if (late <= 0)
        return;
    signal(SIGTERM, SIG_DFL);
    time_t whole = (time_t)late;
    nanosleep(&(struct timespec){whole, (long)((late - (double)whole) * 1e9)}, NULL);
}

/* A buffer of text that goes out in one write, so that the messages of several processes do not get
 * into one another. A longer message takes several writes, each up to the end of a line where there
 * is one. */
typedef struct {
    char bytes[AT_ONCE];
    size_t n, lines; /* bytes in the buffer, and those of its whole lines */
} piece;

static void write_out(piece *p, size_t n)
{
    fwrite(p->bytes, 1, n, stderr); /* stderr has no buffer of its own */
    p->n -= n;
    p->lines = 0;
    memmove(p->bytes, p->bytes + n, p->n);
}

static void append(piece *p, const char *bytes, size_t n)
{
    if (p->n + n > AT_ONCE)
        write_out(p, p->lines ? p->lines : p->n);
    memcpy(p->bytes + p->n, bytes, n);
    p->n += n;
    if (bytes[n - 1] == '\n')
        p->lines = p->n;
}

static void put(const char *before, const char *message)
{
    const char *end = message + strlen(message);
    piece p = {.n = 0};
    let_others_speak();
    p.n = (size_t)snprintf(p.bytes, AT_ONCE, "%s%s", who, before);
    while (message < end) { /* the message may quote bytes that are not printable */
        char shown[LD_PRINTABLE];
        append(&p, shown, (size_t)ld_printable(shown, &message, end, true));
    }
    append(&p, "\n", 1);
    write_out(&p, p.n);
}

void ld_complain(const char *message)
{
    put(strncmp(message, "ladies: ", 8) == 0 ? "" : "ladies: ", message);
}

void ld_complain_in_handler(const char *line)
{
    char bytes[sizeof who + 256];
    size_t n = strlen(who), more = strnlen(line, sizeof bytes - n);
    memcpy(bytes, who, n);
    memcpy(bytes + n, line, more);
    ssize_t written = write(STDERR_FILENO, bytes, n + more);
    (void)written;
}

/* The Lua function complain(text): prints an error without adding to it. */
static int complain(lua_State *L)
{
    fflush(stdout);
    put("", luaL_checkstring(L, 1));
    return 0;
}

/* The Lua function set_who(name, late): sets the name that this process puts before its errors,
 * and for how many seconds it lets other ranks speak first. */
static int set_who(lua_State *L)
{
    snprintf(who, sizeof who, "%s", luaL_checkstring(L, 1));
    late = luaL_checknumber(L, 2);
    return 0;
}

void ld_complain_open(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"complain", complain}, {"set_who", set_who}, {NULL, NULL}};
    luaL_setfuncs(L, functions, 0);
}

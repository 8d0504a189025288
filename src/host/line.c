/* Reads lines of the prompt without losing a signal.
 *
 * The terminal keeps its signal keys while a line is read. Our handlers only note the signal, and
 * signals are let in only while a byte is awaited. So none falls between looking for one and
 * waiting, and libedit is never left in the middle of something. */
#include "line.h"

#include <errno.h>
#include <langinfo.h>
#include <lauxlib.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <unistd.h>
#include <wchar.h>

#include "interrupt.h"
#include "text/decimal_point.h"

static bool terminal; /* standard input is one, and the signals are ours */
static const int signals[] = {SIGINT, SIGWINCH, SIGCONT};
enum { N_SIGNALS = sizeof signals / sizeof *signals };
static struct sigaction before[N_SIGNALS];
static sigset_t waiting; /* the signal mask while a byte is awaited */
static volatile sig_atomic_t interrupted, resized, continued;

static void note(int signal_number)
{
    if (ld_interrupt_forward(signal_number))
        return;
    if (signal_number == SIGINT)
        interrupted = 1;
    else if (signal_number == SIGWINCH)
        resized = 1;
    else
        continued = 1;
}

int ld_line_width(void)
{
    struct winsize size;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/* Takes one byte from the terminal, with our signals let in only while it waits. Returns 1, 0 at
 * the end of input, -1 when a signal came. */
static int next_byte(char *byte)
{
    fd_set input;
    FD_ZERO(&input);
    FD_SET(STDIN_FILENO, &input);
    ssize_t got = pselect(STDIN_FILENO + 1, &input, NULL, NULL, NULL, &waiting);
    if (got > 0)
        got = read(STDIN_FILENO, byte, 1);
    return got < 0 && errno == EINTR ? -1 : got > 0;
}

/* Reads a byte where standard input is no terminal, through the buffer that io.read uses too. */
static int next_buffered_byte(char *byte)
{
    int c = getc(stdin);
    *byte = (char)c;
    return c != EOF;
}

static ld_line_result read_plainly(lua_State *L, const char *prompt)
{
    int (*next)(char *) = terminal ? next_byte : next_buffered_byte;
    luaL_Buffer line;
    char byte = 0;
    int got;
    fputs(prompt, stdout);
    fflush(stdout);
    luaL_buffinit(L, &line);
    while ((got = next(&byte)) != 0 && !interrupted && byte != '\n')
        if (got > 0)
            luaL_addchar(&line, byte);
    luaL_pushresult(&line);
    if (!interrupted && (got > 0 || lua_rawlen(L, -1) > 0))
        return LD_LINE_READ;
    lua_pop(L, 1);
    if (interrupted)
        putchar('\n');
    return interrupted ? LD_LINE_INTERRUPTED : LD_LINE_END;
}

#ifdef LADIES_HAVE_EDITLINE

#include <histedit.h>

enum { HISTORY_ENTRIES = 1000 };

const bool ld_line_editing = true;

static struct {
    EditLine *el; /* NULL: standard input is no terminal */
    History *history;
    lua_State *L;
    int tab; /* registry reference of the completion function */
    const char *prompt;
} editor;

static char *show_prompt(EditLine *el)
{
    (void)el;
    return (char *)editor.prompt;
}

/* Sets the terminal up again after the process was stopped: the shell may have changed its modes,
 * and the cursor is elsewhere. */
static void resume(EditLine *el)
{
    el_set(el, EL_PREP_TERM, 0);
    el_set(el, EL_PREP_TERM, 1);
    el_set(el, EL_REFRESH);
}

/* Gives libedit its next character, and 0 at the end of input. It is libedit's EL_GETCFN, so that
 * signals are heeded while a key is awaited. */
static int next_key(EditLine *el, wchar_t *key)
{
    mbstate_t state = {0};
    for (;;) {
        if (interrupted) { /* ends the line as Enter does, below all that was typed */
            *key = L'\n';
            return 1;
        }
        if (resized)
            el_resize(el);
        if (continued)
            resume(el);
        resized = continued = 0;
        char byte;
        int got = next_byte(&byte);
        if (got < 0)
            continue;
        if (got == 0)
            return 0;
        size_t used = mbrtowc(key, &byte, 1, &state);
        if (used == 0 || used == 1)
            return 1;
        if (used == (size_t)-1) /* no character: leave it out */
            state = (mbstate_t){0};
    }
}

/* Calls the completion function with the text up to the cursor of the LineInfo. */
static int call_tab(lua_State *L)
{
    const LineInfo *line = lua_touserdata(L, 1);
    lua_rawgeti(L, LUA_REGISTRYINDEX, editor.tab);
    lua_pushlstring(L, line->buffer, (size_t)(line->cursor - line->buffer));
    lua_pushinteger(L, ld_line_width());
    lua_call(L, 2, 2);
    return 2;
}

static unsigned char complete(EditLine *el, int key)
{
    (void)key;
    lua_State *L = editor.L;
    int top = lua_gettop(L), result = CC_ERROR;
    lua_pushcfunction(L, call_tab);
    lua_pushlightuserdata(L, (void *)el_line(el));
    if (lua_pcall(L, 1, 2, 0) != LUA_OK) {
        printf("\nno completion: %s\n", luaL_tolstring(L, -1, NULL));
        result = CC_REDISPLAY;
    } else {
        const char *insert = lua_tostring(L, -2), *show = lua_tostring(L, -1);
        if (insert && *insert && el_insertstr(el, insert) == 0)
            result = CC_REFRESH;
        if (show) {
            printf("\n%s\n", show);
            result = CC_REDISPLAY;
        }
    }
    lua_settop(L, top);
    return (unsigned char)result;
}

/* The two texts that ask a terminal to mark the beginning and the end of what is pasted (bracketed
 * paste), and to stop doing so. */
static const char ask_for_marks[] = "\033[?2004h", no_more_marks[] = "\033[?2004l";
static const wchar_t end_of_paste[] = L"\033[201~";

/* Tells whether the terminal knows bracketed paste: older ones would show the requests as text. */
static bool has_marks(void)
{
    const char *term = getenv("TERM");
    return term && strcmp(term, "dumb") != 0 && strncmp(term, "vt", 2) != 0;
}

/* Inserts what is pasted up to its end, with its newlines and tabs, as one text to be edited; the
 * newline at its end is left to Enter. */
static unsigned char paste(EditLine *el, int key)
{
    (void)key;
    size_t length = 0, capacity = 0, n_end = wcslen(end_of_paste);
    wchar_t *text = NULL, next;
    bool ended = false;
    while (!ended && !interrupted && next_key(el, &next) == 1) {
        if (length + 2 > capacity) {
            capacity = 2 * capacity + 256;
            wchar_t *larger = realloc(text, capacity * sizeof *text);
            if (!larger)
                break;
            text = larger;
        }
        text[length++] = next == L'\r' ? L'\n' : next;
        ended = length >= n_end && wmemcmp(text + length - n_end, end_of_paste, n_end) == 0;
    }
    length -= ended ? n_end : 0;
    while (length > 0 && text[length - 1] == L'\n')
        length--;
    if (length > 0) {
        text[length] = L'\0';
        el_winsertstr(el, text);
    }
    free(text);
    return CC_REFRESH;
}

/* Sets the encoding of what is typed to that of the environment, or to UTF-8 where it names
 * none. */
static void choose_encoding(void)
{
    if (!setlocale(LC_CTYPE, "") || strcmp(nl_langinfo(CODESET), "ANSI_X3.4-1968") == 0)
        setlocale(LC_CTYPE, "C.UTF-8");
    ld_decimal_point_keep();
}

static void open_editor(lua_State *L)
{
    static const char *const keys[][2] = {
        {"^I", "ladies-complete"},     {"^R", "em-inc-search-prev"},
        {"^W", "ed-delete-prev-word"}, {"\\e[1~", "ed-move-to-beg"},
        {"\\e[4~", "ed-move-to-end"},  {"\\e[H", "ed-move-to-beg"},
        {"\\e[F", "ed-move-to-end"},   {"\\eOH", "ed-move-to-beg"},
        {"\\eOF", "ed-move-to-end"},   {"\\e[1;5C", "em-next-word"},
        {"\\e[1;5D", "ed-prev-word"},  {"\\e[3~", "ed-delete-next-char"},
        {"\\e[200~", "ladies-paste"},
    };
    HistEvent event;
    editor.L = L;
    if (terminal && isatty(STDOUT_FILENO)) {
        choose_encoding();
        editor.el = el_init("ladies", stdin, stdout, stderr);
    }
    if (editor.el) {
        el_set(editor.el, EL_PROMPT, show_prompt);
        el_set(editor.el, EL_EDITOR, "emacs");
        el_set(editor.el, EL_GETCFN, next_key);
        /* el_set would make copies of the two texts that nobody frees. */
        el_wset(editor.el, EL_ADDFN, L"ladies-complete", L"Complete a name", complete);
        el_wset(editor.el, EL_ADDFN, L"ladies-paste", L"Insert what is pasted", paste);
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
            el_set(editor.el, EL_BIND, keys[i][0], keys[i][1], NULL);
        el_source(editor.el, NULL);
        editor.history = history_init();
        history(editor.history, &event, H_SETSIZE, HISTORY_ENTRIES);
        history(editor.history, &event, H_SETUNIQUE, 1);
        el_set(editor.el, EL_HIST, history, editor.history);
    }
    editor.tab = luaL_ref(L, LUA_REGISTRYINDEX);
}

static void close_editor(void)
{
    if (editor.history)
        history_end(editor.history);
    if (editor.el)
        el_end(editor.el);
    editor.el = NULL;
    editor.history = NULL;
}

static ld_line_result read_line(lua_State *L, const char *prompt)
{
    if (!editor.el)
        return read_plainly(L, prompt);
    editor.prompt = prompt;
    int length = 0;
    fflush(stdout);
    el_resize(editor.el);
    el_set(editor.el, EL_PREP_TERM, 1); /* before the prompt invites anyone to type */
    bool marks = has_marks();
    fputs(marks ? ask_for_marks : "", stdout);
    const char *line = el_gets(editor.el, &length);
    fputs(marks ? no_more_marks : "", stdout);
    fflush(stdout);
    if (interrupted || !line || length <= 0)
        return interrupted ? LD_LINE_INTERRUPTED : LD_LINE_END;
    lua_pushlstring(L, line, (size_t)length - (line[length - 1] == '\n'));
    return LD_LINE_READ;
}

void ld_line_remember(const char *entry)
{
    HistEvent event;
    if (editor.history)
        history(editor.history, &event, H_ENTER, entry);
}

#else

const bool ld_line_editing = false;

static void open_editor(lua_State *L)
{
    lua_pop(L, 1);
}

static void close_editor(void)
{
}

static ld_line_result read_line(lua_State *L, const char *prompt)
{
    return read_plainly(L, prompt);
}

void ld_line_remember(const char *entry)
{
    (void)entry;
}

#endif

void ld_line_open(lua_State *L)
{
    struct sigaction action = {.sa_handler = note, .sa_flags = SA_RESTART};
    terminal = isatty(STDIN_FILENO);
    for (int i = 0; terminal && i < N_SIGNALS; i++)
        sigaction(signals[i], &action, &before[i]);
    open_editor(L);
}

void ld_line_close(void)
{
    close_editor();
    for (int i = 0; terminal && i < N_SIGNALS; i++)
        sigaction(signals[i], &before[i], NULL);
}

ld_line_result ld_line_read(lua_State *L, const char *prompt)
{
    sigset_t ours;
    sigemptyset(&ours);
    for (int i = 0; terminal && i < N_SIGNALS; i++)
        sigaddset(&ours, signals[i]);
    interrupted = 0;
    sigprocmask(SIG_BLOCK, &ours, &waiting);
    ld_line_result result = read_line(L, prompt);
    sigprocmask(SIG_SETMASK, &waiting, NULL);
    return result;
}

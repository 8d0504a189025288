/* Runs a command on a pseudo terminal and talks to it as a script says.
 *
 *     pty DIALOGUE COMMAND [ARGS...]
 *
 * Every line of the file DIALOGUE, which may be indented, is one of
 *     send TEXT      types TEXT
 *     expect TEXT    waits until TEXT is printed; what precedes it is passed over
 *     never TEXT     the dialogue fails if TEXT is printed before the next expectation is met
 *     size COLUMNS   changes the width of the terminal
 *     pause MS       lets time pass, where the command shows nothing to wait for
 *     exit STATUS    waits until the command ends, with this status (128 + n after signal n)
 *     # ...          a comment; empty lines are skipped too
 * TEXT has \r \n \t \e \s (a space) \\ and \xHH. The terminal has 80 columns. The status is 0 when everything
 * happened; otherwise what was missing and all that was printed goes to stderr. */
#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_MS = 20000, CAPACITY = 1 << 20 };

static struct {
    int terminal;
    pid_t child;
    char output[CAPACITY + 1]; /* all that was printed; zero bytes are left out */
    size_t length, seen;       /* expectations look from `seen` on */
    char never[256];
    bool closed;
} talk;

static long now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void fail(int line, const char *what, const char *text)
{
    fprintf(stderr, "pty: line %d: %s: %s\n--- printed so far, expected after the mark <<<>>>\n",
            line, what, text);
    fwrite(talk.output, 1, talk.seen, stderr);
    fprintf(stderr, "<<<>>>%s\n---\n", talk.output + talk.seen);
    kill(talk.child, SIGKILL);
    exit(1);
}

/* Turns escapes into what they stand for, in place. */
static size_t unescape(char *text)
{
    char *out = text;
    for (const char *in = text; *in; in++) {
        if (*in != '\\' || !in[1]) {
            *out++ = *in;
        } else if (*++in == 'x' && isxdigit((unsigned char)in[1]) &&
                   isxdigit((unsigned char)in[2])) {
            char digits[] = {in[1], in[2], '\0'};
            *out++ = (char)strtol(digits, NULL, 16);
            in += 2;
        } else {
            static const char names[] = "rntes", meanings[] = "\r\n\t\033 ";
            const char *name = strchr(names, *in);
            *out++ = name ? meanings[name - names] : *in;
        }
    }
    *out = '\0';
    return (size_t)(out - text);
}

/* Takes what the command prints, waiting at most `wait_ms` for it. */
static void take_output(int wait_ms)
{
    char chunk[4096];
    struct pollfd ready = {.fd = talk.terminal, .events = POLLIN};
    if (talk.closed || poll(&ready, 1, wait_ms) <= 0)
        return;
    ssize_t got = read(talk.terminal, chunk, sizeof chunk);
    if (got <= 0 && errno != EINTR) /* EIO: nobody has the other side open */
        talk.closed = true;
    for (ssize_t i = 0; i < got && talk.length < CAPACITY; i++)
        if (chunk[i])
            talk.output[talk.length++] = chunk[i];
    talk.output[talk.length] = '\0';
}

static void expect(int line, const char *text)
{
    long deadline = now_ms() + PATIENCE_MS;
    for (;;) {
        char *found = strstr(talk.output + talk.seen, text);
        char *unwanted = *talk.never ? strstr(talk.output + talk.seen, talk.never) : NULL;
        if (unwanted && (!found || unwanted < found))
            fail(line, "printed", talk.never);
        if (found) {
            talk.seen = (size_t)(found - talk.output) + strlen(text);
            *talk.never = '\0';
            return;
        }
        if (talk.closed || now_ms() > deadline)
            fail(line, talk.closed ? "the command ended before" : "waited in vain for", text);
        take_output(50);
    }
}

static void expect_exit(int line, const char *text)
{
    long deadline = now_ms() + PATIENCE_MS;
    int status = 0;
    while (waitpid(talk.child, &status, WNOHANG) == 0) {
        if (now_ms() > deadline)
            fail(line, "still runs, expected exit", text);
        take_output(20);
    }
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    char actual[16];
    snprintf(actual, sizeof actual, "%d", code);
    if (strcmp(actual, text) != 0)
        fail(line, "exit status", actual);
}

static void send_text(const char *text, size_t length)
{
    while (length > 0) {
        ssize_t sent = write(talk.terminal, text, length);
        if (sent < 0)
            return; /* the next expectation tells */
        text += sent;
        length -= (size_t)sent;
    }
}

static void set_width(const char *columns)
{
    struct winsize size = {.ws_row = 24, .ws_col = (unsigned short)atoi(columns)};
    ioctl(talk.terminal, TIOCSWINSZ, &size);
}

static void obey(int line, char *order)
{
    char *text = order + strcspn(order, " ");
    if (*text)
        *text++ = '\0';
    size_t length = unescape(text);
    if (strcmp(order, "send") == 0)
        send_text(text, length);
    else if (strcmp(order, "expect") == 0)
        expect(line, text);
    else if (strcmp(order, "never") == 0)
        snprintf(talk.never, sizeof talk.never, "%s", text);
    else if (strcmp(order, "size") == 0)
        set_width(text);
    else if (strcmp(order, "pause") == 0)
        usleep(1000 * (useconds_t)atoi(text));
    else if (strcmp(order, "exit") == 0)
        expect_exit(line, text);
    else if (*order && *order != '#')
        fail(line, "no such order", order);
}

int main(int argc, char **argv)
{
    FILE *dialogue = argc > 2 ? fopen(argv[1], "r") : NULL;
    if (!dialogue) {
        fprintf(stderr, "usage: pty DIALOGUE COMMAND [ARGS...]\n");
        return 2;
    }
    struct winsize size = {.ws_row = 24, .ws_col = 80};
    talk.child = forkpty(&talk.terminal, NULL, NULL, &size);
    if (talk.child < 0) {
        perror("pty");
        return 2;
    }
    if (talk.child == 0) {
        execvp(argv[2], argv + 2);
        perror(argv[2]);
        _exit(127);
    }
    char *order = NULL;
    size_t capacity = 0;
    for (int line = 1; getline(&order, &capacity, dialogue) >= 0; line++) {
        order[strcspn(order, "\n")] = '\0';
        obey(line, order + strspn(order, " "));
    }
    free(order);
    fclose(dialogue);
    return 0;
}

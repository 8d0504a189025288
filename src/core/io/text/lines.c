#include "io/text/lines.h"

#include <inttypes.h>
#include <string.h>

#include "memory/memory.h"

enum {
    BUFFER = 1 << 18,
    BEHIND = 8, /* bytes behind the buffer's that may be read with a number */
};

ld_status ld_lines_open(ld_lines *x, const char *path, const char *reader, ld_progress *progress,
                        void *context)
{
    *x = (ld_lines){.room = BUFFER, .progress = progress, .context = context};
    LD_CHECK(ld_ahead_open(&x->file, path, reader));
    x->buffer = ld_alloc(BUFFER + BEHIND, LD_MEM_IO);
    return x->buffer ? LD_OK : LD_NOMEM;
}

ld_status ld_lines_widen(ld_lines *x, int64_t room)
{
    if (room <= x->room)
        return LD_OK;
    LD_CHECK(ld_resize(&x->buffer, &x->room, x->end, room + BEHIND, 1, LD_MEM_IO));
    x->room = room;
    return LD_OK;
}

/* Makes room for a line that fills the buffer. */
static ld_status grow(ld_lines *x)
{
    if (x->room >= LD_LINES_LONGEST)
        return ld_fail(LD_FORMAT, "%s: line %" PRId64 " is longer than %d bytes",
                       ld_ahead_name(x->file), x->number + 1, LD_LINES_LONGEST);
    return ld_lines_widen(x, 2 * x->room);
}

static ld_status report(const ld_lines *x)
{
    if (!x->progress)
        return LD_OK;
    return x->progress(x->context, ld_ahead_done(x->file), ld_ahead_size(x->file));
}

/* Reads more bytes behind those that are left, which move to the front. */
static ld_status fill(ld_lines *x)
{
    int64_t got;
    memmove(x->buffer, x->buffer + x->begin, (size_t)(x->end - x->begin));
    x->end -= x->begin;
    x->begin = 0;
    if (x->end == x->room - 1)
        LD_CHECK(grow(x));
    int64_t wanted = x->room - 1 - x->end;
    LD_CHECK(ld_ahead_read(x->file, x->buffer + x->end, wanted, &got));
    x->end += got;
    x->taken += got;
    x->ended = got < wanted;
    return report(x);
}

double ld_lines_share(const ld_lines *x)
{
    if (x->taken == 0)
        return 0;
    double used = (double)(x->taken - (x->end - x->begin)) / (double)x->taken;
    return used * (double)ld_ahead_done(x->file) / (double)ld_ahead_size(x->file);
}

/* Skips the mark that some programs put before UTF-8. */
static void skip_mark(ld_lines *x)
{
    static const char mark[3] = "\xEF\xBB\xBF";
    if (x->number == 0 && x->end >= 3 && memcmp(x->buffer, mark, 3) == 0)
        x->begin = 3;
}

ld_status ld_lines_next(ld_lines *x, char **line, char **end)
{
    char *p, *stop;
    for (;;) {
        p = x->buffer + x->begin;
        stop = memchr(p, '\n', (size_t)(x->end - x->begin));
        if (stop || x->ended)
            break;
        LD_CHECK(fill(x));
        skip_mark(x);
    }
    if (!stop && x->begin == x->end) {
        *line = *end = NULL;
        return LD_OK;
    }
    if (stop) {
        x->begin = stop + 1 - x->buffer;
    } else {
        stop = x->buffer + x->end;
        x->begin = x->end;
    }
    stop -= stop > p && stop[-1] == '\r';
    *stop = '\0';
    *line = p;
    *end = stop;
    x->number++;
    return LD_OK;
}

bool ld_lines_is_empty(const char *line, const char *end, const char *comments)
{
    return line == end || (*line != '\0' && strchr(comments, *line));
}

ld_status ld_lines_next_full(ld_lines *x, const char *comments, char **line, char **end)
{
    for (x->blank = 0;;) {
        ld_status st = ld_lines_next(x, line, end);
        if (st != LD_OK || !*line)
            return st;
        while (**line == ' ' || **line == '\t')
            ++*line;
        if (!ld_lines_is_empty(*line, *end, comments))
            return LD_OK;
        if (*line == *end && x->blank == 0)
            x->blank = x->number;
    }
}

char *ld_lines_trim(char *at, const char *stop, char **line, char **end)
{
    char *newline = memchr(at, '\n', (size_t)(stop - at));
    *end = newline - (newline > at && newline[-1] == '\r');
    for (*line = at; *line < *end && (**line == ' ' || **line == '\t');)
        ++*line;
    return newline + 1;
}

/* Returns the last \n of some text, or NULL. */
static char *last_newline(char *begin, char *end)
{
    while (end > begin)
        if (*--end == '\n')
            return end;
    return NULL;
}

ld_status ld_lines_block(ld_lines *x, char **begin, char **end)
{
    char *stop = NULL;
    *begin = NULL;
    while (!stop && !x->ended) {
        LD_CHECK(fill(x));
        skip_mark(x);
        stop = last_newline(x->buffer + x->begin, x->buffer + x->end);
    }
    if (x->begin == x->end)
        return LD_OK;
    if (x->ended) {
        stop = x->buffer + x->end - 1;
        if (*stop != '\n')
            *++stop = '\n'; /* there is room for one byte more */
    }
    *begin = x->buffer + x->begin;
    *end = stop + 1;
    x->begin = x->ended ? x->end : *end - x->buffer;
    return LD_OK;
}

char *ld_lines_part_end(char *begin, char *end, char *from, int64_t i, int64_t count)
{
    char *to = begin + (end - begin) * (i + 1) / count; /* never less than a byte behind `begin` */
    return to <= from ? from : (char *)memchr(to - 1, '\n', (size_t)(end - to + 1)) + 1;
}

ld_status ld_lines_fail(const ld_lines *x, int64_t column, const char *found, const char *end,
                        const char *expected)
{
    enum { SHOWN = 40 };
    char text[SHOWN + 1], place[40] = "";
    int n = end - found > SHOWN ? SHOWN : (int)(end - found);
    for (int i = 0; i < n; i++) /* one line, whatever is in the file */
        text[i] = (unsigned char)found[i] < ' ' || found[i] == 127 ? '?' : found[i];
    text[n] = '\0';
    if (column > 0)
        snprintf(place, sizeof place, ", column %" PRId64, column);
    const char *quote = n > 0 && text[0] != '"' ? "\"" : ""; /* a field may have its own */
    return ld_fail(LD_FORMAT, "%s: line %" PRId64 "%s: found %s%s%s%s, expected %s",
                   ld_ahead_name(x->file), x->number + (found == NULL), place, quote,
                   n > 0 ? text : "nothing", end - found > SHOWN ? "..." : "", quote, expected);
}

void ld_lines_close(ld_lines *x)
{
    ld_ahead_close(x->file);
    ld_free(x->buffer);
    x->file = NULL;
    x->buffer = NULL;
}

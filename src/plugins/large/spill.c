#include "large/spill.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "memory/memory.h"
#include "system/platform.h"

enum { PIECE = 1 << 24 }; /* bytes between two looks at the cancel flag */

struct ld_spill {
    int fd;
    atomic_llong end;
    char folder[200]; /* for messages */
};

static ld_status fail(const ld_spill *s, const char *what)
{
    return ld_fail(LD_IO, "%s: the temporary file cannot be %s: %s", s->folder, what,
                   strerror(errno));
}

ld_status ld_spill_open(ld_spill **out, const char *folder)
{
    ld_spill *s = ld_alloc(sizeof *s, LD_MEM_IO);
    if (!s)
        return LD_NOMEM;
    s->fd = ld_platform_temporary_file(folder);
    atomic_init(&s->end, 0);
    snprintf(s->folder, sizeof s->folder, "%s", folder);
    ld_status st = s->fd >= 0 ? LD_OK : fail(s, "created");
    if (st == LD_OK)
        *out = s;
    else
        ld_spill_close(s);
    return st;
}

void ld_spill_close(ld_spill *s)
{
    if (s && s->fd >= 0)
        close(s->fd);
    ld_free(s);
}

ld_status ld_spill_put(ld_spill *s, int64_t *position, const void *data, int64_t size)
{
    const char *p = data;
    ld_status st = LD_OK;
    int64_t at = *position = atomic_fetch_add(&s->end, size);
    while (size > 0 && (st = ld_poll()) == LD_OK) {
        ssize_t n = pwrite(s->fd, p, size < PIECE ? (size_t)size : PIECE, at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return fail(s, "written");
        p += n;
        at += n;
        size -= n;
    }
    return st;
}

ld_status ld_spill_get(const ld_spill *s, void *out, int64_t position, int64_t size)
{
    char *p = out;
    ld_status st = LD_OK;
    while (size > 0 && (st = ld_poll()) == LD_OK) {
        ssize_t n = pread(s->fd, p, size < PIECE ? (size_t)size : PIECE, position);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return fail(s, "read");
        p += n;
        position += n;
        size -= n;
    }
    return st;
}

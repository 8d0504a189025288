#include "system/transfer.h"

#include <errno.h>
#include <stddef.h>
#include <unistd.h>

/* Writes bytes of `from` or, where that is NULL, reads them into `to`. */
static ld_status transfer(int64_t *done, int fd, const char *from, char *to, int64_t position,
                          int64_t size)
{
    enum { PIECE = 1 << 24 };
    for (*done = 0; *done < size;) {
        size_t piece = size - *done < PIECE ? (size_t)(size - *done) : PIECE;
        off_t at = position + *done;
        LD_CHECK(ld_poll());
        errno = 0;
        ssize_t n = from ? pwrite(fd, from + *done, piece, at) : pread(fd, to + *done, piece, at);
        if (n > 0)
            *done += n;
        else if (errno != EINTR)
            return LD_OK;
    }
    return LD_OK;
}

ld_status ld_read_at(int64_t *done, int fd, void *to, int64_t position, int64_t size)
{
    return transfer(done, fd, NULL, to, position, size);
}

ld_status ld_write_at(int64_t *done, int fd, const void *from, int64_t position, int64_t size)
{
    return transfer(done, fd, from, NULL, position, size);
}

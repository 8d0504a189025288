#include "system/transfer.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 1 << 24 };

static size_t piece_of(int64_t size)
{
    return size < PIECE ? (size_t)size : PIECE;
}

ld_status ld_read_at(int fd, const char *name, void *to, int64_t position, int64_t size)
{
    for (int64_t done = 0; done < size;) {
        LD_CHECK(ld_poll());
        ssize_t n = pread(fd, (char *)to + done, piece_of(size - done), position + done);
        if (n == 0)
            return ld_fail(LD_FORMAT, "%s: is cut off at byte %" PRId64, name, position + done);
        if (n < 0 && errno != EINTR)
            return ld_fail(LD_IO, "%s: cannot be read: %s", name, strerror(errno));
        done += n > 0 ? n : 0;
    }
    return LD_OK;
}

ld_status ld_write_at(int fd, const char *name, const void *from, int64_t position, int64_t size)
{
    for (int64_t done = 0; done < size;) {
        LD_CHECK(ld_poll());
        ssize_t n = pwrite(fd, (const char *)from + done, piece_of(size - done), position + done);
        if (n < 0 && errno != EINTR)
            return ld_fail(LD_IO, "%s: cannot be written: %s", name, strerror(errno));
        done += n > 0 ? n : 0;
    }
    return LD_OK;
}

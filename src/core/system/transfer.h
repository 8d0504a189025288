/* Reads and writes bytes at a place of an open file: all of them, in pieces between which ld_poll is
 * asked, and again where a signal came between. */
#ifndef LD_SYSTEM_TRANSFER_H
#define LD_SYSTEM_TRANSFER_H

#include <stdint.h>

#include "base/status.h"

/* Sets *done to how many of `size` bytes were read or written. Where these are fewer, errno is why
 * the system refused the next, or 0 where the file ends before. Fails only as ld_poll does. */
ld_status ld_read_at(int64_t *done, int fd, void *to, int64_t position, int64_t size);
ld_status ld_write_at(int64_t *done, int fd, const void *from, int64_t position, int64_t size);

#endif

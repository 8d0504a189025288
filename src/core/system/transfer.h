/* Reads and writes bytes at a place of an open file, in pieces between which ld_poll is asked, and
 * again where a signal came between. */
#ifndef LD_SYSTEM_TRANSFER_H
#define LD_SYSTEM_TRANSFER_H

#include <stdint.h>

#include "base/status.h"

/* Reads or writes `size` bytes. Fails with LD_IO, with LD_FORMAT where the file ends before, or as
 * ld_poll does; `name` is what the message calls the file. */
ld_status ld_read_at(int fd, const char *name, void *to, int64_t position, int64_t size);
ld_status ld_write_at(int fd, const char *name, const void *from, int64_t position, int64_t size);

#endif

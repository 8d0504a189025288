/* Reads a file that another thread reads and unpacks ahead of the thread that parses it. */
#ifndef LD_IO_AHEAD_H
#define LD_IO_AHEAD_H

#include <stdint.h>

#include "base/own.h"
#include "io/archive/gz.h"

typedef struct ld_ahead ld_ahead;

/* Opens a file; `reader` begins its messages. Given back with ld_ahead_close. */
ld_status ld_ahead_open(ld_ahead **out, const char *path, const char *reader);

/* Reads up to `size` bytes; fewer only at the end, where the file has proved whole. */
ld_status ld_ahead_read(ld_ahead *a, void *out, int64_t size, int64_t *got);

/* Return the text that begins every message, how many bytes of the file have been read, its size in
 * bytes, and a bound on the bytes that it can give in all. */
const char *ld_ahead_name(const ld_ahead *a);
int64_t ld_ahead_done(const ld_ahead *a);
int64_t ld_ahead_size(const ld_ahead *a);
int64_t ld_ahead_bound(const ld_ahead *a);

/* NULL is allowed. */
void ld_ahead_close(ld_ahead *a);
LD_OWNED_BY(ld_ahead, ld_ahead_close)

#endif

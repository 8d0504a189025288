/* Reads files that may be compressed with gzip, as their first two bytes tell. A gzip file may
 * consist of several streams one after the other (RFC 1952); anything else after a stream is an
 * error. */
#ifndef LD_IO_GZ_H
#define LD_IO_GZ_H

#include "base/own.h"
#include "io/archive/inflate.h"
#include "io/archive/source.h"
#include "io/file.h"

typedef struct ld_gz {
    ld_source source;
    ld_file *file;
    bool packed;
    int64_t position; /* in a file that is not packed */
    ld_inflater inflater;
} ld_gz;

/* Opens a file; `reader` begins its messages. Given back with ld_gz_close. */
ld_status ld_gz_open(ld_gz **out, const char *path, const char *reader);

/* Reads up to `size` bytes; fewer only at the end, where the file has proved whole. */
ld_status ld_gz_read(ld_gz *g, void *out, int64_t size, int64_t *got);

/* NULL is allowed. */
void ld_gz_close(ld_gz *g);
LD_OWNED_BY(ld_gz, ld_gz_close)

#endif

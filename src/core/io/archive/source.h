/* Sources of bytes in order, from wherever they come: a file, a gzip file, a member of a zip
 * archive. */
#ifndef LD_IO_SOURCE_H
#define LD_IO_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "memory/mapping.h"

/* A source, with the functions of its kind. Parsers call those below, which count and check. */
typedef struct ld_source {
    ld_status (*read)(struct ld_source *s, void *out, int64_t size);
    ld_status (*map)(struct ld_source *s, ld_mapping **out, int64_t size); /* NULL: never maps */
    ld_status (*finish)(struct ld_source *s); /* NULL: there is nothing more to check */
    /* A bound on the bytes still to come, whatever the file claims: a parser must compare a
     * declared size with it before it allocates. */
    int64_t left;
    bool may_end_before; /* `left` is a bound alone */
    const char *name;    /* begins every message */
} ld_source;

/* Reads exactly `size` more bytes. Fails with LD_FORMAT when the source ends before. */
ld_status ld_source_read(ld_source *s, void *out, int64_t size);

/* Maps exactly `size` more bytes instead of reading them, which makes copying and, until they are
 * touched, memory unnecessary. *out is NULL where these bytes cannot be mapped, or lie so that
 * numbers of up to 8 bytes would not be aligned. */
ld_status ld_source_map(ld_mapping **out, ld_source *s, int64_t size);

/* Fails with LD_FORMAT unless the source ends here and is whole (its CRC, its lengths). */
ld_status ld_source_finish(ld_source *s);

/* A source of the next `size` bytes of another, which need not end there. It never maps. */
typedef struct {
    ld_source source;
    ld_source *of;
} ld_part_source;

ld_part_source ld_part_source_of(ld_source *of, int64_t size);

/* A source of bytes in memory, which stay the caller's. */
typedef struct {
    ld_source source;
    const char *at;
} ld_memory_source;

ld_memory_source ld_memory_source_of(const void *data, int64_t size, const char *name);

#endif

/* Bytes in order, from wherever they come: a file, a gzip file, a member of a zip archive. */
#ifndef LD_IO_SOURCE_H
#define LD_IO_SOURCE_H

#include <stdint.h>

#include "base/mapping.h"
#include "base/status.h"

typedef struct ld_source {
    /* Exactly `size` more bytes; LD_FORMAT when the source ends before. */
    ld_status (*read)(struct ld_source *s, void *out, int64_t size);
    /* LD_FORMAT unless the source ends here and is whole (its CRC, its lengths). */
    ld_status (*finish)(struct ld_source *s);
    /* No more bytes than this are still to come, whatever the file claims: what a parser must
     * compare a declared size with before it allocates. */
    int64_t left;
    const char *name; /* begins every message */
    /* Instead of reading exactly `size` more bytes: maps them, which makes copying and, until they
     * are touched, memory unnecessary. Leaves `*out` alone where these bytes cannot be mapped, or lie
     * so that numbers of up to 8 bytes would not be aligned. NULL where nothing ever can be. */
    ld_status (*map)(struct ld_source *s, ld_mapping **out, int64_t size);
} ld_source;

/* The next `size` bytes of a source, at whose end that need not end. Nothing of them is mapped. */
typedef struct {
    ld_source source;
    ld_source *of;
} ld_part_source;

ld_part_source ld_part_source_of(ld_source *of, int64_t size);

/* Bytes in memory, which stay the caller's. */
typedef struct {
    ld_source source;
    const char *at;
} ld_memory_source;

ld_memory_source ld_memory_source_of(const void *data, int64_t size, const char *name);

#endif

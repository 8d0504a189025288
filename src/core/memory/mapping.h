/* Maps parts of files into memory. The pages come from the file when they are first touched, and a
 * change to one stays in this process, but for temporary files. Memory that is mapped is not
 * counted as allocated.
 *
 * Whoever shortens the file under a mapping takes the pages away: touching them then ends the
 * program with SIGBUS. Whoever writes to it changes numbers that are in use (see mapped_file.h).
 * Our own writers never do either, they put a new file in the place of the old one. */
#ifndef LD_MEMORY_MAPPING_H
#define LD_MEMORY_MAPPING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/own.h"
#include "base/status.h"
#include "memory/mapped_file.h"

typedef struct ld_mapping {
    atomic_int refs;
    void *base; /* the page that holds the first byte */
    size_t length;
    char *data;           /* the first byte */
    ld_mapped_file *file; /* NULL: a temporary one, which nobody else knows */
    int fd;               /* of a temporary one, or -1 */
    bool is_large;        /* the file, a quarter of memory or more: its pages may not stay there */
} ld_mapping;

/* Maps bytes position .. position + size - 1 of an open file, size > 0, with one reference. They
 * must be in the file. Its stamp was `opened` when reading it began; `name` is what messages call
 * it. */
ld_status ld_mapping_new(ld_mapping **out, int fd, ld_stamp opened, const char *name,
                         int64_t position, int64_t size);

/* Maps `size` > 0 bytes of zeros that are written to a file of their own in `folder`, which has no
 * name and goes with the mapping. All of its room is taken at once. Fails with LD_IO where the disk
 * has none. */
ld_status ld_mapping_temporary(ld_mapping **out, const char *folder, int64_t size);

/* Brings all bytes of ld_mapping_temporary to the disk, and then gives their file a name, which
 * nothing may have: so the bytes outlive the process. Fails with LD_IO, also on file systems whose
 * files without names cannot get one. */
ld_status ld_mapping_keep(const ld_mapping *m, const char *path);

/* Maps all `size` > 0 bytes of a file that ld_mapping_keep has named. Fails with LD_IO, also where
 * it has another size. */
ld_status ld_mapping_kept(ld_mapping **out, const char *path, int64_t size);

/* Says that the bytes from `first` to before `end`, to which nothing has been written, will not be
 * read for long. The memory of the pages that hold no others is given back. */
void ld_mapping_forget(const ld_mapping *m, const void *first, const void *end);

ld_mapping *ld_mapping_ref(ld_mapping *m);
void ld_mapping_unref(ld_mapping *m);
LD_OWNED_BY(ld_mapping, ld_mapping_unref)

/* The way in which pages will be touched from now on: one here and one there, for which nothing
 * around them is read; or one after the other, for which much is read ahead. Pages of a file that
 * is not large are left to the system. */
typedef enum { LD_ACCESS_RANDOM, LD_ACCESS_SEQUENTIAL } ld_access;
void ld_mapping_advise(const ld_mapping *m, ld_access access);

/* Asks for `size` bytes from `from` on, in m, to be read from the file, without waiting for
 * them. */
void ld_mapping_fetch(const ld_mapping *m, const void *from, int64_t size);

/* Copies `size` bytes from `from` on, in a temporary m, to `to`, or from `from` to `to` in m, by the
 * system's calls instead of its pages: where much is copied once, finding the pages takes longer
 * than copying, and memory has to take them away again. Fail as ld_read_at and ld_write_at do. */
ld_status ld_mapping_read(const ld_mapping *m, void *to, const void *from, int64_t size);
ld_status ld_mapping_write(const ld_mapping *m, void *to, const void *from, int64_t size);

/* Brings rows ids[0 .. n - 1] into memory: the disk is asked for all of them at once, where m is
 * large and they do not seem to be there, and then waited for. `rows` points to elements of `size`
 * bytes in m: row r is element r or, unless offsets is NULL, elements offsets[r] .. offsets[r + 1]
 * - 1. Fails as ld_parallel_for does. */
ld_status ld_mapping_prefetch(const ld_mapping *m, const void *rows, int64_t size,
                              const int64_t *offsets, const int32_t *ids, int64_t n);

#endif

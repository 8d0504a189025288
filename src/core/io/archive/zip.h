/* Reads zip archives from strangers.
 *
 * Only what the central directory and the local headers agree on is believed. An archive is refused
 * when it is opened for a directory that does not lie at the archive's end, members that overlap
 * the directory or take more bytes together than the file has, declared sizes that deflate cannot
 * reach, and names that occur twice, that hold control characters or that would climb out of a
 * folder. A member is refused when it is read for a local header that says something else,
 * encryption, methods other than stored and deflated, too few or too many bytes, and a wrong CRC.
 * Names are keys; nothing here makes a path of them.
 *
 * This is our own reading of the format (APPNOTE.TXT 6.3.3, sections 4.3.7 - 4.3.16 and 4.5.3)
 * because minizip 1.1 misses zip64 sizes in the directory on 64-bit machines and stops at the
 * declared size without looking at what follows. */
#ifndef LD_IO_ZIP_H
#define LD_IO_ZIP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/own.h"
#include "io/archive/inflate.h"
#include "io/archive/source.h"
#include "io/file.h"

enum { LD_ZIP_LONGEST_NAME = 255, LD_ZIP_STORED = 0, LD_ZIP_DEFLATED = 8 };

typedef struct ld_zip_member {
    char name[LD_ZIP_LONGEST_NAME + 1];
    int64_t size;   /* bytes unpacked */
    int64_t packed; /* bytes in the archive */
    int64_t header; /* position of the local header */
    uint32_t crc;
    uint16_t method, flags;
    uint16_t mode; /* Unix's mode of the file; 0 when another system packed it */
} ld_zip_member;

typedef struct ld_zip {
    ld_file *file;
    int64_t count;
    ld_zip_member *members; /* sorted by name */
    int64_t directory;      /* where the members' bytes end */
    int64_t least_mapped;   /* from so many bytes on members are mapped; 0: none is */
    /* The member that is being read. */
    ld_source source;
    const ld_zip_member *member;
    ld_inflater inflater; /* for a deflated member */
    int64_t position;     /* in a stored member */
    uint32_t crc;
    char name[2 * sizeof(ld_label)];
} ld_zip;

/* Opens an archive and reads its directory; `reader` ("npz", ...) begins its messages. Given back
 * with ld_zip_close. */
ld_status ld_zip_open(ld_zip **out, const char *path, const char *reader);

/* NULL is allowed. */
void ld_zip_close(ld_zip *z);
LD_OWNED_BY(ld_zip, ld_zip_close)

/* Returns the member of this name, or NULL. */
const ld_zip_member *ld_zip_find(const ld_zip *z, const char *name);

/* Begins to read a member and ends the reading of any other; the source belongs to the archive. */
ld_status ld_zip_read(ld_source **out, ld_zip *z, const ld_zip_member *member);

/* Returns true if a name may be a member's: 1 to 255 bytes, no control characters or backslashes,
 * not absolute and no ".." in it. */
bool ld_zip_name_is_fit(const char *name);

#endif

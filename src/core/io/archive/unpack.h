/* Members of archives as files, and what identifies a file. */
#ifndef LD_IO_UNPACK_H
#define LD_IO_UNPACK_H

#include <stdint.h>

#include "base/sha256.h"
#include "base/status.h"
#include "io/archive/zip.h"

/* Writes a member to a new file at `path`, atomically and only if it proves whole; the digest is
 * that of its bytes. The path is the caller's: nothing is made of the member's name. LD_FORMAT for
 * a symbolic link. */
ld_status ld_unpack_member(unsigned char digest[LD_SHA256_BYTES], ld_zip *z,
                           const ld_zip_member *member, const char *path);

/* The same for a file that may be packed with gzip; LD_FORMAT beyond `limit` bytes. */
ld_status ld_unpack_gz(unsigned char digest[LD_SHA256_BYTES], const char *from, const char *path,
                       int64_t limit);

/* The digest of a file's bytes as they are. */
ld_status ld_file_digest(unsigned char digest[LD_SHA256_BYTES], const char *path);

#endif

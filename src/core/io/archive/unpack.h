/* Copies members of archives into files, and computes the digests by which files are identified. */
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

/* Copies a file, unpacked where it is packed with gzip, in the same way; LD_FORMAT beyond `limit`
 * bytes. */
ld_status ld_unpack_gz(unsigned char digest[LD_SHA256_BYTES], const char *from, const char *path,
                       int64_t limit);

/* The digest of a file's bytes as they are. */
ld_status ld_file_digest(unsigned char digest[LD_SHA256_BYTES], const char *path);

#endif

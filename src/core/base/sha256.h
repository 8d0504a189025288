/* SHA-256 (FIPS 180-4) of bytes that come piece by piece, to check that a file is the one that was
 * published. */
#ifndef LD_BASE_SHA256_H
#define LD_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { LD_SHA256_BYTES = 32, LD_SHA256_BLOCK = 64 };

typedef struct ld_sha256 {
    uint32_t state[8];
    uint64_t size; /* bytes so far */
    unsigned char block[LD_SHA256_BLOCK];
} ld_sha256;

void ld_sha256_begin(ld_sha256 *h);
void ld_sha256_add(ld_sha256 *h, const void *data, size_t size);

/* Gives the digest of all bytes that were added; `h` must begin anew before its next use. */
void ld_sha256_end(ld_sha256 *h, unsigned char digest[LD_SHA256_BYTES]);

#endif

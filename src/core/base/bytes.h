/* Whole numbers in files, the least byte first. */
#ifndef LD_BASE_BYTES_H
#define LD_BASE_BYTES_H

#include <stdint.h>

/* Returns the number in the first `size` bytes, 8 at most. */
static inline uint64_t ld_little_endian(const void *bytes, int size)
{
    const unsigned char *p = bytes;
    uint64_t number = 0;
    while (size-- > 0)
        number = number << 8 | p[size];
    return number;
}

#endif

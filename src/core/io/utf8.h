/* Characters as UTF-8. */
#ifndef LD_IO_UTF8_H
#define LD_IO_UTF8_H

#include <stdbool.h>
#include <stdint.h>

/* Whether Unicode has such a code point; surrogates are none. */
static inline bool ld_utf8_is_character(uint32_t c)
{
    return c < 0xD800 || (c > 0xDFFF && c <= 0x10FFFF);
}

/* Appends a character, one to four bytes; returns the place behind it. */
static inline char *ld_utf8_put(char *p, uint32_t c)
{
    if (c < 0x80) {
        *p++ = (char)c;
        return p;
    }
    int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    *p++ = (char)((0x780u >> more & 0xFF) | c >> 6 * more);
    while (more-- > 0)
        *p++ = (char)(0x80 | (c >> 6 * more & 0x3F));
    return p;
}

#endif

/* Writes and reads characters of Unicode as UTF-8. */
#ifndef LD_TEXT_UTF8_H
#define LD_TEXT_UTF8_H

#include <stdbool.h>
#include <stdint.h>

/* True if Unicode has such a code point; surrogates are none. */
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

/* The code point at *p, which moves behind it; UINT32_MAX when the bytes are not UTF-8. */
static inline uint32_t ld_utf8_get(const char **p, const char *end)
{
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    uint32_t c = (unsigned char)*(*p)++;
    if (c < 0x80)
        return c;
    int more = c >= 0xF0 ? 3 : c >= 0xE0 ? 2 : 1;
    if (c < 0xC2 || c > 0xF4 || end - *p < more)
        return UINT32_MAX;
    c &= 0x3Fu >> more;
    for (int i = 0; i < more; i++) {
        uint32_t next = (unsigned char)*(*p)++;
        if ((next & 0xC0) != 0x80)
            return UINT32_MAX;
        c = c << 6 | (next & 0x3F);
    }
    return c >= least[more] && ld_utf8_is_character(c) ? c : UINT32_MAX;
}

#endif

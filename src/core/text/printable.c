#include "text/printable.h"

#include <string.h>

#include "text/utf8.h"

/* Returns false for control characters of ASCII and those above it; for the marks, embeddings and
 * isolates that turn the direction of text; and for the separators of lines and paragraphs. */
static bool is_shown(uint32_t c, bool lines)
{
    if (c < 0xA0)
        return (c >= 0x20 && c < 0x7F) || (lines && (c == '\n' || c == '\t'));
    bool turns = c == 0x061C || (c >= 0x200E && c <= 0x200F) || (c >= 0x202A && c <= 0x202E) ||
                 (c >= 0x2066 && c <= 0x2069);
    return !turns && c != 0x2028 && c != 0x2029 && c != UINT32_MAX;
}

int ld_printable(char out[LD_PRINTABLE], const char **text, const char *end, bool lines)
{
    static const char named[] = "\n\t\r", letters[] = "ntr", digits[] = "0123456789abcdef";
    const char *begin = *text;
    if (is_shown(ld_utf8_get(text, end), lines)) {
        memcpy(out, begin, (size_t)(*text - begin));
        return (int)(*text - begin);
    }
    unsigned char byte = (unsigned char)*begin;
    const char *name = byte ? strchr(named, byte) : NULL;
    *text = begin + 1;
    if (name) {
        memcpy(out, (char[]){'\\', letters[name - named]}, 2);
        return 2;
    }
    memcpy(out, (char[]){'\\', 'x', digits[byte / 16], digits[byte % 16]}, 4);
    return 4;
}

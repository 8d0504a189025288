/* Parses numbers and texts in the form in which protocol 0 writes them. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "io/pickle/pickle_machine.h"
#include "text/utf8.h"

static ld_status fail_text(const ld_pickle *p, const char *text, int64_t size, const char *expected)
{
    char word[LD_PICKLE_WORD];
    return ld_fail(LD_FORMAT, "%s: \"%s\" is not %s", p->name, ld_pickle_word(word, text, size),
                   expected);
}

/* strtoll and strtod need a zero behind the text; no number that we can hold is longer. */
enum { LONGEST_NUMBER = 64 };

static bool copy_number(char copy[LONGEST_NUMBER], const char *text, int64_t size)
{
    bool fits = size > 0 && size < LONGEST_NUMBER && strchr("+-0123456789.in", text[0]) != NULL;
    if (fits) {
        memcpy(copy, text, (size_t)size);
        copy[size] = '\0';
    }
    return fits && text[0] != '\0';
}

ld_status ld_pickle_parse_integer(value *v, const ld_pickle *p, const char *text, int64_t size)
{
    char copy[LONGEST_NUMBER], *end = copy;
    if (size == 2 && (memcmp(text, "00", 2) == 0 || memcmp(text, "01", 2) == 0)) {
        v->kind = LD_PICKLE_BOOL;
        v->truth = text[1] == '1';
        return LD_OK;
    }
    if (size > 1 && text[size - 1] == 'L')
        size--;
    if (copy_number(copy, text, size)) {
        long long number = strtoll(copy, &end, 10);
        v->integer = number;
        if (number == INT64_MAX || number == INT64_MIN) /* or it was larger still */
            end = copy;
    }
    return end - copy == size && size > 0 ? LD_OK : fail_text(p, text, size, "an int of 64 bits");
}

ld_status ld_pickle_parse_number(value *v, const ld_pickle *p, const char *text, int64_t size)
{
    char copy[LONGEST_NUMBER], *end = copy;
    if (copy_number(copy, text, size))
        v->number = strtod(copy, &end);
    return end - copy == size && size > 0 ? LD_OK : fail_text(p, text, size, "a float");
}

ld_status ld_pickle_parse_long(value *v, const ld_pickle *p, const char *bytes, int64_t size)
{
    bool negative = size > 0 && (signed char)bytes[size - 1] < 0;
    uint64_t bits = negative ? UINT64_MAX : 0;
    for (int64_t i = size - 1; i >= 0; i--) {
        if (i >= 8 && (unsigned char)bytes[i] != (bits & 0xFF))
            return ld_fail(LD_FORMAT, "%s: an int of %" PRId64 " bytes; at most 8 are read",
                           p->name, size);
        if (i < 8)
            bits = (bits & ~(UINT64_C(0xFF) << 8 * i)) | (uint64_t)(unsigned char)bytes[i] << 8 * i;
    }
    v->integer = (int64_t)bits;
    if (size > 8 && (v->integer < 0) != negative)
        return ld_fail(LD_FORMAT, "%s: an int of %" PRId64 " bytes; at most 8 are read", p->name,
                       size);
    return LD_OK;
}

/* Returns the value of `count` hexadecimal digits; -1 when they are not all there. */
static int64_t parse_hex(const char *text, const char *end, int count)
{
    int64_t number = 0;
    if (end - text < count)
        return -1;
    for (int i = 0; i < count; i++) {
        char c = text[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0)
            return -1;
        number = 16 * number + digit;
    }
    return number;
}

/* Returns the byte of the escape behind a backslash at *p, which moves on; -1 when it is none that
 * Python's repr writes. */
static int unescape(const char **p, const char *end)
{
    static const char names[] = "\\'\"nrtabfv", bytes[] = "\\'\"\n\r\t\a\b\f\v";
    if (*p == end)
        return -1;
    char c = *(*p)++;
    if (c == 'x') {
        int number = (int)parse_hex(*p, end, 2);
        *p += number >= 0 ? 2 : 0;
        return number;
    }
    if (c >= '0' && c <= '7') {
        int number = c - '0';
        for (int i = 0; i < 2 && *p < end && **p >= '0' && **p <= '7'; i++)
            number = 8 * number + (*(*p)++ - '0');
        return number & 0xFF;
    }
    const char *found = c ? strchr(names, c) : NULL;
    return found ? (unsigned char)bytes[found - names] : -1;
}

ld_status ld_pickle_parse_string(value *v, ld_pickle *p, const char *text, int64_t size)
{
    char *to;
    if (size < 2 || (text[0] != '\'' && text[0] != '"') || text[size - 1] != text[0])
        return fail_text(p, text, size, "a string in quotes");
    LD_CHECK(ld_pickle_room((void **)&to, p, size));
    v->bytes.data = to;
    for (const char *from = text + 1, *end = text + size - 1; from < end;) {
        int byte = (unsigned char)*from++;
        if (byte == '\\')
            byte = unescape(&from, end);
        if (byte < 0)
            return fail_text(p, text, size, "a string in quotes");
        *to++ = (char)byte;
    }
    v->bytes.size = to - v->bytes.data;
    return LD_OK;
}

ld_status ld_pickle_parse_unicode(value *v, ld_pickle *p, const char *text, int64_t size)
{
    char *to;
    LD_CHECK(ld_pickle_room((void **)&to, p, 2 * size)); /* a byte above 127 takes two */
    v->bytes.data = to;
    for (const char *from = text, *end = text + size; from < end;) {
        int64_t c = (unsigned char)*from++;
        if (c == '\\' && from < end && (*from == 'u' || *from == 'U')) {
            int digits = *from == 'u' ? 4 : 8;
            c = parse_hex(from + 1, end, digits);
            from += 1 + digits;
        }
        if (c < 0 || !ld_utf8_is_character((uint32_t)c))
            return fail_text(p, text, size, "a unicode text");
        to = ld_utf8_put(to, (uint32_t)c);
    }
    v->bytes.size = to - v->bytes.data;
    return LD_OK;
}

#include "io/text/print.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "io/archive/zlib_memory.h"
#include "memory/memory.h"

enum { BUFFER = 1 << 16, GZIP_WINDOW = 15 + 16, LEVEL = 6, MEMORY_LEVEL = 8, LONGEST_NUMBER = 32 };

struct ld_print {
    ld_writer *writer;
    char *buffer; /* text, `used` bytes of it; behind it room for packed bytes */
    int64_t used;
    bool packed;
    z_stream z;
};

static void release(ld_print *x)
{
    if (x && x->packed)
        deflateEnd(&x->z);
    if (x)
        ld_free(x->buffer);
    ld_free(x);
}

static void release_held(ld_print **x)
{
    release(*x);
}

ld_status ld_print_open(ld_print **out, const char *path, const char *reader)
{
    size_t length = strlen(path);
    bool packed = length > 3 && strcmp(path + length - 3, ".gz") == 0;
    LD_CLEANED(release_held) ld_print *x = ld_calloc_array(1, sizeof *x, LD_MEM_IO);
    if (!x || !(x->buffer = ld_alloc(2 * BUFFER, LD_MEM_IO)))
        return LD_NOMEM;
    if (packed) {
        ld_zlib_use_memory(&x->z);
        if (deflateInit2(&x->z, LEVEL, Z_DEFLATED, GZIP_WINDOW, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) !=
            Z_OK)
            return LD_NOMEM; /* the only way to fail; the message is ld_alloc's */
        x->packed = true;
    }
    LD_CHECK(ld_writer_open(&x->writer, path, reader));
    *out = ld_take(&x);
    return LD_OK;
}

/* Hands the text to the writer; `flush` is zlib's, Z_FINISH at the end. */
static ld_status drain(ld_print *x, int flush)
{
    LD_CHECK(ld_poll());
    int64_t size = x->used;
    x->used = 0;
    if (!x->packed)
        return ld_writer_put(x->writer, x->buffer, size);
    char *packed = x->buffer + BUFFER;
    x->z.next_in = (unsigned char *)x->buffer;
    x->z.avail_in = (unsigned)size;
    do {
        x->z.next_out = (unsigned char *)packed;
        x->z.avail_out = BUFFER;
        deflate(&x->z, flush);
        LD_CHECK(ld_writer_put(x->writer, packed, BUFFER - (int64_t)x->z.avail_out));
    } while (x->z.avail_out == 0);
    return LD_OK;
}

static ld_status print_bytes(ld_print *x, const char *text, int64_t length)
{
    for (int64_t n; length > 0; text += n, length -= n) {
        n = length < BUFFER ? length : BUFFER;
        if (x->used + n > BUFFER)
            LD_CHECK(drain(x, Z_NO_FLUSH));
        memcpy(x->buffer + x->used, text, (size_t)n);
        x->used += n;
    }
    return LD_OK;
}

ld_status ld_print_text(ld_print *x, const char *text)
{
    return print_bytes(x, text, (int64_t)strlen(text));
}

ld_status ld_print_integer(ld_print *x, int64_t value)
{
    char digits[LONGEST_NUMBER], *p = digits + sizeof digits;
    uint64_t left = value < 0 ? -(uint64_t)value : (uint64_t)value;
    do
        *--p = (char)('0' + left % 10);
    while (left /= 10);
    if (value < 0)
        *--p = '-';
    return print_bytes(x, p, digits + sizeof digits - p);
}

ld_status ld_print_float(ld_print *x, float value)
{
    enum { SHORT = 6, EXACT = 9 };
    if (!isfinite(value))
        return ld_fail(LD_VALUE, "%s: a number is %s, which text does not hold",
                       x->writer->label.text,
                       isnan(value) ? "nan"
                       : value > 0  ? "inf"
                                    : "-inf");
    if (value == 0 && signbit(value))
        return ld_print_text(x, "-0");
    if (value >= -1e6f && value <= 1e6f && value == (float)(int32_t)value)
        return ld_print_integer(x, (int32_t)value);
    char text[LONGEST_NUMBER];
    int digits = SHORT;
    do
        snprintf(text, sizeof text, "%.*g", digits, value);
    while (digits++ < EXACT && strtof(text, NULL) != value);
    for (char *p = text; *p; p++) /* the user's language may have another decimal point */
        *p = *p == ',' ? '.' : *p;
    return ld_print_text(x, text);
}

ld_status ld_print_end(ld_print *x, ld_status st)
{
    if (st == LD_OK)
        st = drain(x, Z_FINISH);
    if (st == LD_OK)
        st = ld_writer_commit(x->writer);
    else
        ld_writer_abandon(x->writer);
    release(x);
    return st;
}

#include "io/archive/inflate.h"

#include <string.h>

#include "base/memory.h"
#include "io/archive/zlib_memory.h"

enum { BUFFER = 1 << 16, PIECE = 1 << 30 };

ld_status ld_inflater_open(ld_inflater *x, const ld_file *file, int64_t position, int64_t end,
                           int window_bits, const char *name)
{
    memset(x, 0, sizeof *x);
    x->file = file;
    x->position = position;
    x->end = end;
    x->name = name;
    ld_zlib_use_memory(&x->z);
    x->buffer = ld_alloc(BUFFER, LD_MEM_IO);
    if (!x->buffer)
        return LD_NOMEM;
    if (inflateInit2(&x->z, window_bits) == Z_OK)
        return LD_OK;
    ld_free(x->buffer);
    x->buffer = NULL;
    return LD_NOMEM; /* the only way to fail; the message is ld_alloc's */
}

static ld_status refill(ld_inflater *x)
{
    int64_t size = x->end - x->position;
    if (size > BUFFER)
        size = BUFFER;
    ld_status st = ld_file_read(x->file, x->buffer, x->position, size);
    if (st != LD_OK)
        return st;
    x->position += size;
    x->z.next_in = x->buffer;
    x->z.avail_in = (unsigned)size;
    return LD_OK;
}

/* One round of zlib, with room for output. It may have some yet when all input is taken. */
static ld_status inflate_some(ld_inflater *x)
{
    if (x->z.avail_in == 0 && x->position < x->end) {
        ld_status st = refill(x);
        if (st != LD_OK)
            return st;
    }
    switch (inflate(&x->z, Z_NO_FLUSH)) {
    case Z_STREAM_END: x->ended = true; return LD_OK;
    case Z_OK: return LD_OK;
    case Z_BUF_ERROR: /* it wants more input */
        if (ld_inflater_more(x))
            return LD_OK;
        return ld_fail(LD_FORMAT, "%s: the compressed data ends too early", x->name);
    case Z_MEM_ERROR: return LD_NOMEM;
    default:
        return ld_fail(LD_FORMAT, "%s: the compressed data is damaged: %s", x->name,
                       x->z.msg ? x->z.msg : "a preset dictionary is needed");
    }
}

ld_status ld_inflater_read(ld_inflater *x, void *out, int64_t size, int64_t *got)
{
    unsigned char *p = out, *end = p + size;
    while (p < end && !x->ended) {
        x->z.next_out = p;
        x->z.avail_out = end - p < PIECE ? (unsigned)(end - p) : PIECE;
        ld_status st = inflate_some(x);
        if (st != LD_OK)
            return st;
        p = x->z.next_out;
    }
    *got = p - (unsigned char *)out;
    return LD_OK;
}

bool ld_inflater_more(const ld_inflater *x)
{
    return x->z.avail_in > 0 || x->position < x->end;
}

void ld_inflater_restart(ld_inflater *x)
{
    inflateReset(&x->z);
    x->ended = false;
}

void ld_inflater_close(ld_inflater *x)
{
    if (!x->buffer)
        return;
    inflateEnd(&x->z);
    ld_free(x->buffer);
    x->buffer = NULL;
}

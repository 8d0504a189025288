#include "io/archive/inflate.h"

#include <string.h>

#include "io/archive/zlib_memory.h"
#include "memory/memory.h"

enum { BUFFER = 1 << 16, PIECE = 1 << 30 };

struct ld_inflater_state {
    z_stream z;
    unsigned char buffer[BUFFER];
};

ld_status ld_inflater_open(ld_inflater *x, const ld_file *file, int64_t position, int64_t end,
                           int window_bits, const char *name)
{
    memset(x, 0, sizeof *x);
    x->file = file;
    x->position = position;
    x->end = end;
    x->name = name;
    x->state = ld_alloc(sizeof *x->state, LD_MEM_IO);
    if (!x->state)
        return LD_NOMEM;
    x->state->z = (z_stream){0};
    ld_zlib_use_memory(&x->state->z);
    if (inflateInit2(&x->state->z, window_bits) == Z_OK)
        return LD_OK;
    ld_free(x->state);
    x->state = NULL;
    return LD_NOMEM; /* the only way to fail; the message is ld_alloc's */
}

static ld_status refill(ld_inflater *x)
{
    int64_t size = x->end - x->position;
    if (size > BUFFER)
        size = BUFFER;
    struct ld_inflater_state *state = x->state;
    LD_CHECK(ld_file_read(x->file, state->buffer, x->position, size));
    x->position += size;
    state->z.next_in = state->buffer;
    state->z.avail_in = (unsigned)size;
    return LD_OK;
}

/* Lets zlib write once into the room that there is for output. It may have more to write even when
 * it has taken all input. */
static ld_status inflate_some(ld_inflater *x)
{
    z_stream *z = &x->state->z;
    if (z->avail_in == 0 && x->position < x->end)
        LD_CHECK(refill(x));
    switch (inflate(z, Z_NO_FLUSH)) {
    case Z_STREAM_END: x->ended = true; return LD_OK;
    case Z_OK: return LD_OK;
    case Z_BUF_ERROR: /* it wants more input */
        if (ld_inflater_more(x))
            return LD_OK;
        return ld_fail(LD_FORMAT, "%s: the compressed data ends too early", x->name);
    case Z_MEM_ERROR: return LD_NOMEM;
    default:
        return ld_fail(LD_FORMAT, "%s: the compressed data is damaged: %s", x->name,
                       z->msg ? z->msg : "a preset dictionary is needed");
    }
}

ld_status ld_inflater_read(ld_inflater *x, void *out, int64_t size, int64_t *got)
{
    unsigned char *p = out, *end = p + size;
    z_stream *z = &x->state->z;
    while (p < end && !x->ended) {
        z->next_out = p;
        z->avail_out = end - p < PIECE ? (unsigned)(end - p) : PIECE;
        LD_CHECK(inflate_some(x));
        p = z->next_out;
    }
    *got = p - (unsigned char *)out;
    return LD_OK;
}

int64_t ld_inflater_position(const ld_inflater *x)
{
    return x->position - x->state->z.avail_in;
}

bool ld_inflater_more(const ld_inflater *x)
{
    return ld_inflater_position(x) < x->end;
}

void ld_inflater_restart(ld_inflater *x)
{
    inflateReset(&x->state->z);
    x->ended = false;
}

void ld_inflater_close(ld_inflater *x)
{
    if (!x->state)
        return;
    inflateEnd(&x->state->z);
    ld_free(x->state);
    x->state = NULL;
}

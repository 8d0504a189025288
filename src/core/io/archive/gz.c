/* Files that may be compressed with gzip, read plainly or inflated stream by stream. */
#include "io/archive/gz.h"

#include <inttypes.h>

#include "memory/memory.h"

enum { GZIP_WINDOW = 15 + 16 };

static ld_status read_packed(ld_inflater *x, char *out, int64_t size, int64_t *got)
{
    int64_t n;
    for (*got = 0; *got < size; *got += n) {
        if (x->ended && !ld_inflater_more(x))
            break;
        if (x->ended)
            ld_inflater_restart(x);
        LD_CHECK(ld_inflater_read(x, out + *got, size - *got, &n));
    }
    return LD_OK;
}

ld_status ld_gz_read(ld_gz *g, void *out, int64_t size, int64_t *got)
{
    if (g->packed)
        return read_packed(&g->inflater, out, size, got);
    int64_t left = g->file->size - g->position;
    *got = size < left ? size : left;
    LD_CHECK(ld_file_read(g->file, out, g->position, *got));
    g->position += *got;
    return LD_OK;
}

static ld_status source_read(ld_source *s, void *out, int64_t size)
{
    int64_t got;
    LD_CHECK(ld_gz_read((ld_gz *)s, out, size, &got));
    if (got < size)
        return ld_fail(LD_FORMAT, "%s: ends %" PRId64 " bytes too early", s->name, size - got);
    return LD_OK;
}

static ld_status source_finish(ld_source *s)
{
    char byte;
    int64_t got;
    LD_CHECK(ld_gz_read((ld_gz *)s, &byte, 1, &got));
    if (got > 0)
        return ld_fail(LD_FORMAT, "%s: bytes follow the end of its data", s->name);
    return LD_OK;
}

ld_status ld_gz_open(ld_gz **out, const char *path, const char *reader)
{
    unsigned char magic[2] = {0, 0};
    LD_OWN(ld_gz) *g = ld_calloc_array(1, sizeof *g, LD_MEM_IO);
    if (!g)
        return LD_NOMEM;
    LD_CHECK(ld_file_open(&g->file, path, reader));
    int64_t size = g->file->size;
    if (size >= 2)
        LD_CHECK(ld_file_read(g->file, magic, 0, 2));
    g->packed = magic[0] == 0x1f && magic[1] == 0x8b;
    g->source = (ld_source){.read = source_read,
                            .finish = source_finish,
                            .left = size,
                            .may_end_before = g->packed,
                            .name = g->file->label.text};
    if (g->packed) {
        g->source.left = size < INT64_MAX / LD_INFLATE_RATIO ? size * LD_INFLATE_RATIO : INT64_MAX;
        LD_CHECK(ld_inflater_open(&g->inflater, g->file, 0, size, GZIP_WINDOW, g->source.name));
    }
    *out = ld_take(&g);
    return LD_OK;
}

void ld_gz_close(ld_gz *g)
{
    if (!g)
        return;
    ld_inflater_close(&g->inflater);
    ld_file_close(g->file);
    ld_free(g);
}

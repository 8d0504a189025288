#include "io/archive/gz.h"

#include <inttypes.h>

#include "base/memory.h"

enum { GZIP_WINDOW = 15 + 16 };

static ld_status read_packed(ld_inflater *x, char *out, int64_t size, int64_t *got)
{
    int64_t n;
    for (*got = 0; *got < size; *got += n) {
        if (x->ended && !ld_inflater_more(x))
            break;
        if (x->ended)
            ld_inflater_restart(x);
        ld_status st = ld_inflater_read(x, out + *got, size - *got, &n);
        if (st != LD_OK)
            return st;
    }
    return LD_OK;
}

ld_status ld_gz_read(ld_gz *g, void *out, int64_t size, int64_t *got)
{
    ld_status st;
    if (g->packed) {
        st = read_packed(&g->inflater, out, size, got);
    } else {
        int64_t left = g->file->size - g->position;
        *got = size < left ? size : left;
        st = ld_file_read(g->file, out, g->position, *got);
        g->position += *got;
    }
    if (st == LD_OK)
        g->source.left -= *got;
    return st;
}

static ld_status source_read(ld_source *s, void *out, int64_t size)
{
    int64_t got;
    ld_status st = ld_gz_read((ld_gz *)s, out, size, &got);
    if (st == LD_OK && got < size)
        st = ld_fail(LD_FORMAT, "%s: ends %" PRId64 " bytes too early", s->name, size - got);
    return st;
}

static ld_status source_finish(ld_source *s)
{
    char byte;
    int64_t got;
    ld_status st = ld_gz_read((ld_gz *)s, &byte, 1, &got);
    if (st == LD_OK && got > 0)
        st = ld_fail(LD_FORMAT, "%s: bytes follow the end of its data", s->name);
    return st;
}

ld_status ld_gz_open(ld_gz **out, const char *path, const char *reader)
{
    ld_status st = LD_OK;
    unsigned char magic[2] = {0, 0};
    ld_gz *g = ld_calloc_array(1, sizeof *g, LD_MEM_IO);
    if (!g)
        return LD_NOMEM;
    LD_TRY(ld_file_open(&g->file, path, reader));
    int64_t size = g->file->size;
    if (size >= 2)
        LD_TRY(ld_file_read(g->file, magic, 0, 2));
    g->packed = magic[0] == 0x1f && magic[1] == 0x8b;
    g->source.read = source_read;
    g->source.finish = source_finish;
    g->source.name = g->file->label.text;
    g->source.left = size;
    if (g->packed) {
        g->source.left = size < INT64_MAX / LD_INFLATE_RATIO ? size * LD_INFLATE_RATIO : INT64_MAX;
        LD_TRY(ld_inflater_open(&g->inflater, g->file, 0, size, GZIP_WINDOW, g->source.name));
    }
    *out = g;
    g = NULL;
done:
    ld_gz_close(g);
    return st;
}

void ld_gz_close(ld_gz *g)
{
    if (!g)
        return;
    ld_inflater_close(&g->inflater);
    ld_file_close(g->file);
    ld_free(g);
}

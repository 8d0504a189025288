#include "io/archive/unpack.h"

#include <inttypes.h>

#include "base/memory.h"
#include "io/archive/gz.h"
#include "io/file.h"

enum { PIECE = 1 << 16 };

/* Where bytes go: through the hash, to a file unless `w` is NULL. */
typedef struct {
    ld_sha256 hash;
    ld_writer *w;
    char *piece;
} sink;

static ld_status sink_open(sink *to, const char *path)
{
    to->w = NULL;
    ld_sha256_begin(&to->hash);
    to->piece = ld_alloc(PIECE, LD_MEM_IO);
    if (!to->piece)
        return LD_NOMEM;
    return path ? ld_writer_open(&to->w, path, "unpack") : LD_OK;
}

static ld_status sink_put(sink *to, int64_t size)
{
    ld_sha256_add(&to->hash, to->piece, (size_t)size);
    return to->w ? ld_writer_put(to->w, to->piece, size) : LD_OK;
}

/* Completes the file when `st` is LD_OK, removes it otherwise. */
static ld_status sink_close(unsigned char digest[LD_SHA256_BYTES], sink *to, ld_status st)
{
    if (st == LD_OK) {
        ld_sha256_end(&to->hash, digest);
        if (to->w)
            st = ld_writer_commit(to->w);
    } else {
        ld_writer_abandon(to->w);
    }
    ld_free(to->piece);
    return st;
}

ld_status ld_unpack_member(unsigned char digest[LD_SHA256_BYTES], ld_zip *z,
                           const ld_zip_member *member, const char *path)
{
    sink to;
    ld_source *s;
    ld_status st;
    if (ld_zip_is_link(member))
        return ld_fail(LD_FORMAT, "%s: member \"%.100s\" is a symbolic link", z->file->label.text,
                       member->name);
    LD_TRY(sink_open(&to, path));
    LD_TRY(ld_zip_read(&s, z, member));
    while (s->left > 0) {
        int64_t size = s->left < PIECE ? s->left : PIECE;
        LD_TRY(ld_poll());
        LD_TRY(s->read(s, to.piece, size));
        LD_TRY(sink_put(&to, size));
    }
    LD_TRY(s->finish(s));
done:
    return sink_close(digest, &to, st);
}

ld_status ld_unpack_gz(unsigned char digest[LD_SHA256_BYTES], const char *from, const char *path,
                       int64_t limit)
{
    sink to = {.piece = NULL};
    ld_gz *g = NULL;
    ld_status st;
    int64_t got, total = 0;
    LD_TRY(ld_gz_open(&g, from, "unpack"));
    LD_TRY(sink_open(&to, path));
    do {
        LD_TRY(ld_poll());
        LD_TRY(ld_gz_read(g, to.piece, PIECE, &got));
        LD_TRY(sink_put(&to, got));
        total += got;
        if (total > limit) {
            st = ld_fail(LD_FORMAT, "%s: inflates to more than the limit of %" PRId64 " bytes",
                         g->source.name, limit);
            goto done;
        }
    } while (got == PIECE);
done:
    ld_gz_close(g);
    return sink_close(digest, &to, st);
}

ld_status ld_file_digest(unsigned char digest[LD_SHA256_BYTES], const char *path)
{
    sink to = {.piece = NULL};
    ld_file *f = NULL;
    ld_status st;
    LD_TRY(ld_file_open(&f, path, "file"));
    LD_TRY(sink_open(&to, NULL));
    for (int64_t at = 0, size; at < f->size; at += size) {
        size = f->size - at < PIECE ? f->size - at : PIECE;
        LD_TRY(ld_file_read(f, to.piece, at, size));
        LD_TRY(sink_put(&to, size));
    }
done:
    ld_file_close(f);
    return sink_close(digest, &to, st);
}

#include "io/archive/unpack.h"

#include <inttypes.h>
#include <sys/stat.h>

#include "io/archive/gz.h"
#include "io/file.h"
#include "memory/memory.h"

enum { PIECE = 1 << 16 };

/* The destination of bytes: they go through the hash, and to a file unless `w` is NULL. */
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

/* Completes the file, if there is one. */
static ld_status sink_end(unsigned char digest[LD_SHA256_BYTES], sink *to)
{
    ld_sha256_end(&to->hash, digest);
    return to->w ? ld_writer_commit(ld_take(&to->w)) : LD_OK;
}

/* Removes a file that is not complete. */
static void sink_close(sink *to)
{
    ld_writer_abandon(to->w);
    ld_free(to->piece);
}

ld_status ld_unpack_member(unsigned char digest[LD_SHA256_BYTES], ld_zip *z,
                           const ld_zip_member *member, const char *path)
{
    LD_CLEANED(sink_close) sink to = {.piece = NULL};
    ld_source *s;
    if (S_ISLNK(member->mode)) /* its content is the target */
        return ld_fail(LD_FORMAT, "%s: member \"%.100s\" is a symbolic link", z->file->label.text,
                       member->name);
    LD_CHECK(sink_open(&to, path));
    LD_CHECK(ld_zip_read(&s, z, member));
    while (s->left > 0) {
        int64_t size = s->left < PIECE ? s->left : PIECE;
        LD_CHECK(ld_poll());
        LD_CHECK(ld_source_read(s, to.piece, size));
        LD_CHECK(sink_put(&to, size));
    }
    LD_CHECK(ld_source_finish(s));
    return sink_end(digest, &to);
}

ld_status ld_unpack_gz(unsigned char digest[LD_SHA256_BYTES], const char *from, const char *path,
                       int64_t limit)
{
    LD_CLEANED(sink_close) sink to = {.piece = NULL};
    LD_OWN(ld_gz) *g = NULL;
    int64_t got, total = 0;
    LD_CHECK(ld_gz_open(&g, from, "unpack"));
    LD_CHECK(sink_open(&to, path));
    do {
        LD_CHECK(ld_poll());
        LD_CHECK(ld_gz_read(g, to.piece, PIECE, &got));
        LD_CHECK(sink_put(&to, got));
        total += got;
        if (total > limit)
            return ld_fail(LD_FORMAT, "%s: inflates to more than the limit of %" PRId64 " bytes",
                           g->source.name, limit);
    } while (got == PIECE);
    return sink_end(digest, &to);
}

ld_status ld_file_digest(unsigned char digest[LD_SHA256_BYTES], const char *path)
{
    LD_CLEANED(sink_close) sink to = {.piece = NULL};
    LD_OWN(ld_file) *f = NULL;
    LD_CHECK(ld_file_open(&f, path, "file"));
    LD_CHECK(sink_open(&to, NULL));
    for (int64_t at = 0, size; at < f->size; at += size) {
        size = f->size - at < PIECE ? f->size - at : PIECE;
        LD_CHECK(ld_file_read(f, to.piece, at, size));
        LD_CHECK(sink_put(&to, size));
    }
    return sink_end(digest, &to);
}

#include "io/array/npz.h"

#include <minizip/zip.h>
#include <stdlib.h>
#include <string.h>

#include "io/file.h"
#include "memory/memory.h"

enum {
    SUFFIX = 4,               /* bytes of ".npy" */
    LEVEL = 5,                /* of zlib: 9 takes 24 times as long for labels, to save 12 % */
    NEW_YEAR_1980 = 0x210000, /* midnight of the first day that the format has */
    UTF8_NAME = 1 << 11,      /* a flag */
    BARE_WINDOW = -15,
    MEMORY_LEVEL = 8,
    PIECE = 1 << 24,
    LOCAL = 30,       /* bytes of a local header without name and extra field */
    EXTRA64 = 20,     /* bytes of the zip64 part of the extra field */
    PADDING = 0xD935, /* the part that only takes room, as Android's zipalign has it */
    ALIGNMENT = 64,   /* bytes to which stored elements are aligned, as npy headers are */
    MOST_PADDING = 6 + ALIGNMENT,
};

/* Beyond this many bytes a member may need zip64, as deflated data can be a little longer. */
static const int64_t LARGE = 0xF0000000;

int ld_npz_name_length(const ld_zip_member *m)
{
    size_t n = strlen(m->name);
    return n > SUFFIX && strcmp(m->name + n - SUFFIX, ".npy") == 0 ? (int)n - SUFFIX : -1;
}

static const ld_zip_member *find(const ld_zip *z, const char *name)
{
    char full[LD_ZIP_LONGEST_NAME + 1];
    int n = snprintf(full, sizeof full, "%s.npy", name);
    return n < (int)sizeof full ? ld_zip_find(z, full) : NULL;
}

bool ld_npz_has(const ld_zip *z, const char *name)
{
    return find(z, name) != NULL;
}

/* Fails for an array that is not there, with as many names of those that are as have room. */
static ld_status fail_no_array(const ld_zip *z, const char *name)
{
    static const char more[] = ", ...";
    char list[200] = "";
    size_t used = 0;
    for (int64_t i = 0; i < z->count; i++) {
        int n = ld_npz_name_length(&z->members[i]);
        if (n < 0)
            continue;
        if (used + 2 + (size_t)n + sizeof more > sizeof list) { /* with a comma before the name */
            strcpy(list + used, more);
            break;
        }
        used += (size_t)sprintf(list + used, "%s%.*s", used ? ", " : "", n, z->members[i].name);
    }
    return ld_fail(LD_VALUE, "%s: has no array \"%.60s\"; it has: %s", z->file->label.text, name,
                   list);
}

ld_status ld_npz_read(ld_npy_header *h, ld_source **s, ld_zip *z, const char *name)
{
    const ld_zip_member *m = find(z, name);
    if (!m)
        return fail_no_array(z, name);
    LD_CHECK(ld_zip_read(s, z, m));
    return ld_npy_read_header(h, *s);
}

/* minizip writes to the stream of a writer, which is opened and closed elsewhere. */
static void *stream_open(void *stream, const void *path, int mode)
{
    (void)path;
    (void)mode;
    return stream;
}

static int stream_close(void *opaque, void *stream)
{
    (void)opaque;
    (void)stream;
    return 0;
}

static ld_status put(zipFile zip, ld_writer *w, const void *data, int64_t size)
{
    const char *p = data;
    for (int64_t n; size > 0; p += n, size -= n) {
        LD_CHECK(ld_poll());
        n = size < PIECE ? size : PIECE;
        if (zipWriteInFileInZip(zip, p, (unsigned)n) != ZIP_OK)
            return ld_writer_fail(w);
    }
    return LD_OK;
}

/* Makes an extra field so long that the member's bytes, behind a local header at `position`, are
 * aligned: then they can be mapped. Returns its length. */
static unsigned make_padding(char extra[MOST_PADDING], int64_t position, size_t name, bool zip64)
{
    enum { HEAD = 6 }; /* the part's number and length, and the alignment */
    int64_t end = position + LOCAL + (int64_t)name + (zip64 ? EXTRA64 : 0) + HEAD;
    unsigned length = HEAD + (unsigned)(-end & (ALIGNMENT - 1));
    memset(extra, 0, length);
    extra[0] = (char)(PADDING & 0xFF);
    extra[1] = (char)(PADDING >> 8);
    extra[2] = (char)(length - 4);
    extra[4] = ALIGNMENT;
    return length;
}

static ld_status put_member(zipFile zip, ld_writer *w, const ld_npy_array *a, bool compress)
{
    char name[LD_ZIP_LONGEST_NAME + 1], prefix[LD_NPY_PREFIX], extra[MOST_PADDING];
    bool zip64 = ld_npy_bytes(&a->header) > LARGE;
    unsigned long flags = 0;
    zip_fileinfo info = {.dosDate = NEW_YEAR_1980};
    int n = snprintf(name, sizeof name, "%s.npy", a->name);
    if (!a->name[0] || n >= (int)sizeof name || !ld_zip_name_is_fit(name))
        return ld_fail(LD_VALUE, "%s: an array cannot have the name \"%.100s\"", w->label.text,
                       a->name);
    for (const char *p = name; *p; p++)
        flags |= (unsigned char)*p >= 0x80 ? UTF8_NAME : 0;
    bool aligned = !compress && ld_npy_bytes(&a->header) >= LD_NPY_LEAST_MAPPED;
    unsigned padding = aligned ? make_padding(extra, ftello(w->stream), strlen(name), zip64) : 0;
    if (zipOpenNewFileInZip4_64(zip, name, &info, extra, padding, NULL, 0, NULL,
                                compress ? Z_DEFLATED : 0, compress ? LEVEL : 0, 0, BARE_WINDOW,
                                MEMORY_LEVEL, Z_DEFAULT_STRATEGY, NULL, 0, 0, flags,
                                zip64) != ZIP_OK)
        return ld_writer_fail(w);
    LD_CHECK(put(zip, w, prefix, ld_npy_format_prefix(prefix, &a->header)));
    LD_CHECK(put(zip, w, a->data, ld_npy_bytes(&a->header)));
    if (zipCloseFileInZip(zip) != ZIP_OK)
        return ld_writer_fail(w);
    return LD_OK;
}

static int compare_arrays(const void *a, const void *b)
{
    return strcmp((*(const ld_npy_array *const *)a)->name, (*(const ld_npy_array *const *)b)->name);
}

static void close_zip(zipFile *zip)
{
    if (*zip)
        zipClose(*zip, NULL);
}

ld_status ld_npz_write(const char *path, const ld_npy_array *arrays, int64_t count, bool compress)
{
    LD_OWN(ld_writer) *w = NULL;
    LD_CLEANED(close_zip) zipFile zip = NULL; /* before the writer, to whose stream it writes */
    LD_FREED const ld_npy_array **sorted = ld_alloc_array(count, sizeof *sorted, LD_MEM_IO);
    if (!sorted)
        return LD_NOMEM;
    for (int64_t i = 0; i < count; i++)
        sorted[i] = &arrays[i];
    qsort(sorted, (size_t)count, sizeof *sorted, compare_arrays);

    LD_CHECK(ld_writer_open(&w, path, "npz"));
    for (int64_t i = 0; i < count; i++)
        if (arrays[i].header.type.kind == 'B')
            return ld_fail(LD_VALUE,
                           "%s: \"%.100s\": the format has no bfloat16; float16 or "
                           ".safetensors has",
                           w->label.text, arrays[i].name);
    zlib_filefunc64_def functions;
    fill_fopen64_filefunc(&functions);
    functions.zopen64_file = stream_open;
    functions.zclose_file = stream_close;
    functions.opaque = w->stream;
    zip = zipOpen2_64(path, APPEND_STATUS_CREATE, NULL, &functions);
    if (!zip)
        return ld_fail(LD_NOMEM, "%s: out of memory", w->label.text);
    for (int64_t i = 0; i < count; i++)
        LD_CHECK(put_member(zip, w, sorted[i], compress));
    if (zipClose(ld_take(&zip), NULL) != ZIP_OK)
        return ld_writer_fail(w);
    return ld_writer_commit(ld_take(&w));
}

#include "io/archive/zip.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/bytes.h"
#include "memory/memory.h"
#include "system/threads.h"

enum {
    END = 22,         /* bytes of the record at the archive's end */
    LOCATOR = 20,     /* bytes of the record before it in a zip64 archive ... */
    END64 = 56,       /* ... and of the record to which that leads */
    ENTRY = 46,       /* bytes of a directory entry without name and extra field */
    LOCAL = 30,       /* bytes of a local header without them */
    LONGEST = 0xFFFF, /* the longest comment, name or extra field */
    ENCRYPTED = 1,    /* flags: */
    TRAILING = 8,     /* crc and sizes follow the member instead of standing in its local header */
    UNIX = 3,         /* the system that packed it */
    BARE_WINDOW = -15,
};

static const uint32_t SATURATED = 0xFFFFFFFF; /* the true value is in the zip64 extra field */

/* Reads a number anywhere in a buffer. */
static uint16_t get16(const unsigned char *p)
{
    return (uint16_t)ld_little_endian(p, 2);
}

static uint32_t get32(const unsigned char *p)
{
    return (uint32_t)ld_little_endian(p, 4);
}

static uint64_t get64(const unsigned char *p)
{
    return ld_little_endian(p, 8);
}

bool ld_zip_name_is_fit(const char *name)
{
    size_t length = strlen(name);
    if (length == 0 || length > LD_ZIP_LONGEST_NAME || name[0] == '/')
        return false;
    for (const char *p = name; *p; p++) {
        if ((unsigned char)*p < 0x20 || *p == 0x7F || *p == '\\')
            return false;
        bool begins = p == name || p[-1] == '/';
        if (begins && p[0] == '.' && p[1] == '.' && (p[2] == '/' || p[2] == '\0'))
            return false;
    }
    return true;
}

/* The place of the directory, as the archive's end says. */
typedef struct {
    uint64_t count, size, position;
} directory;

/* Returns true if a number of the end record is that of the zip64 record, or saturated, so that it
 * says nothing. */
static bool agrees(uint64_t number, uint64_t most, uint64_t in_record)
{
    return number == most || number == in_record;
}

/* Takes the numbers of the zip64 record, if there is one, in place of those of the end record at
 * `end`; there must be one where these are saturated. Python writes one from 2 GiB on, beside
 * numbers that the end record still holds. */
static ld_status read_end64(directory *d, int64_t *end, const ld_file *f)
{
    bool is_needed = d->count == 0xFFFF || d->size == SATURATED || d->position == SATURATED;
    unsigned char locator[LOCATOR] = {0}, record[END64];
    if (*end >= LOCATOR + END64)
        LD_CHECK(ld_file_read(f, locator, *end - LOCATOR, LOCATOR));
    bool is_there = get32(locator) == 0x07064B50;
    uint64_t position = get64(locator + 8);
    if (!is_there && !is_needed)
        return LD_OK;
    if (!is_there || position > (uint64_t)(*end - LOCATOR - END64))
        return ld_fail(LD_FORMAT, "%s: its zip64 record is missing", f->label.text);
    LD_CHECK(ld_file_read(f, record, (int64_t)position, END64));
    directory in_record = {get64(record + 32), get64(record + 40), get64(record + 48)};
    if (get32(record) != 0x06064B50 || get64(record + 24) != in_record.count ||
        !agrees(d->count, 0xFFFF, in_record.count) || !agrees(d->size, SATURATED, in_record.size) ||
        !agrees(d->position, SATURATED, in_record.position))
        return ld_fail(LD_FORMAT, "%s: its zip64 record is damaged", f->label.text);
    *d = in_record;
    *end = (int64_t)position;
    return LD_OK;
}

/* Looks for the end record, which only a comment may follow, and checks that the directory lies
 * right before it. */
static ld_status find_directory(directory *d, const ld_file *f)
{
    int64_t tail = f->size < END + LONGEST ? f->size : END + LONGEST, end = -1;
    LD_FREED unsigned char *bytes = ld_alloc((size_t)tail + 1, LD_MEM_IO);
    if (!bytes)
        return LD_NOMEM;
    LD_CHECK(ld_file_read(f, bytes, f->size - tail, tail));
    for (int64_t i = tail - END; i >= 0 && end < 0; i--) {
        const unsigned char *p = bytes + i;
        if (get32(p) == 0x06054B50 && get16(p + 20) == tail - END - i &&
            get16(p + 8) == get16(p + 10)) {
            *d = (directory){get16(p + 10), get32(p + 12), get32(p + 16)};
            end = f->size - tail + i;
        }
    }
    if (end < 0)
        return ld_fail(LD_FORMAT, "%s: is not a zip archive, or is cut off: it has no end record",
                       f->label.text);
    LD_CHECK(read_end64(d, &end, f));
    if (d->position > (uint64_t)end || d->size != (uint64_t)end - d->position ||
        d->count > d->size / ENTRY)
        return ld_fail(LD_FORMAT,
                       "%s: its directory (%" PRIu64 " members in %" PRIu64 " bytes at %" PRIu64
                       ") is not where it should end, at %" PRId64,
                       f->label.text, d->count, d->size, d->position, end);
    return LD_OK;
}

/* Replaces those of `n` numbers that are saturated by what the zip64 part of an extra field says;
 * false when the field is malformed or lacks one. */
static bool resolve(const unsigned char *extra, int length, uint64_t **numbers, int n)
{
    const unsigned char *part = extra, *end = extra + length;
    int left = 0;
    for (const unsigned char *p = extra; p < end; p += 4 + get16(p + 2)) {
        if (end - p < 4 || end - p - 4 < get16(p + 2))
            return false;
        if (get16(p) == 1) {
            part = p + 4;
            left = get16(p + 2);
        }
    }
    for (int i = 0; i < n; i++) {
        if (*numbers[i] != SATURATED)
            continue;
        if (left < 8)
            return false;
        *numbers[i] = get64(part);
        part += 8;
        left -= 8;
    }
    return true;
}

static ld_status fail_member(const ld_zip *z, const char *name, const char *what)
{
    return ld_fail(LD_FORMAT, "%s: member \"%.100s\" %s", z->file->label.text, name, what);
}

/* Reads one entry of the directory, which has `room` bytes left, and returns its length. */
static ld_status read_entry(ld_zip_member *m, int64_t *length, const ld_zip *z,
                            const unsigned char *p, int64_t room)
{
    if (room < ENTRY || get32(p) != 0x02014B50)
        return ld_fail(LD_FORMAT, "%s: its directory is damaged", z->file->label.text);
    int name = get16(p + 28), extra = get16(p + 30);
    uint64_t packed = get32(p + 20), size = get32(p + 24), header = get32(p + 42);
    *length = ENTRY + name + extra + get16(p + 32);
    if (*length > room ||
        !resolve(p + ENTRY + name, extra, (uint64_t *[]){&size, &packed, &header}, 3))
        return ld_fail(LD_FORMAT, "%s: its directory is damaged", z->file->label.text);
    if (name <= LD_ZIP_LONGEST_NAME) {
        memcpy(m->name, p + ENTRY, (size_t)name);
        m->name[name] = '\0';
    }
    if (name > LD_ZIP_LONGEST_NAME || strlen(m->name) != (size_t)name ||
        !ld_zip_name_is_fit(m->name))
        return ld_fail(LD_FORMAT,
                       "%s: the name of a member is empty, too long, or a path out of "
                       "the archive",
                       z->file->label.text);
    uint64_t limit = (uint64_t)z->directory;
    if (packed > limit || header > limit - packed)
        return fail_member(z, m->name, "lies outside of the archive");
    m->flags = get16(p + 8);
    m->method = get16(p + 10);
    m->crc = get32(p + 16);
    m->mode = p[5] == UNIX ? get16(p + 40) : 0;
    m->packed = (int64_t)packed;
    m->header = (int64_t)header;
    if ((m->method == LD_ZIP_STORED && size != packed) ||
        (m->method == LD_ZIP_DEFLATED && size / LD_INFLATE_RATIO > packed) || size > INT64_MAX)
        return ld_fail(LD_FORMAT,
                       "%s: member \"%.100s\" declares %" PRIu64 " bytes, which its %" PRIu64
                       " bytes in the archive cannot hold",
                       z->file->label.text, m->name, size, packed);
    m->size = (int64_t)size;
    return LD_OK;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const ld_zip_member *)a)->name, ((const ld_zip_member *)b)->name);
}

static ld_status read_directory(ld_zip *z, const directory *d)
{
    int64_t room = (int64_t)d->size, length = 0, packed = 0;
    z->directory = (int64_t)d->position;
    LD_FREED unsigned char *bytes = ld_alloc((size_t)room, LD_MEM_IO);
    unsigned char *p = bytes;
    z->members = ld_alloc_array((int64_t)d->count, sizeof *z->members, LD_MEM_IO);
    if (!bytes || !z->members)
        return LD_NOMEM;
    LD_CHECK(ld_file_read(z->file, bytes, z->directory, room));
    for (; z->count < (int64_t)d->count; z->count++, p += length, room -= length) {
        ld_zip_member *m = z->members + z->count;
        LD_CHECK(read_entry(m, &length, z, p, room));
        packed += m->packed + LOCAL;
        if (packed > z->directory)
            return fail_member(z, m->name, "overlaps others");
    }
    if (room > 0)
        return ld_fail(LD_FORMAT,
                       "%s: its directory has more than the %" PRIu64 " members that it declares",
                       z->file->label.text, d->count);
    qsort(z->members, (size_t)z->count, sizeof *z->members, compare_names);
    for (int64_t i = 1; i < z->count; i++)
        if (compare_names(&z->members[i - 1], &z->members[i]) == 0)
            return fail_member(z, z->members[i].name, "occurs twice");
    return LD_OK;
}

ld_status ld_zip_open(ld_zip **out, const char *path, const char *reader)
{
    directory d = {0, 0, 0};
    LD_OWN(ld_zip) *z = ld_calloc_array(1, sizeof *z, LD_MEM_IO);
    if (!z)
        return LD_NOMEM;
    LD_CHECK(ld_file_open(&z->file, path, reader));
    LD_CHECK(find_directory(&d, z->file));
    LD_CHECK(read_directory(z, &d));
    *out = ld_take(&z);
    return LD_OK;
}

void ld_zip_close(ld_zip *z)
{
    if (!z)
        return;
    ld_inflater_close(&z->inflater);
    ld_free(z->members);
    ld_file_close(z->file);
    ld_free(z);
}

static int compare_with_name(const void *name, const void *member)
{
    return strcmp(name, ((const ld_zip_member *)member)->name);
}

const ld_zip_member *ld_zip_find(const ld_zip *z, const char *name)
{
    if (z->count == 0)
        return NULL;
    return bsearch(name, z->members, (size_t)z->count, sizeof *z->members, compare_with_name);
}

static ld_status member_read(ld_source *s, void *out, int64_t size)
{
    ld_zip *z = (ld_zip *)((char *)s - offsetof(ld_zip, source));
    int64_t got = size;
    if (z->member->method == LD_ZIP_STORED) {
        LD_CHECK(ld_file_read(z->file, out, z->position, size));
        z->position += size;
    } else {
        LD_CHECK(ld_inflater_read(&z->inflater, out, size, &got));
    }
    if (got < size)
        return ld_fail(LD_FORMAT, "%s: inflates to %" PRId64 " bytes, %" PRId64 " declared",
                       s->name, z->member->size - s->left + got, z->member->size);
    z->crc = (uint32_t)crc32_z(z->crc, out, (size_t)size);
    return LD_OK;
}

/* The CRCs of pieces of a mapped member, which are put together afterwards. */
typedef struct {
    const unsigned char *data;
    int64_t size;
    uint32_t *crc;
} crc_pieces;

enum { CRC_PIECE = 1 << 22, ALIGNED = 8 };

static int64_t piece_size(const crc_pieces *p, int64_t i)
{
    int64_t left = p->size - i * CRC_PIECE;
    return left < CRC_PIECE ? left : CRC_PIECE;
}

static void crc_of_pieces(void *ctx, int64_t begin, int64_t end)
{
    crc_pieces *p = ctx;
    for (int64_t i = begin; i < end; i++)
        p->crc[i] = (uint32_t)crc32_z(0, p->data + i * CRC_PIECE, (size_t)piece_size(p, i));
}

static ld_status add_crc(uint32_t *crc, const char *data, int64_t size)
{
    int64_t count = (size + CRC_PIECE - 1) / CRC_PIECE;
    LD_FREED uint32_t *crcs = ld_alloc_array(count, sizeof *crcs, LD_MEM_IO);
    if (!crcs)
        return LD_NOMEM;
    crc_pieces p = {(const unsigned char *)data, size, crcs};
    LD_CHECK(ld_parallel_for(count, 1, crc_of_pieces, &p));
    for (int64_t i = 0; i < count; i++)
        *crc = (uint32_t)crc32_combine(*crc, crcs[i], piece_size(&p, i));
    return LD_OK;
}

static ld_status member_map(ld_source *s, ld_mapping **out, int64_t size)
{
    ld_zip *z = (ld_zip *)((char *)s - offsetof(ld_zip, source));
    LD_OWN(ld_mapping) *m = NULL;
    if (z->least_mapped == 0 || size < z->least_mapped || z->member->method != LD_ZIP_STORED ||
        z->position % ALIGNED != 0)
        return LD_OK;
    LD_CHECK(
        ld_mapping_new(&m, z->file->fd, z->file->opened, z->file->label.text, z->position, size));
    LD_CHECK(add_crc(&z->crc, m->data, size));
    z->position += size;
    *out = ld_take(&m);
    return LD_OK;
}

static ld_status member_finish(ld_source *s)
{
    ld_zip *z = (ld_zip *)((char *)s - offsetof(ld_zip, source));
    const ld_zip_member *m = z->member;
    if (m->method == LD_ZIP_DEFLATED) {
        char byte;
        int64_t got;
        LD_CHECK(ld_inflater_read(&z->inflater, &byte, 1, &got));
        if (got > 0 || ld_inflater_more(&z->inflater))
            return ld_fail(LD_FORMAT, "%s: inflates to more than the %" PRId64 " bytes declared",
                           s->name, m->size);
    }
    if (z->crc != m->crc)
        return ld_fail(LD_FORMAT, "%s: CRC is %08" PRIx32 ", %08" PRIx32 " expected", s->name,
                       z->crc, m->crc);
    return LD_OK;
}

/* Checks a member's local header against the directory and finds its first byte. */
static ld_status read_local(int64_t *first, const ld_zip *z, const ld_zip_member *m)
{
    unsigned char p[LOCAL + LD_ZIP_LONGEST_NAME];
    int name = (int)strlen(m->name);
    if (m->header > z->directory - LOCAL - name)
        return fail_member(z, m->name, "lies outside of the archive");
    LD_CHECK(ld_file_read(z->file, p, m->header, LOCAL + name));
    int length = get16(p + 28);
    *first = m->header + LOCAL + name + length;
    if (*first > z->directory - m->packed)
        return fail_member(z, m->name, "lies outside of the archive");
    LD_FREED unsigned char *extra = ld_alloc((size_t)length, LD_MEM_IO);
    if (!extra)
        return LD_NOMEM;
    LD_CHECK(ld_file_read(z->file, extra, m->header + LOCAL + name, length));
    uint64_t packed = get32(p + 18), size = get32(p + 22);
    bool same = get32(p) == 0x04034B50 && get16(p + 6) == m->flags && get16(p + 8) == m->method &&
                get16(p + 26) == name && memcmp(p + LOCAL, m->name, (size_t)name) == 0 &&
                resolve(extra, length, (uint64_t *[]){&size, &packed}, 2);
    if (same && !(m->flags & TRAILING))
        same =
            get32(p + 14) == m->crc && size == (uint64_t)m->size && packed == (uint64_t)m->packed;
    if (!same)
        return fail_member(z, m->name, "has a local header that disagrees with the directory");
    return LD_OK;
}

ld_status ld_zip_read(ld_source **out, ld_zip *z, const ld_zip_member *m)
{
    ld_inflater_close(&z->inflater);
    snprintf(z->name, sizeof z->name, "%s: member \"%.100s\"", z->file->label.text, m->name);
    if (m->flags & ENCRYPTED)
        return ld_fail(LD_FORMAT, "%s: is encrypted", z->name);
    if (m->method != LD_ZIP_STORED && m->method != LD_ZIP_DEFLATED)
        return ld_fail(LD_FORMAT,
                       "%s: has compression method %d; stored (0) and deflated (8) are "
                       "read",
                       z->name, m->method);
    LD_CHECK(read_local(&z->position, z, m));
    if (m->method == LD_ZIP_DEFLATED)
        LD_CHECK(ld_inflater_open(&z->inflater, z->file, z->position, z->position + m->packed,
                                  BARE_WINDOW, z->name));
    z->member = m;
    z->crc = 0;
    z->source = (ld_source){.read = member_read,
                            .map = member_map,
                            .finish = member_finish,
                            .left = m->size,
                            .name = z->name};
    *out = &z->source;
    return LD_OK;
}

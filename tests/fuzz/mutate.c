#include <string.h>
#include <zlib.h>

#include "fuzz.h"
#include "io/archive/gz.h"
#include "io/archive/zip.h"
#include "random/rng.h"

enum {
    MOST_CONTENT = 1 << 18,
    GROWTH = 1 << 10,
    MOST_MEMBERS = 32,
    GZIP_WINDOW = 31,
    BARE = -15,
    UNIX = 3,       /* the system that packed it */
    LINK = 0120777, /* the mode of a symbolic link */
    TRAILING = 8    /* a flag: crc and sizes follow the member */
};

/* The draws of one mutation, from the seed that the fuzzer gives it. */
typedef struct {
    ld_stream stream;
    uint64_t position;
} dice;

static dice dice_of(unsigned seed)
{
    return (dice){{seed, 1}, 0};
}

static uint32_t draw(dice *d, uint32_t below)
{
    uint32_t bits[4];
    ld_philox(bits, d->stream, d->position++);
    return bits[0] % below;
}

/* Deflates with zlib's window_bits into `room` bytes; the length, or 0 when it does not fit. */
static size_t pack(uint8_t *out, size_t room, const uint8_t *data, size_t size, int level,
                   int window)
{
    z_stream z = {.next_in = (uint8_t *)data,
                  .avail_in = (unsigned)size,
                  .next_out = out,
                  .avail_out = (unsigned)room};
    if (deflateInit2(&z, level, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return 0;
    bool whole = deflate(&z, Z_FINISH) == Z_STREAM_END;
    size_t length = z.total_out;
    deflateEnd(&z);
    return whole ? length : 0;
}

/* --- gzip ------------------------------------------------------------------------------------- */

/* Unpacks a gzip file; returns the size of its content, or -1 when it is none, damaged or too
 * large. */
static int64_t unpack(uint8_t *content, const uint8_t *data, size_t size)
{
    ld_gz *g = NULL;
    int64_t got = -1;
    if (ld_gz_open(&g, fuzz_file(data, size), "fuzz") != LD_OK)
        return -1;
    if (!g->packed || ld_gz_read(g, content, MOST_CONTENT, &got) != LD_OK || got == MOST_CONTENT)
        got = -1;
    ld_gz_close(g);
    return got;
}

size_t fuzz_mutate_gzip(uint8_t *data, size_t size, size_t most, unsigned seed, size_t prefix)
{
    static uint8_t content[MOST_CONTENT + GROWTH];
    dice d = dice_of(seed);
    if (size <= prefix || draw(&d, 4) == 0)
        return LLVMFuzzerMutate(data, size, most);
    int64_t n = unpack(content, data + prefix, size - prefix);
    bool packed = n >= 0, repack = packed != (draw(&d, 16) == 0);
    if (!packed && !repack)
        return LLVMFuzzerMutate(data, size, most);
    if (!packed) {
        n = (int64_t)(size - prefix) < MOST_CONTENT ? (int64_t)(size - prefix) : MOST_CONTENT;
        memcpy(content, data + prefix, (size_t)n);
    }
    size_t length = LLVMFuzzerMutate(content, (size_t)n, (size_t)n + GROWTH), room = most - prefix;
    if (!repack) {
        length = length < room ? length : room;
        memcpy(data + prefix, content, length);
        return prefix + length;
    }
    /* Some files have two streams. */
    size_t first = draw(&d, 8) == 0 ? draw(&d, (uint32_t)length + 1) : length, second = 0;
    uint8_t *out = data + prefix;
    int level = (int)draw(&d, 3) * 3;
    size_t used = pack(out, room, content, first, level, GZIP_WINDOW);
    if (used > 0 && first < length) {
        second = pack(out + used, room - used, content + first, length - first, level, GZIP_WINDOW);
        used = second > 0 ? used + second : 0;
    }
    return used > 0 ? prefix + used : LLVMFuzzerMutate(data, size, most);
}

/* --- zip -------------------------------------------------------------------------------------- */

typedef struct {
    char name[LD_ZIP_LONGEST_NAME + 1];
    uint8_t *content;
    size_t size;
    uint64_t packed_size, header;
    uint32_t crc;
    uint16_t method, flags, mode;
    bool zip64;
} member;

typedef struct {
    member members[MOST_MEMBERS];
    int count;
    uint8_t content[MOST_CONTENT + GROWTH]; /* of all members, and room for one to grow */
    size_t used;
} archive;

/* Reads the members that can be read. */
static void read_members(archive *a, const uint8_t *data, size_t size)
{
    ld_zip *z = NULL;
    a->count = 0;
    a->used = 0;
    if (ld_zip_open(&z, fuzz_file(data, size), "fuzz") != LD_OK)
        return;
    for (int64_t i = 0; i < z->count && a->count < MOST_MEMBERS; i++) {
        const ld_zip_member *from = &z->members[i];
        ld_source *s;
        uint8_t *content = a->content + a->used;
        if (from->size > (int64_t)(MOST_CONTENT - a->used) || ld_zip_read(&s, z, from) != LD_OK ||
            ld_source_read(s, content, from->size) != LD_OK || ld_source_finish(s) != LD_OK)
            continue;
        member *m = &a->members[a->count++];
        *m = (member){.content = content,
                      .size = (size_t)from->size,
                      .method = from->method,
                      .mode = from->mode};
        memcpy(m->name, from->name, sizeof m->name);
        a->used += m->size;
    }
    ld_zip_close(z);
}

/* An output to which bytes are appended; where there is no room for them, only `size` grows. */
typedef struct {
    uint8_t *bytes;
    size_t size, most;
} output;

static void put(output *o, const void *bytes, size_t size)
{
    if (o->size + size <= o->most && size > 0)
        memcpy(o->bytes + o->size, bytes, size);
    o->size += size;
}

static void put_number(output *o, int bytes, uint64_t number)
{
    put(o, &number, (size_t)bytes); /* little-endian, as the format is */
}

/* Writes the fields from "version needed" to the length of the extra field, which both headers
 * have. */
static void put_fields(output *o, const member *m, bool trailing, size_t extra)
{
    put_number(o, 2, 45);
    put_number(o, 2, m->flags);
    put_number(o, 2, m->method);
    put_number(o, 4, 0x210000);
    put_number(o, 4, trailing ? 0 : m->crc);
    put_number(o, 4, trailing ? 0 : m->zip64 ? UINT32_MAX : m->packed_size);
    put_number(o, 4, trailing ? 0 : m->zip64 ? UINT32_MAX : m->size);
    put_number(o, 2, strlen(m->name));
    put_number(o, 2, extra);
}

static void put_zip64(output *o, const member *m, int numbers)
{
    const uint64_t all[] = {m->size, m->packed_size, m->header};
    put_number(o, 2, 1);
    put_number(o, 2, (uint64_t)(8 * numbers));
    put(o, all, (size_t)(8 * numbers));
}

static void put_member(output *o, member *m)
{
    static uint8_t packed[2 * MOST_CONTENT];
    const uint8_t *bytes = m->content;
    bool trailing = m->flags & TRAILING, zip64 = m->zip64 && !trailing;
    m->header = o->size;
    m->crc = (uint32_t)crc32(0, m->content, (unsigned)m->size);
    m->packed_size = m->size;
    if (m->method == LD_ZIP_DEFLATED) {
        m->packed_size = pack(packed, sizeof packed, m->content, m->size, 6, BARE);
        bytes = packed;
    }
    put_number(o, 4, 0x04034B50);
    put_fields(o, m, trailing, zip64 ? 20 : 0);
    put(o, m->name, strlen(m->name));
    if (zip64)
        put_zip64(o, m, 2);
    put(o, bytes, m->packed_size);
    if (trailing) {
        put_number(o, 4, 0x08074B50);
        put_number(o, 4, m->crc);
        put_number(o, 4, m->packed_size);
        put_number(o, 4, m->size);
    }
}

static void put_entry(output *o, const member *m)
{
    put_number(o, 4, 0x02014B50);
    put_number(o, 2, UNIX << 8 | 45);
    put_fields(o, m, false, m->zip64 ? 28 : 0);
    put_number(o, 4, 0); /* no comment, disk 0 */
    put_number(o, 2, 0);
    put_number(o, 4, (uint64_t)m->mode << 16);
    put_number(o, 4, m->zip64 ? UINT32_MAX : m->header);
    put(o, m->name, strlen(m->name));
    if (m->zip64)
        put_zip64(o, m, 3);
}

static void put_end(output *o, const archive *a, size_t start, bool zip64)
{
    size_t end = o->size;
    if (zip64) {
        put_number(o, 4, 0x06064B50);
        put_number(o, 8, 44);
        put_number(o, 4, 45 << 16 | 45);
        put_number(o, 8, 0);
        put_number(o, 8, (uint64_t)a->count);
        put_number(o, 8, (uint64_t)a->count);
        put_number(o, 8, end - start);
        put_number(o, 8, start);
        put_number(o, 4, 0x07064B50);
        put_number(o, 4, 0);
        put_number(o, 8, end);
        put_number(o, 4, 1);
    }
    put_number(o, 4, 0x06054B50);
    put_number(o, 4, 0);
    put_number(o, 2, zip64 ? UINT16_MAX : (uint64_t)a->count);
    put_number(o, 2, zip64 ? UINT16_MAX : (uint64_t)a->count);
    put_number(o, 4, zip64 ? UINT32_MAX : end - start);
    put_number(o, 4, zip64 ? UINT32_MAX : start);
    put_number(o, 2, 0);
}

/* Writes a new archive of the members and returns its size, or 0 when it does not fit. */
static size_t write_archive(uint8_t *data, size_t most, archive *a, bool zip64)
{
    output o = {data, 0, most};
    for (int i = 0; i < a->count; i++)
        put_member(&o, &a->members[i]);
    size_t start = o.size;
    for (int i = 0; i < a->count; i++)
        put_entry(&o, &a->members[i]);
    put_end(&o, a, start, zip64);
    return o.size <= most ? o.size : 0;
}

static size_t mutate_zip(uint8_t *data, size_t size, size_t most, unsigned seed, int depth);

/* Archives and gzip files in an archive are packed anew as well. */
static void mutate_content(archive *a, member *m, unsigned seed, int depth)
{
    /* The last place has room to grow. */
    uint8_t *to = a->content + a->used;
    size_t room = sizeof a->content - a->used;
    size_t size = m->size < room ? m->size : room;
    size_t most = room < size + GROWTH ? room : size + GROWTH;
    memcpy(to, m->content, size);
    m->content = to;
    if (depth > 0 && size > 2 && memcmp(to, "PK", 2) == 0)
        m->size = mutate_zip(to, size, most, seed, depth - 1);
    else if (size > 2 && memcmp(to, "\x1f\x8b", 2) == 0)
        m->size = fuzz_mutate_gzip(to, size, most, seed, 0);
    else
        m->size = LLVMFuzzerMutate(to, size, most);
}

static void mutate_name(member *m)
{
    size_t size = LLVMFuzzerMutate((uint8_t *)m->name, strlen(m->name), LD_ZIP_LONGEST_NAME);
    m->name[size] = '\0';
}

/* Puts a step, such as "../", before the name or behind its first slash. */
static void lead_out(member *m, dice *d)
{
    static const char *const steps[] = {"../", "/", "./", "..\\", "C:", "x/../../"};
    const char *step = steps[draw(d, sizeof steps / sizeof *steps)];
    char *slash = draw(d, 2) == 0 ? strchr(m->name, '/') : NULL, *at = slash ? slash + 1 : m->name;
    size_t length = strlen(step), rest = strlen(at) + 1;
    if ((size_t)(at - m->name) + length + rest > sizeof m->name)
        return;
    memmove(at + length, at, rest);
    memcpy(at, step, length);
}

/* Changes one thing in an archive. */
static void mutate_archive(archive *a, dice *d, int depth)
{
    member *m = &a->members[draw(d, (uint32_t)a->count)];
    switch (draw(d, 16)) {
    case 0: *m = a->members[--a->count]; break;
    case 1: mutate_name(m); break;
    case 2:
        m->content = a->members[0].content;
        m->size = a->members[0].size;
        break;
    case 3: m->method ^= LD_ZIP_DEFLATED; break;
    case 4: m->zip64 = true; break;
    case 5: m->flags = TRAILING; break;
    case 6: m->mode = (uint16_t)(m->mode == LINK ? 0 : LINK); break;
    case 7: lead_out(m, d); break;
    case 8:
        if (a->count < MOST_MEMBERS)
            a->members[a->count++] = *m;
        break;
    default: mutate_content(a, m, draw(d, UINT32_MAX), depth);
    }
}

static size_t mutate_zip(uint8_t *data, size_t size, size_t most, unsigned seed, int depth)
{
    dice d = dice_of(seed);
    archive *a = draw(&d, 4) == 0 ? NULL : malloc(sizeof *a);
    size_t used = 0;
    if (a)
        read_members(a, data, size);
    if (a && a->count > 0) {
        mutate_archive(a, &d, depth);
        used = write_archive(data, most, a, draw(&d, 16) == 0);
    }
    free(a);
    return used > 0 ? used : LLVMFuzzerMutate(data, size, most);
}

size_t fuzz_mutate_zip(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    return mutate_zip(data, size, most, seed, 1);
}

/* gzip files: whole, and byte by byte through small reads, which must give the same; lines. */
#include <string.h>

#include "fuzz.h"
#include "io/archive/gz.h"
#include "io/text/lines.h"

enum { MOST = 1 << 20, ALWAYS = 1 << 21 };

typedef struct {
    uint8_t *bytes;
    int64_t size;
    int64_t bound; /* of all that follows the header, which may be more than MOST */
    bool whole;
} content;

/* Reads a file in pieces of so many bytes, up to MOST. */
static content read_all(const char *path, int64_t piece)
{
    content x = {.bytes = malloc(MOST)};
    ld_gz *g = NULL;
    int64_t got = 0;
    FUZZ_REQUIRE(x.bytes, "out of memory");
    if (!fuzz_ok(ld_gz_open(&g, path, "gz")))
        return x;
    int64_t bound = x.bound = g->source.left;
    do {
        int64_t wanted = MOST - x.size < piece ? MOST - x.size : piece;
        x.whole = fuzz_ok(ld_gz_read(g, x.bytes + x.size, wanted, &got));
        if (!x.whole)
            break;
        x.size += got;
        FUZZ_REQUIRE(x.size <= bound, "more than the bound");
    } while (got == piece && x.size < MOST);
    ld_gz_close(g);
    return x;
}

/* The lines of the content are those that ld_lines gives. */
static void check_lines(const char *path, const content *x)
{
    ld_lines lines;
    char *line, *end;
    const uint8_t *p = x->bytes, *stop = p + x->size;
    if (x->size >= 3 && memcmp(p, "\xEF\xBB\xBF", 3) == 0)
        p += 3;
    bool open = fuzz_ok(ld_lines_open(&lines, path, "lines", NULL, NULL));
    while (open && fuzz_ok(ld_lines_next(&lines, &line, &end)) && line) {
        FUZZ_REQUIRE(*end == '\0' && end >= line, "a line without an end");
        if (!x->whole || x->size == MOST)
            continue;
        FUZZ_REQUIRE(p < stop, "more lines than there are");
        const uint8_t *next = memchr(p, '\n', (size_t)(stop - p));
        int64_t length = (next ? next : stop) - p;
        length -= length > 0 && p[length - 1] == '\r';
        FUZZ_REQUIRE(end - line == length && memcmp(line, p, (size_t)length) == 0, "another line");
        p = next ? next + 1 : stop;
    }
    if (open && x->whole && x->size < MOST)
        FUZZ_REQUIRE(p == stop, "fewer lines than there are");
    ld_lines_close(&lines);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = fuzz_file(data, size);
    fuzz_begin();
    content large = read_all(path, 1 << 16), small = read_all(path, 7);
    /* Where reading fails in a piece, none of its bytes are returned, so the sizes may differ by a
     * piece. */
    int64_t both = large.size < small.size ? large.size : small.size;
    FUZZ_REQUIRE(large.whole == small.whole, "whole in large pieces or in small ones only");
    FUZZ_REQUIRE(!large.whole || large.size == small.size, "another size in small pieces");
    FUZZ_REQUIRE(memcmp(large.bytes, small.bytes, (size_t)both) == 0,
                 "other bytes in small pieces");
    check_lines(path, &large);
    free(large.bytes);
    free(small.bytes);
    /* A line is held whole, however long it is. */
    fuzz_end(ALWAYS + 4 * (int64_t)size + 4 * (large.size < MOST ? large.size : large.bound));
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    return fuzz_mutate_gzip(data, size, most, seed, 0);
}

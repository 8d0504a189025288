/* The file of compiled modules: a head, entries sorted by name, and the code that they point to. It is
 * read by the machine and the Lua that made it, and by others refused. */
#ifndef LD_HOST_COMPILED_FORM_H
#define LD_HOST_COMPILED_FORM_H

#include <stdint.h>
#include <string.h>

#include "base/hash.h"

#define LD_COMPILED_MAGIC "ladies 1"

enum { LD_COMPILED_NAME = 96 };

typedef struct {
    char magic[8];
    uint64_t lua; /* ld_compiled_hash of lua_ident, which tells releases of Lua apart */
    uint64_t count;
} ld_compiled_head;

typedef struct {
    char name[LD_COMPILED_NAME]; /* the path of the source, below the folder of all */
    uint64_t source_size, source_hash;
    uint64_t at, size, hash; /* of the code, as lua_dump writes it */
} ld_compiled_entry;

/* Code begins with a header, which with the number of upvalues has so many bytes, and then names its
 * source: here "@" alone, a length and a character, which stands for the path where it was found. */
enum { LD_COMPILED_BEFORE = 32, LD_COMPILED_SOURCE = 2 };
#define LD_COMPILED_NO_PATH "\x82@"

/* liblua's own text about its release and patch level. */
extern const char lua_ident[];

static inline uint64_t ld_compiled_hash(const void *bytes, size_t size)
{
    const char *p = bytes;
    ld_hash_lanes h = {{0, 1, 2, 3}};
    uint64_t words[LD_HASH_LANES];
    for (size_t n; size > 0; p += n, size -= n) {
        n = size < sizeof words ? size : sizeof words;
        memset(words, 0, sizeof words);
        memcpy(words, p, n);
        for (int i = 0; i < LD_HASH_LANES; i++)
            h.lane[i] = ld_hash_word(h.lane[i], words[i]);
    }
    return ld_hash_join(LD_HASH_SEED, &h);
}

#endif

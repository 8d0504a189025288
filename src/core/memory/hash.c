#include "memory/hash.h"

#include <string.h>

#include "system/threads.h"

enum { MOST_CHUNKS = 256, LEAST_BYTES = 1 << 18 };

typedef struct {
    ld_hash_fn *fn;
    const void *ctx;
    int64_t grain;
    uint64_t *chunks;
} loop;

static void hash_chunk(void *ctx, int64_t begin, int64_t end)
{
    const loop *l = ctx;
    l->chunks[begin / l->grain] = l->fn(l->ctx, begin, end);
}

ld_status ld_hash_items(uint64_t *hash, int64_t n, ld_hash_fn *fn, const void *ctx)
{
    uint64_t chunks[MOST_CHUNKS];
    loop l = {fn, ctx, (n + MOST_CHUNKS - 1) / MOST_CHUNKS, chunks};
    if (n == 0)
        return LD_OK;
    ld_status st = ld_parallel_for(n, l.grain, hash_chunk, &l);
    for (int64_t i = 0; st == LD_OK && i * l.grain < n; i++)
        *hash = ld_hash_word(*hash, chunks[i]);
    return st;
}

typedef struct {
    const char *bytes;
    size_t size;
    const ld_mapping *mapping; /* or NULL */
} byte_run;

/* The items are pieces of LEAST_BYTES, the last of which may be shorter. */
static uint64_t hash_pieces(const void *ctx, int64_t begin, int64_t end)
{
    const byte_run *run = ctx;
    const char *p = run->bytes + begin * LEAST_BYTES;
    size_t last = (size_t)end * LEAST_BYTES;
    size_t size = (last < run->size ? last : run->size) - (size_t)begin * LEAST_BYTES;
    ld_hash_lanes h = {{0, 1, 2, 3}};
    uint64_t words[LD_HASH_LANES];
    for (; size >= sizeof words; p += sizeof words, size -= sizeof words) {
        memcpy(words, p, sizeof words);
        for (int i = 0; i < LD_HASH_LANES; i++)
            h.lane[i] = ld_hash_word(h.lane[i], words[i]);
    }
    memset(words, 0, sizeof words);
    memcpy(words, p, size);
    for (int i = 0; i < LD_HASH_LANES; i++)
        h.lane[i] = ld_hash_word(h.lane[i], words[i]);
    if (run->mapping)
        ld_mapping_forget(run->mapping, run->bytes + begin * LEAST_BYTES, p + size);
    return ld_hash_join(size, &h);
}

ld_status ld_hash_bytes(uint64_t *hash, const void *bytes, size_t size)
{
    return ld_hash_mapped(hash, NULL, bytes, size);
}

ld_status ld_hash_mapped(uint64_t *hash, const ld_mapping *m, const void *bytes, size_t size)
{
    byte_run run = {bytes, size, m};
    *hash = ld_hash_word(*hash, size);
    return ld_hash_items(hash, (int64_t)((size + LEAST_BYTES - 1) / LEAST_BYTES), hash_pieces,
                         &run);
}

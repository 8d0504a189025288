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
    size_t size;
    ld_hash_read_fn *read;
    void (*forget)(const void *ctx, size_t begin, size_t end);
    const void *ctx;
} byte_run;

/* Hashes the next bytes, a word in each lane. At the end of the input there may be fewer bytes than
 * that, or none; zeros then stand for the missing ones. */
static void hash_turn(ld_hash_lanes *h, const char *bytes, size_t size)
{
    uint64_t words[LD_HASH_LANES] = {0};
    memcpy(words, bytes, size);
    for (int i = 0; i < LD_HASH_LANES; i++)
        h->lane[i] = ld_hash_word(h->lane[i], words[i]);
}

/* The items are pieces of LEAST_BYTES, the last of which may be shorter. */
static uint64_t hash_pieces(const void *ctx, int64_t begin, int64_t end)
{
    enum { TURN = LD_HASH_LANES * sizeof(uint64_t) };
    const byte_run *run = ctx;
    char buffer[LD_HASH_READ];
    size_t first = (size_t)begin * LEAST_BYTES, last = (size_t)end * LEAST_BYTES, rest = 0;
    const char *p = buffer;
    ld_hash_lanes h = {{0, 1, 2, 3}};
    last = last < run->size ? last : run->size;
    for (size_t at = first; at < last; at += LD_HASH_READ) {
        rest = last - at < LD_HASH_READ ? last - at : LD_HASH_READ;
        for (p = run->read(run->ctx, at, rest, buffer); rest >= TURN; p += TURN, rest -= TURN)
            hash_turn(&h, p, TURN);
    }
    hash_turn(&h, p, rest);
    if (run->forget)
        run->forget(run->ctx, first, last);
    return ld_hash_join(rest, &h);
}

ld_status ld_hash_given(uint64_t *hash, size_t size, ld_hash_read_fn *read,
                        void (*forget)(const void *ctx, size_t begin, size_t end), const void *ctx)
{
    byte_run run = {size, read, forget, ctx};
    *hash = ld_hash_word(*hash, size);
    return ld_hash_items(hash, (int64_t)((size + LEAST_BYTES - 1) / LEAST_BYTES), hash_pieces,
                         &run);
}

static const void *in_place(const void *ctx, size_t first, size_t size, void *buffer)
{
    (void)size, (void)buffer;
    return (const char *)ctx + first;
}

ld_status ld_hash_bytes(uint64_t *hash, const void *bytes, size_t size)
{
    return ld_hash_given(hash, size, in_place, NULL, bytes);
}

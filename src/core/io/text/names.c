/* A hash table of texts. They lie in pages that never move; a table with open addressing, at most
 * half full, leads from a text's hash to its number. The hash is seeded, so that no file can be
 * made to collide. */
#include "io/text/names.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "memory/memory.h"

enum { PAGE = 1 << 16, FIRST_SLOTS = 64 };

typedef struct page {
    struct page *next;
} page;

typedef struct {
    const char *text;
    int32_t length;
    uint32_t hash;
} name;

struct ld_names {
    page *pages;
    char *free, *free_end; /* in the newest page */
    name *names;
    int64_t count;
    int32_t *slots; /* the number of a name, or -1; twice as many as there is room for names */
    int64_t n_slots;
    uint64_t seed;
};

/* Hashes eight bytes at a time through the 128-bit product, both halves of it. */
static uint64_t mix(uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)(a ^ 0x9E3779B97F4A7C15) * (b ^ 0xBF58476D1CE4E5B9);
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint32_t hash_of(const ld_names *x, const char *text, int64_t length)
{
    uint64_t h = mix(x->seed, (uint64_t)length), word;
    for (; length >= 8; text += 8, length -= 8) {
        memcpy(&word, text, 8);
        h = mix(h, word);
    }
    word = 0;
    memcpy(&word, text, (size_t)length);
    return (uint32_t)mix(h, word);
}

/* Makes arrays for n_slots slots, with the names that there are. Nothing changes on failure. */
static ld_status resize(ld_names *x, int64_t n_slots)
{
    int32_t *slots = ld_alloc_array(n_slots, sizeof *slots, LD_MEM_IO);
    name *names = slots ? ld_alloc_array(n_slots / 2, sizeof *names, LD_MEM_IO) : NULL;
    if (!names) {
        ld_free(slots);
        return LD_NOMEM;
    }
    memset(slots, 0xFF, (size_t)n_slots * sizeof *slots);
    for (int64_t i = 0; i < x->count; i++) {
        names[i] = x->names[i];
        int64_t s = names[i].hash & (n_slots - 1);
        while (slots[s] >= 0)
            s = (s + 1) & (n_slots - 1);
        slots[s] = (int32_t)i;
    }
    ld_free(x->slots);
    ld_free(x->names);
    x->slots = slots;
    x->names = names;
    x->n_slots = n_slots;
    return LD_OK;
}

ld_status ld_names_new(ld_names **out)
{
    struct timespec now;
    LD_OWN(ld_names) *x = ld_calloc_array(1, sizeof *x, LD_MEM_IO);
    if (!x)
        return LD_NOMEM;
    clock_gettime(CLOCK_REALTIME, &now);
    x->seed = mix((uint64_t)now.tv_nsec ^ (uint64_t)now.tv_sec << 32, (uint64_t)(uintptr_t)x);
    LD_CHECK(resize(x, FIRST_SLOTS));
    *out = ld_take(&x);
    return LD_OK;
}

void ld_names_free(ld_names *x)
{
    if (!x)
        return;
    while (x->pages) {
        page *next = x->pages->next;
        ld_free(x->pages);
        x->pages = next;
    }
    ld_free(x->names);
    ld_free(x->slots);
    ld_free(x);
}

int64_t ld_names_count(const ld_names *x)
{
    return x->count;
}

/* Returns the slot of a text, or the empty one where it belongs. */
static int32_t *find(const ld_names *x, const char *text, int64_t length, uint32_t hash)
{
    int64_t s = hash & (x->n_slots - 1);
    for (; x->slots[s] >= 0; s = (s + 1) & (x->n_slots - 1)) {
        const name *n = &x->names[x->slots[s]];
        if (n->hash == hash && n->length == length && memcmp(n->text, text, (size_t)length) == 0)
            break;
    }
    return &x->slots[s];
}

/* Makes a copy of a text that never moves; NULL when memory runs out. */
static const char *keep(ld_names *x, const char *text, int64_t length)
{
    if (x->free_end - x->free <= length) {
        int64_t size = length > PAGE / 8 ? length : PAGE - 64 - (int64_t)sizeof(page);
        page *fresh = ld_alloc(sizeof *fresh + (size_t)size, LD_MEM_IO);
        if (!fresh)
            return NULL;
        fresh->next = x->pages;
        x->pages = fresh;
        x->free = (char *)(fresh + 1);
        x->free_end = x->free + size;
    }
    char *copy = memcpy(x->free, text, (size_t)length);
    x->free += length;
    return copy;
}

ld_status ld_names_add(ld_names *x, int32_t *id, const char *text, int64_t length)
{
    uint32_t hash = hash_of(x, text, length);
    int32_t *slot = find(x, text, length, hash);
    if (*slot < 0) {
        if (x->count == INT32_MAX - 1)
            return ld_fail(LD_RANGE, "names: there are more than %d", INT32_MAX - 1);
        if (2 * x->count == x->n_slots) {
            LD_CHECK(resize(x, 2 * x->n_slots));
            slot = find(x, text, length, hash);
        }
        const char *copy = keep(x, text, length);
        if (!copy)
            return LD_NOMEM;
        x->names[x->count] = (name){.text = copy, .length = (int32_t)length, .hash = hash};
        *slot = (int32_t)x->count++;
    }
    *id = *slot;
    return LD_OK;
}

int32_t ld_names_find(const ld_names *x, const char *text, int64_t length)
{
    return *find(x, text, length, hash_of(x, text, length));
}

const char *ld_names_text(const ld_names *x, int64_t id, int64_t *length)
{
    *length = x->names[id].length;
    return x->names[id].text;
}

ld_status ld_names_in_lines(ld_index **starts, const char *text, int64_t length)
{
    const char *end = text + length;
    int64_t n = 0;
    if (length > INT32_MAX)
        return ld_fail(LD_RANGE, "names: a text of %" PRId64 " bytes, less than 2^31 expected",
                       length);
    for (const char *p = text; (p = memchr(p, '\n', (size_t)(end - p))); p++)
        n++;
    ld_status st = ld_index_new(starts, n);
    n = 0;
    for (const char *p = text; st == LD_OK && (p = memchr(p, '\n', (size_t)(end - p)));)
        (*starts)->data[n++] = (int32_t)(++p - text);
    return st;
}

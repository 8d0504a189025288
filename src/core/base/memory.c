/* A caching allocator. A block has room for a size of its class, behind a header of one cache line; a
 * freed block goes to the free list of its class. Classes are a power of two and one and a half times
 * one apart up to a MiB, beyond it a sixteenth of a power of two: pages behind the requested size are
 * never touched, so what rounding costs there is a little address space. A request takes from its own
 * class or from one of the next four (up to four times as large, a quarter larger from a MiB on),
 * which absorbs the fluctuations of block shapes between mini-batches.
 *
 * A class of small blocks that runs out grows by more than the one block, so that the next, slightly
 * larger peak of demand finds a block too: after a warm-up a training loop does not call malloc at
 * all. Large blocks have no spares.
 *
 * What is counted as in use is what was asked for. Free lists may hold as much as keeps all blocks
 * together within 1.25 x the most that was in use + 64 MiB: enough that a loop whose demand goes up
 * and down never meets malloc again, and never far more than the program needed at once anyway. */
#include "base/memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    HEADER = 64,
    MIN_SHIFT = 7,
    LARGE_SHIFT = 20,
    MAX_SHIFT = 47,
    STEPS = 16,                            /* classes of large blocks in a power of two */
    LARGE = 2 * (LARGE_SHIFT - MIN_SHIFT), /* the first class that counts as large */
    CLASSES = LARGE + STEPS * (MAX_SHIFT - LARGE_SHIFT) + 1,
    BORROW = 4
};
static const int64_t SLACK = 64 << 20;

typedef struct block {
    struct block *next; /* in a free list */
    size_t size;        /* that was asked for */
    int32_t size_class;
    int32_t tag;
} block;

_Static_assert(sizeof(block) <= HEADER, "a block's header must fit its cache line");

static struct {
    pthread_mutex_t lock;
    block *free[CLASSES];
    int64_t blocks[CLASSES]; /* that exist, free or in use */
    int64_t used, most_used; /* the room of the blocks in use, now and at most */
    ld_memory_stats stats;
    int64_t fail_in;
} memory = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The sanitizers should see every free; free lists would hide use after free from them. */
#ifndef __has_feature
#define __has_feature(x) 0 /* clang's way to tell; gcc defines names */
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||                               \
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
static const bool caching = false;
#else
static const bool caching = true;
#endif

static size_t class_size(int c)
{
    if (c > LARGE) {
        size_t base = (size_t)1 << (LARGE_SHIFT + (c - LARGE) / STEPS);
        return base + base / STEPS * (size_t)((c - LARGE) % STEPS);
    }
    size_t base = (size_t)1 << (MIN_SHIFT + c / 2);
    return c % 2 ? base + base / 2 : base;
}

/* The smallest class with room for `size`, header included. */
static int class_of(size_t size)
{
    if (size <= (size_t)1 << MIN_SHIFT)
        return 0;
    int shift = 63 - __builtin_clzll(size - 1); /* 2^shift < size <= 2^(shift+1) */
    size_t base = (size_t)1 << shift;
    if (shift >= LARGE_SHIFT) /* as many steps above 2^shift as it takes */
        return LARGE + STEPS * (shift - LARGE_SHIFT) + (int)((size - 1) / (base / STEPS)) - STEPS +
               1;
    return 2 * (shift - MIN_SHIFT) + (size <= base + base / 2 ? 1 : 2);
}

const char *ld_memory_tag_name(ld_memory_tag tag)
{
    static const char *const names[LD_MEM_TAGS] = {"tensor", "index",   "matrix",
                                                   "tape",   "scratch", "io"};
    return names[tag];
}

static block *take_cached(int c)
{
    for (int i = c; i <= c + BORROW && i < CLASSES; i++) {
        block *b = memory.free[i];
        if (b) {
            memory.free[i] = b->next;
            memory.stats.cached -= (int64_t)class_size(i);
            return b;
        }
    }
    return NULL;
}

static block *new_block(int c, size_t size)
{
    block *b;
    if (posix_memalign((void **)&b, HEADER, caching ? class_size(c) : size + HEADER) != 0)
        return NULL;
    b->size_class = c;
    memory.blocks[c]++;
    memory.stats.system_calls++;
    return b;
}

static void keep(block *b)
{
    b->next = memory.free[b->size_class];
    memory.free[b->size_class] = b;
    memory.stats.cached += (int64_t)class_size(b->size_class);
}

/* Gives the free blocks back to the system; whether there were any. */
static bool release_cached(void)
{
    bool any = false;
    for (int c = 0; c < CLASSES; c++) {
        for (block *b; (b = memory.free[c]); any = true) {
            memory.free[c] = b->next;
            memory.blocks[c]--;
            free(b);
        }
    }
    memory.stats.cached = 0;
    return any;
}

/* A block of a class that has run out, and for small ones spares: a quarter of those that exist, and
 * one more. Where the system has no block left, it may have one once it has the free ones back. */
static block *grow_class(int c, size_t size)
{
    block *b = new_block(c, size), *spare;
    if (!b && release_cached())
        b = new_block(c, size);
    int64_t more = caching && c < LARGE ? memory.blocks[c] / 4 + 1 : 0;
    while (b && more-- > 0 && (spare = new_block(c, size)))
        keep(spare);
    return b;
}

/* Counts a block as in use by its owner. */
static void count(block *b, size_t size, ld_memory_tag tag)
{
    ld_memory_stats *s = &memory.stats;
    b->size = size;
    b->tag = tag;
    s->live[tag] += (int64_t)size;
    s->total += (int64_t)size;
    memory.used += (int64_t)class_size(b->size_class);
    if (s->total > s->peak)
        s->peak = s->total;
    if (memory.used > memory.most_used)
        memory.most_used = memory.used;
}

void *ld_alloc(size_t size, ld_memory_tag tag)
{
    block *b = NULL;
    size += size == 0; /* behind an empty block a leak checker would not see who holds it */
    int c = size < (size_t)1 << (MAX_SHIFT - 1) ? class_of(size + HEADER) : CLASSES;
    pthread_mutex_lock(&memory.lock);
    bool fail = c >= CLASSES || (memory.fail_in > 0 && --memory.fail_in == 0);
    if (!fail && !(b = take_cached(c)))
        b = grow_class(c, size);
    if (b)
        count(b, size, tag);
    int64_t live = memory.stats.total;
    pthread_mutex_unlock(&memory.lock);
    if (!b) {
        ld_set_message("out of memory: %zu bytes wanted for %s data, %lld bytes in use", size,
                       ld_memory_tag_name(tag), (long long)live);
        return NULL;
    }
    return (char *)b + HEADER;
}

void *ld_alloc_array(int64_t count, size_t size, ld_memory_tag tag)
{
    size_t bytes;
    if (count < 0 || __builtin_mul_overflow((size_t)count, size, &bytes)) {
        ld_set_message("out of memory: %lld elements of %zu bytes wanted", (long long)count, size);
        return NULL;
    }
    return ld_alloc(bytes, tag);
}

void *ld_calloc_array(int64_t count, size_t size, ld_memory_tag tag)
{
    void *p = ld_alloc_array(count, size, tag);
    if (p)
        memset(p, 0, (size_t)count * size);
    return p;
}

void ld_free(void *p)
{
    if (!p)
        return;
    block *b = (block *)((char *)p - HEADER);
    pthread_mutex_lock(&memory.lock);
    ld_memory_stats *s = &memory.stats;
    int64_t room = (int64_t)class_size(b->size_class), most = memory.most_used;
    s->live[b->tag] -= (int64_t)b->size;
    s->total -= (int64_t)b->size;
    memory.used -= room;
    if (caching && memory.used + s->cached + room <= most + most / 4 + SLACK) {
        keep(b);
        b = NULL;
    } else {
        memory.blocks[b->size_class]--;
    }
    pthread_mutex_unlock(&memory.lock);
    free(b);
}

ld_memory_stats ld_memory_read(void)
{
    pthread_mutex_lock(&memory.lock);
    ld_memory_stats stats = memory.stats;
    pthread_mutex_unlock(&memory.lock);
    return stats;
}

int64_t ld_memory_live(void)
{
    pthread_mutex_lock(&memory.lock);
    int64_t live = memory.stats.total;
    pthread_mutex_unlock(&memory.lock);
    return live;
}

void ld_memory_trim(void)
{
    pthread_mutex_lock(&memory.lock);
    release_cached();
    memory.stats.peak = memory.stats.total;
    memory.most_used = memory.used;
    pthread_mutex_unlock(&memory.lock);
}

void ld_memory_fail_at(int64_t n)
{
    pthread_mutex_lock(&memory.lock);
    memory.fail_in = n;
    pthread_mutex_unlock(&memory.lock);
}

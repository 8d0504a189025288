/* A caching allocator. A small block has room for a size of its class, behind a header of one cache
 * line; a freed one goes to the free list of its class. Classes are a power of two and one and a
 * half times one apart. A request takes from its own class or from one of the next four (up to four
 * times as large), which absorbs the fluctuations of block shapes between mini-batches. A class
 * that runs out grows by more than the one block, so that the next, slightly larger peak of demand
 * finds a block too: after a warm-up a training loop does not call malloc at all.
 *
 * A large block, from a MiB on, is mapped by itself, in whole pages: malloc's heap would leave
 * holes between blocks of changing sizes, several times as large as what is in use. Free large
 * blocks are in a list of their own, and a request takes the shortest that is long enough. It takes
 * one that is too long as it is, if that is by a quarter at most or if the blocks in use waste
 * little altogether: pages that are cut off at one point of a training step are missing at another,
 * and the system clears every page that it gives. If no free block fits, a new one is mapped, as
 * long as all blocks together stay within the most that was ever in use; so after a few steps the
 * list has the sizes that a step takes. Beyond that, the free block of the nearest size is made
 * longer or shorter by the system, where it lies or by moving its pages, so that pages which were
 * cleared once are kept. Before a block grows past what was ever needed, other free blocks go back
 * to the system. Large blocks have no spares.
 *
 * Bytes in use are counted as they were asked for. Free lists may hold as much as keeps all small
 * blocks, and all large ones, within 1.25 x the most of them that was in use + 64 MiB: enough that
 * a loop whose demand goes up and down never meets malloc again, and never far more than the
 * program needed at once anyway. Neither takes the other's part: where small ones took that of
 * large ones, a process that had trained on small graphs mapped every large block anew. */
#include "memory/memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "system/platform.h"

enum {
    HEADER = 64,
    PAGE = 4096,
    ENLARGED = 1 << 25, /* bytes of a block whose pages are to be large */
    MIN_SHIFT = 7,
    LARGE_SHIFT = 20,
    CLASSES = 2 * (LARGE_SHIFT - MIN_SHIFT) + 1, /* of small blocks; the class of large ones */
    BORROW = 4,
    TOO_MUCH_PART = 8,
    COUNTS = 16
};
static const size_t MOST = (size_t)1 << 46;
static const int64_t SLACK = 64 << 20;
static const int64_t TOO_MUCH = 16 << 20; /* bytes, or that part of what was in use at most */

typedef struct block {
    struct block *next; /* in a free list */
    size_t size;        /* bytes that were asked for */
    size_t room;        /* bytes of the block, header included */
    int64_t count;      /* the count that it belongs to; 0: none */
    int32_t size_class;
    int32_t tag;
} block;

_Static_assert(sizeof(block) <= HEADER, "a block's header must fit its cache line");

/* The sums of blocks' room, for the small ones or the large ones. */
typedef struct {
    int64_t used, most_used; /* bytes of blocks in use, now and at most */
    int64_t cached;          /* bytes of free blocks */
} sums;

static struct {
    pthread_mutex_t lock;
    block *free[CLASSES + 1];    /* the last: large ones */
    int64_t blocks[CLASSES + 1]; /* how many exist, free or in use */
    sums small, large;
    int64_t too_much; /* bytes that large blocks in use have beyond what was asked for */
    ld_memory_stats stats;
    int64_t fail_in;
    int64_t last_count,
        counted[COUNTS]; /* the number of the latest count; bytes of the latest ones */
} memory = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local int64_t own_count; /* the count in which this thread's memory is */

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
    size_t base = (size_t)1 << (MIN_SHIFT + c / 2);
    return c % 2 ? base + base / 2 : base;
}

/* Returns the smallest class with room for `size`, header included. */
static int class_of(size_t size)
{
    if (size <= (size_t)1 << MIN_SHIFT)
        return 0;
    if (size > (size_t)1 << LARGE_SHIFT)
        return CLASSES;
    int shift = 63 - __builtin_clzll(size - 1); /* 2^shift < size <= 2^(shift+1) */
    size_t base = (size_t)1 << shift;
    return 2 * (shift - MIN_SHIFT) + (size <= base + base / 2 ? 1 : 2);
}

const char *ld_memory_tag_name(ld_memory_tag tag)
{
    static const char *const names[LD_MEM_TAGS] = {"tensor", "index",   "matrix",
                                                   "tape",   "scratch", "io"};
    return names[tag];
}

static bool is_large(const block *b)
{
    return b->size_class == CLASSES;
}

static sums *sums_of(const block *b)
{
    return is_large(b) ? &memory.large : &memory.small;
}

/* Takes the block out of its list that *link points to. */
static block *unlink_block(block **link)
{
    block *b = *link;
    *link = b->next;
    sums_of(b)->cached -= (int64_t)b->room;
    return b;
}

static block *take_small(int c)
{
    for (int i = c; i <= c + BORROW && i < CLASSES; i++)
        if (memory.free[i])
            return unlink_block(&memory.free[i]);
    return NULL;
}

/* Gives a block that is in no list back to the system. */
static void release(block *b)
{
    memory.blocks[b->size_class]--;
    if (caching && is_large(b))
        ld_platform_unmap(b, b->room);
    else
        free(b);
}

static size_t distance(size_t a, size_t b)
{
    return a < b ? b - a : a - b;
}

/* Asks for large pages where the block is so long that they waste little of it. */
static void enlarge_pages(void *b, size_t room)
{
    if (room >= ENLARGED)
        ld_platform_enlarge(b, room);
}

/* Gives free large blocks back to the system until, with `more` bytes taken, all large blocks
 * together are within the limit: the most that was ever in use at once, plus the slack. */
static void make_way(int64_t more)
{
    while (memory.free[CLASSES] &&
           memory.large.used + memory.large.cached + more > memory.large.most_used + SLACK)
        release(unlink_block(&memory.free[CLASSES]));
}

/* Returns true if a free large block that is long enough may serve a request as it is. */
static bool is_near(const block *b, size_t room)
{
    int64_t rest = (int64_t)(b->room - room), part = memory.large.most_used / TOO_MUCH_PART;
    return rest <= (int64_t)room / 4 ||
           memory.too_much + rest <= (part > TOO_MUCH ? part : TOO_MUCH);
}

/* Takes a free large block that is at least `room` long; returns NULL where a new one is to be
 * mapped. */
static block *take_large(size_t room)
{
    block **nearest = &memory.free[CLASSES], **shortest = NULL; /* of those that are long enough */
    if (!*nearest)
        return NULL;
    for (block **link = nearest; *link; link = &(*link)->next) {
        if (distance((*link)->room, room) < distance((*nearest)->room, room))
            nearest = link;
        if ((*link)->room >= room && (!shortest || (*link)->room < (*shortest)->room))
            shortest = link;
    }
    if (shortest && is_near(*shortest, room))
        return unlink_block(shortest);
    if (memory.large.used + memory.large.cached + (int64_t)room <= memory.large.most_used)
        return NULL;
    block *b = unlink_block(nearest);
    if (b->room < room)
        make_way((int64_t)room); /* b is in use by nobody and in no list */
    bool has_small_pages = b->room < ENLARGED && room >= ENLARGED; /* that would stay small */
    block *moved = has_small_pages ? NULL : ld_platform_remap(b, b->room, room);
    if (!moved) {
        release(b);
        return NULL;
    }
    moved->room = room;
    enlarge_pages(moved, room);
    return moved;
}

static block *new_block(int c, size_t room)
{
    block *b = NULL;
    if (caching && c == CLASSES) {
        b = ld_platform_map(room);
        if (!b)
            return NULL;
        enlarge_pages(b, room);
    } else if (posix_memalign((void **)&b, HEADER, room) != 0) {
        return NULL;
    }
    b->size_class = c;
    b->room = room;
    memory.blocks[c]++;
    memory.stats.system_calls++;
    return b;
}

static void keep(block *b)
{
    b->next = memory.free[b->size_class];
    memory.free[b->size_class] = b;
    sums_of(b)->cached += (int64_t)b->room;
}

/* Gives the free blocks back to the system. Returns true if there were any. */
static bool release_cached(void)
{
    bool any = false;
    for (int c = 0; c <= CLASSES; c++)
        for (; memory.free[c]; any = true)
            release(unlink_block(&memory.free[c]));
    return any;
}

/* Makes a block of a class that has run out, and spares for a small one: a quarter of those that
 * exist, and one more. Where the system has no block left, it may have one once it has the free
 * ones back. */
static block *grow_class(int c, size_t room)
{
    block *b = new_block(c, room), *spare;
    if (!b && release_cached())
        b = new_block(c, room);
    int64_t more = caching && c < CLASSES ? memory.blocks[c] / 4 + 1 : 0;
    while (b && more-- > 0 && (spare = new_block(c, room)))
        keep(spare);
    return b;
}

/* Returns the room of a new block for `size` bytes. */
static size_t room_for(int c, size_t size)
{
    if (!caching)
        return size + HEADER;
    return c < CLASSES ? class_size(c) : (size + HEADER + PAGE - 1) / PAGE * PAGE;
}

/* Returns the bytes that a large block has beyond what was asked for. */
static int64_t excess(const block *b)
{
    return is_large(b) ? (int64_t)(b->room - b->size) : 0;
}

/* Points to the bytes of the count of that number; NULL where it is not kept. */
static int64_t *count_of(int64_t number)
{
    bool is_kept = number > 0 && number <= memory.last_count && number > memory.last_count - COUNTS;
    return is_kept ? &memory.counted[number % COUNTS] : NULL;
}

static void add_to_count(int64_t number, int64_t bytes)
{
    int64_t *sum = count_of(number);
    if (sum)
        *sum += bytes;
}

/* Counts a block as in use by its owner. */
static void count(block *b, size_t size, ld_memory_tag tag)
{
    ld_memory_stats *s = &memory.stats;
    b->size = size;
    b->tag = tag;
    b->count = own_count;
    add_to_count(own_count, (int64_t)size);
    s->live[tag] += (int64_t)size;
    s->total += (int64_t)size;
    if (s->total > s->peak)
        s->peak = s->total;
    sums *of = sums_of(b);
    of->used += (int64_t)b->room;
    if (of->used > of->most_used)
        of->most_used = of->used;
    memory.too_much += excess(b);
}

void *ld_alloc(size_t size, ld_memory_tag tag)
{
    block *b = NULL;
    size += size == 0; /* behind an empty block a leak checker would not see who holds it */
    bool fail = size > MOST;
    int c = fail ? CLASSES : class_of(size + HEADER);
    size_t room = fail ? 0 : room_for(c, size);
    pthread_mutex_lock(&memory.lock);
    fail = fail || (memory.fail_in > 0 && --memory.fail_in == 0);
    if (!fail && !(b = c < CLASSES ? take_small(c) : take_large(room)))
        b = grow_class(c, room);
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
    sums *of = sums_of(b);
    int64_t room = (int64_t)b->room, limit = of->most_used + of->most_used / 4 + SLACK;
    s->live[b->tag] -= (int64_t)b->size;
    s->total -= (int64_t)b->size;
    add_to_count(b->count, -(int64_t)b->size);
    of->used -= room;
    memory.too_much -= excess(b);
    if (caching && of->used + of->cached + room <= limit)
        keep(b);
    else
        release(b);
    pthread_mutex_unlock(&memory.lock);
}

ld_status ld_resize(void *array, int64_t *room, int64_t used, int64_t wanted, size_t size,
                    ld_memory_tag tag)
{
    char *moved = ld_alloc_array(wanted, size, tag), *old;
    if (!moved)
        return LD_NOMEM;
    memcpy(&old, array, sizeof old);
    if (used > 0)
        memcpy(moved, old, (size_t)used * size);
    ld_free(old);
    memcpy(array, &moved, sizeof moved);
    *room = wanted;
    return LD_OK;
}

ld_status ld_reserve_more(void *array, int64_t *room, int64_t used, int64_t more, size_t size,
                          ld_memory_tag tag)
{
    enum { LEAST = 64 };
    int64_t wanted = used + more > 2 * *room ? used + more : 2 * *room;
    return ld_resize(array, room, used, wanted < LEAST ? LEAST : wanted, size, tag);
}

ld_memory_stats ld_memory_read(void)
{
    pthread_mutex_lock(&memory.lock);
    ld_memory_stats stats = memory.stats;
    stats.cached = memory.small.cached + memory.large.cached;
    pthread_mutex_unlock(&memory.lock);
    return stats;
}

int64_t ld_memory_count(int64_t number, int64_t *before)
{
    *before = own_count;
    pthread_mutex_lock(&memory.lock);
    if (number == LD_NEW_COUNT)
        memory.counted[(number = ++memory.last_count) % COUNTS] = 0;
    pthread_mutex_unlock(&memory.lock);
    return own_count = number;
}

int64_t ld_memory_counted(int64_t number)
{
    pthread_mutex_lock(&memory.lock);
    int64_t *sum = count_of(number), bytes = sum ? *sum : 0;
    pthread_mutex_unlock(&memory.lock);
    return bytes;
}

void ld_memory_trim(void)
{
    pthread_mutex_lock(&memory.lock);
    release_cached();
    memory.stats.peak = memory.stats.total;
    memory.small.most_used = memory.small.used;
    memory.large.most_used = memory.large.used;
    pthread_mutex_unlock(&memory.lock);
}

void ld_memory_fail_at(int64_t n)
{
    pthread_mutex_lock(&memory.lock);
    memory.fail_in = n;
    pthread_mutex_unlock(&memory.lock);
}

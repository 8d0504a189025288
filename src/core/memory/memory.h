/* Accounted memory.
 *
 * All memory of core goes through here, so that it can be counted by owner, reused without going
 * back to the system, and made to fail on purpose in tests. Freed blocks are kept in free lists by
 * size class; a steady training loop therefore stops calling malloc after a few batches. What is
 * kept never makes the process larger than a little over its own peak. Blocks are aligned to 64
 * bytes. All functions may be called from any thread. */
#ifndef LD_MEMORY_MEMORY_H
#define LD_MEMORY_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "base/own.h"
#include "base/status.h"

typedef enum {
    LD_MEM_TENSOR,
    LD_MEM_INDEX,
    LD_MEM_MATRIX,
    LD_MEM_TAPE,
    LD_MEM_SCRATCH,
    LD_MEM_IO,
    LD_MEM_TAGS
} ld_memory_tag;

/* Allocates a block of at least `size` bytes, uninitialised; it is freed with ld_free. Returns NULL
 * with a message that names the bytes wanted and the bytes live when memory runs out (return
 * LD_NOMEM then). */
void *ld_alloc(size_t size, ld_memory_tag tag);

/* Allocates a block for `count` elements of `size` bytes; the product is checked for overflow. */
void *ld_alloc_array(int64_t count, size_t size, ld_memory_tag tag);

/* Allocates a block as ld_alloc_array does and fills it with zeros. */
void *ld_calloc_array(int64_t count, size_t size, ld_memory_tag tag);

/* Gives a block back; NULL is allowed. */
void ld_free(void *block);

/* For LD_FREED: frees the block that the variable at `held` points to. */
static inline void ld_free_held(void *held)
{
    ld_free(ld_take(held));
}
#define LD_FREED LD_CLEANED(ld_free_held)

/* Moves the first `used` elements of an array to a block with room for `wanted`, which becomes
 * *room. `array` is the address of the pointer to it. After LD_NOMEM it is as it was. */
ld_status ld_resize(void *array, int64_t *room, int64_t used, int64_t wanted, size_t size,
                    ld_memory_tag tag);

/* Makes room for `more` elements of `size` bytes behind the first `used` ones of a growing array.
 * `array` is the address of the pointer to it, and *room the elements it has room for: NULL and 0
 * at first. It becomes at least twice as large, so elements that come one by one are copied twice
 * each at most. After LD_NOMEM it is as it was. */
ld_status ld_reserve_more(void *array, int64_t *room, int64_t used, int64_t more, size_t size,
                          ld_memory_tag tag);
static inline ld_status ld_reserve(void *array, int64_t *room, int64_t used, int64_t more,
                                   size_t size, ld_memory_tag tag)
{
    return more <= *room - used ? LD_OK : ld_reserve_more(array, room, used, more, size, tag);
}

typedef struct {
    int64_t live[LD_MEM_TAGS]; /* bytes in use by owner: as many as were asked for */
    int64_t total;             /* their sum */
    int64_t peak;              /* the largest total so far */
    int64_t cached;            /* bytes kept in free lists: whole blocks */
    int64_t system_calls;      /* blocks that had to be taken from the system */
} ld_memory_stats;

/* Returns the counters at this moment; it is cheap. */
ld_memory_stats ld_memory_read(void);

/* Returns the owner's name as shown to users: "tensor", "index", ... */
const char *ld_memory_tag_name(ld_memory_tag tag);

/* Counts, from now on, the memory that this thread takes: in the count of this number, in a new
 * count (LD_NEW_COUNT), or in none (0). Returns the number of the count; *before gets the number of
 * the count that this thread used so far. A block is counted until it is freed, by whatever thread;
 * the latest 16 counts are kept. */
enum { LD_NEW_COUNT = -1 };
int64_t ld_memory_count(int64_t number, int64_t *before);

/* Returns the bytes in use of the blocks of a count; 0 for one that is not kept. */
int64_t ld_memory_counted(int64_t number);

/* Returns all cached blocks to the system and forgets the peak. */
void ld_memory_trim(void);

/* Makes the n-th allocation from now (1 = the next) fail, once, for tests; 0 switches this off. */
void ld_memory_fail_at(int64_t n);

#endif

/* Accounted memory.
 *
 * All memory of core goes through here, so that it can be counted by owner, reused without going
 * back to the system, and made to fail on purpose in tests. Freed blocks are kept in free lists by size
 * class; a steady training loop therefore stops calling malloc after a few batches. What is kept
 * never makes the process larger than a little over its own peak. Blocks are aligned to 64 bytes.
 * All functions may be called from any thread. */
#ifndef LD_BASE_MEMORY_H
#define LD_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* A block of at least `size` bytes, uninitialised; freed with ld_free. NULL with a message that
 * names the bytes wanted and the bytes live when memory runs out (return LD_NOMEM then). */
void *ld_alloc(size_t size, ld_memory_tag tag);

/* The same for `count` elements of `size` bytes; the product is checked for overflow. */
void *ld_alloc_array(int64_t count, size_t size, ld_memory_tag tag);

/* The same, zeroed. */
void *ld_calloc_array(int64_t count, size_t size, ld_memory_tag tag);

/* Gives a block back; NULL is allowed. */
void ld_free(void *block);

typedef struct {
    int64_t live[LD_MEM_TAGS]; /* bytes in use by owner: as many as were asked for */
    int64_t total;             /* their sum */
    int64_t peak;              /* the largest total so far */
    int64_t cached;            /* bytes kept in free lists: whole blocks */
    int64_t system_calls;      /* blocks that had to be taken from the system */
} ld_memory_stats;

/* The counters at this moment. */
ld_memory_stats ld_memory_read(void);

/* Bytes in use right now; cheap. */
int64_t ld_memory_live(void);

/* The owner's name as shown to users: "tensor", "index", ... */
const char *ld_memory_tag_name(ld_memory_tag tag);

/* Counts what this thread takes from now on, until it counts for another: for the count of that number,
 * for a new one (LD_NEW_COUNT), or for none (0). Returns the number of the count, and in *before that of
 * the one so far. A block is counted until it is freed, by whatever thread; the latest 16 counts are
 * kept. */
enum { LD_NEW_COUNT = -1 };
int64_t ld_memory_count(int64_t number, int64_t *before);

/* Bytes in use of the blocks of a count; 0 of one that is not kept. */
int64_t ld_memory_counted(int64_t number);

/* Returns all cached blocks to the system and forgets the peak. */
void ld_memory_trim(void);

/* For tests: the n-th allocation from now (1 = the next) fails, once; 0 switches this off. */
void ld_memory_fail_at(int64_t n);

#endif

/* Reads ahead in blocks: two of them go back and forth, and the thread fills one while the other is
 * being used up. Small files are read without a thread. A failure in the thread becomes one of the
 * reader, when it gets there, with the message that the thread left. */
#include "io/text/ahead.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "memory/memory.h"
#include "system/threads.h"

enum { BLOCKS = 2, BLOCK = 1 << 18, SMALL = 1 << 16, MESSAGE = 512 };

typedef struct {
    char *bytes;
    int64_t size; /* fewer than BLOCK in the last one */
    int64_t done; /* bytes of the file behind it */
    ld_status status;
} block;

struct ld_ahead {
    ld_gz *gz;
    int64_t bound;
    bool threaded;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    block blocks[BLOCKS];
    int64_t filled, used; /* blocks so far; in between are those that are ready */
    int64_t at;           /* the place in the block that is being used up */
    int64_t before;       /* bytes of the file behind the blocks that were used up */
    int64_t done;         /* and that of the part of the current one */
    bool stop;
    char message[MESSAGE]; /* of the thread's failure */
};

static int64_t file_done(const ld_gz *g)
{
    return g->packed ? ld_inflater_position(&g->inflater) : g->position;
}

static void *fill_blocks(void *context)
{
    ld_ahead *a = context;
    bool more = true;
    for (int64_t i = 0; more; i++) {
        block *b = &a->blocks[i % BLOCKS];
        pthread_mutex_lock(&a->lock);
        while (i - a->used == BLOCKS && !a->stop)
            pthread_cond_wait(&a->changed, &a->lock);
        more = !a->stop;
        pthread_mutex_unlock(&a->lock);
        if (!more)
            break;
        b->size = 0;
        b->status = ld_gz_read(a->gz, b->bytes, BLOCK, &b->size);
        b->done = file_done(a->gz);
        more = b->status == LD_OK && b->size == BLOCK;
        if (b->status != LD_OK)
            snprintf(a->message, sizeof a->message, "%s", ld_message());
        pthread_mutex_lock(&a->lock);
        a->filled++;
        pthread_cond_signal(&a->changed);
        pthread_mutex_unlock(&a->lock);
    }
    return NULL;
}

ld_status ld_ahead_open(ld_ahead **out, const char *path, const char *reader)
{
    LD_OWN(ld_ahead) *a = ld_calloc_array(1, sizeof *a, LD_MEM_IO);
    if (!a)
        return LD_NOMEM;
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->changed, NULL);
    LD_CHECK(ld_gz_open(&a->gz, path, reader));
    a->bound = a->gz->source.left;
    if (a->gz->file->size > SMALL) {
        char *bytes = ld_alloc(BLOCKS * BLOCK, LD_MEM_IO);
        if (!bytes)
            return LD_NOMEM;
        for (int i = 0; i < BLOCKS; i++)
            a->blocks[i].bytes = bytes + i * BLOCK;
        /* Where no thread can start, the caller's own does the work. */
        a->threaded = ld_thread_start(&a->thread, fill_blocks, a);
    }
    *out = ld_take(&a);
    return LD_OK;
}

/* Waits for the next block and returns it. */
static block *wait_for_block(ld_ahead *a)
{
    pthread_mutex_lock(&a->lock);
    while (a->filled == a->used)
        pthread_cond_wait(&a->changed, &a->lock);
    pthread_mutex_unlock(&a->lock);
    return &a->blocks[a->used % BLOCKS];
}

static void give_back(ld_ahead *a)
{
    pthread_mutex_lock(&a->lock);
    a->used++;
    a->at = 0;
    pthread_cond_signal(&a->changed);
    pthread_mutex_unlock(&a->lock);
}

ld_status ld_ahead_read(ld_ahead *a, void *out, int64_t size, int64_t *got)
{
    if (!a->threaded)
        return ld_gz_read(a->gz, out, size, got);
    for (*got = 0; *got < size;) {
        block *b = wait_for_block(a);
        LD_CHECK(ld_poll());
        if (b->status != LD_OK)
            return ld_fail(b->status, "%s", a->message);
        int64_t n = b->size - a->at;
        n = n < size - *got ? n : size - *got;
        memcpy((char *)out + *got, b->bytes + a->at, (size_t)n);
        *got += n;
        a->at += n;
        if (b->size > 0)
            a->done = a->before + (b->done - a->before) * a->at / b->size;
        if (a->at < b->size)
            continue;
        if (b->size < BLOCK) /* the last one, which stays */
            break;
        a->before = b->done;
        give_back(a);
    }
    return LD_OK;
}

const char *ld_ahead_name(const ld_ahead *a)
{
    return a->gz->source.name;
}

int64_t ld_ahead_done(const ld_ahead *a)
{
    return a->threaded ? a->done : file_done(a->gz);
}

int64_t ld_ahead_size(const ld_ahead *a)
{
    return a->gz->file->size;
}

int64_t ld_ahead_bound(const ld_ahead *a)
{
    return a->bound;
}

void ld_ahead_close(ld_ahead *a)
{
    if (!a)
        return;
    if (a->threaded) {
        pthread_mutex_lock(&a->lock);
        a->stop = true;
        pthread_cond_signal(&a->changed);
        pthread_mutex_unlock(&a->lock);
        pthread_join(a->thread, NULL);
    }
    pthread_cond_destroy(&a->changed);
    pthread_mutex_destroy(&a->lock);
    ld_gz_close(a->gz);
    ld_free(a->blocks[0].bytes);
    ld_free(a);
}

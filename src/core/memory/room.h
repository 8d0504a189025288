/* Rooms bound the memory of the large tensors of a computation: a room has so many bytes of memory,
 * and files behind them.
 *
 * While a thread is in a room, each tensor of 64 KiB or more that it makes takes its memory from
 * the room. As long as the living ones have no more than the bound together, that is memory like
 * any other; then it is mapped from a temporary file, whose pages the system writes and drops as it
 * needs to. The numbers are the same in either. Small tensors, and other objects, are outside of
 * it. */
#ifndef LD_MEMORY_ROOM_H
#define LD_MEMORY_ROOM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/own.h"
#include "base/status.h"
#include "memory/mapping.h"

typedef struct ld_room {
    atomic_int refs;
    int64_t bound;                      /* bytes in memory at most */
    atomic_int_least64_t memory, files; /* bytes in use in either */
    atomic_int_least64_t most_memory, most_files;
    atomic_bool lacks; /* true once it had neither memory nor a file for a tensor */
    char folder[];     /* for the files */
} ld_room;

/* Makes a room with one reference. */
ld_status ld_room_new(ld_room **out, int64_t bound, const char *folder);
ld_room *ld_room_ref(ld_room *room);
void ld_room_unref(ld_room *room);
LD_OWNED_BY(ld_room, ld_room_unref)

/* Puts the calling thread into `room`, NULL for none, and returns the one that it was in. The
 * caller keeps the reference. */
ld_room *ld_room_enter(ld_room *room);

/* Returns the room that takes a tensor of so many bytes of this thread, or NULL. */
ld_room *ld_room_for(int64_t bytes);

/* Counts so many bytes as in use: with *file NULL in memory, or else in that file. */
ld_status ld_room_take(ld_mapping **file, ld_room *room, int64_t bytes);

/* Counts so many bytes of a file, which *file is or, where that is NULL, becomes. */
ld_status ld_room_take_file(ld_mapping **file, ld_room *room, int64_t bytes);

/* Counts so many bytes as in use no longer. */
void ld_room_give(ld_room *room, int64_t bytes, bool in_file);

/* Returns how many bytes of files may be in memory at a time: what is left of the bound, but at
 * least half of it, and 64 KiB. */
int64_t ld_room_spare(ld_room *room);

#endif

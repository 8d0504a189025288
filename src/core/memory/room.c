#include "memory/room.h"

#include <string.h>

#include "memory/memory.h"

enum { LEAST = 1 << 16 }; /* bytes of a tensor that is worth a file */

static _Thread_local ld_room *current;

ld_status ld_room_new(ld_room **out, int64_t bound, const char *folder)
{
    size_t length = strlen(folder) + 1;
    ld_room *room = ld_alloc(sizeof *room + length, LD_MEM_IO);
    if (!room)
        return LD_NOMEM;
    memset(room, 0, sizeof *room);
    atomic_init(&room->refs, 1);
    room->bound = bound;
    memcpy(room->folder, folder, length);
    *out = room;
    return LD_OK;
}

ld_room *ld_room_ref(ld_room *room)
{
    atomic_fetch_add_explicit(&room->refs, 1, memory_order_relaxed);
    return room;
}

void ld_room_unref(ld_room *room)
{
    if (room && atomic_fetch_sub_explicit(&room->refs, 1, memory_order_acq_rel) == 1)
        ld_free(room);
}

ld_room *ld_room_enter(ld_room *room)
{
    ld_room *before = current;
    current = room;
    return before;
}

ld_room *ld_room_for(int64_t bytes)
{
    return bytes >= LEAST ? current : NULL;
}

static void count(atomic_int_least64_t *used, atomic_int_least64_t *most, int64_t bytes)
{
    int_least64_t now = atomic_fetch_add(used, bytes) + bytes, before = atomic_load(most);
    while (now > before && !atomic_compare_exchange_weak(most, &before, now))
        continue;
}

/* Only the thread in the room adds to the bytes in use, so no other thread can take the bytes that
 * it has found free. */
ld_status ld_room_take(ld_mapping **file, ld_room *room, int64_t bytes)
{
    *file = NULL;
    if (atomic_load(&room->memory) + bytes <= room->bound) {
        count(&room->memory, &room->most_memory, bytes);
        return LD_OK;
    }
    return ld_room_take_file(file, room, bytes);
}

ld_status ld_room_take_file(ld_mapping **file, ld_room *room, int64_t bytes)
{
    ld_status st = *file ? LD_OK : ld_mapping_temporary(file, room->folder, bytes);
    if (st == LD_OK)
        count(&room->files, &room->most_files, bytes);
    else if (st != LD_CANCELLED)
        atomic_store(&room->lacks, true);
    return st;
}

void ld_room_give(ld_room *room, int64_t bytes, bool in_file)
{
    atomic_fetch_sub(in_file ? &room->files : &room->memory, bytes);
}

int64_t ld_room_spare(ld_room *room)
{
    int64_t least = room->bound / 2, left = room->bound - atomic_load(&room->memory);
    least = least > LEAST ? least : LEAST;
    return left > least ? left : least;
}

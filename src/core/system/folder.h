/* Folders: making, measuring and removing whole trees, and locks between processes. */
#ifndef LD_SYSTEM_FOLDER_H
#define LD_SYSTEM_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* Makes a folder and those above it that are missing. */
ld_status ld_folder_make(const char *path);

/* The bytes of all files in the tree; 0 where there is none. What vanishes meanwhile is left
 * out. */
int64_t ld_folder_bytes(const char *path);

/* Removes a file or a tree; links are removed, not followed. Nothing happens where there is
 * none. */
ld_status ld_folder_remove(const char *path);

/* Brings what was written to a file or a folder to the disk. */
ld_status ld_sync(const char *path);

/* A lock that one process holds, and that the system takes from it when it ends. */
typedef struct ld_lock {
    int fd; /* -1 while not held */
    char *path;
} ld_lock;

/* Takes the lock of this name, a file that exists while somebody holds it and names the process and
 * the machine, and waits for it so many seconds at most; `taken` tells. Given back with
 * ld_lock_close. LD_CANCELLED on Ctrl-C. */
ld_status ld_lock_take(bool *taken, ld_lock *lock, const char *path, double seconds);

/* Who holds the lock of this name, "process 17 on alder", or "" where that is not known. */
void ld_lock_holder(char *text, size_t size, const char *path);

/* Gives the lock back; one that is not held is allowed. */
void ld_lock_close(ld_lock *lock);

#endif

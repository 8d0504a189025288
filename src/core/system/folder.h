/* Makes, measures and removes whole trees of files, and locks between processes. */
#ifndef LD_SYSTEM_FOLDER_H
#define LD_SYSTEM_FOLDER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* Makes a folder and those above it that are missing. */
ld_status ld_folder_make(const char *path);

/* Returns the bytes of all files in the tree; 0 where there is none. Files that vanish meanwhile
 * are left out. */
int64_t ld_folder_bytes(const char *path);

/* Removes a file or a tree; links are removed, not followed. Nothing happens where there is
 * none. */
ld_status ld_folder_remove(const char *path);

/* Gives the bytes that this user may still write to the disk of a folder. */
ld_status ld_folder_free(int64_t *free, const char *path);

/* Brings what was written to a file or a folder to the disk. */
ld_status ld_sync(const char *path);

/* Does so for one that is open; `path` is for the message. */
ld_status ld_sync_opened(int fd, const char *path);

/* A lock that one process holds, and that the system takes from it when it ends. */
typedef struct ld_lock {
    int fd; /* -1 while not held */
    char path[PATH_MAX];
} ld_lock;

/* Takes the lock of this name, a file that exists while somebody holds it and names the process and
 * the machine. Waits for it so many seconds at most; *taken says if it was taken. It is given back
 * with ld_lock_close. Fails with LD_CANCELLED on Ctrl-C. */
ld_status ld_lock_take(bool *taken, ld_lock *lock, const char *path, double seconds);

/* Writes who holds the lock of this name, as in "process 17 on alder", or "" where that is not
 * known. */
void ld_lock_holder(char *text, size_t size, const char *path);

/* Gives the lock back; one that is not held is allowed. */
void ld_lock_close(ld_lock *lock);

#endif

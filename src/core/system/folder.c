/* Trees of folders by the functions of POSIX, and locks between processes: a lock is a file under
 * flock, which the system lets go when the process ends. */
#include "system/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

enum { OPEN_FOLDERS = 16 };

ld_status ld_folder_make(const char *path)
{
    char part[PATH_MAX];
    struct stat info;
    size_t length = strlen(path);
    if (length >= sizeof part)
        return ld_fail(LD_IO, "folder: a path of %zu bytes is too long", length);
    memcpy(part, path, length + 1);
    for (size_t i = 1; i <= length; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        part[i] = '\0';
        if (mkdir(part, 0777) != 0 && errno != EEXIST)
            return ld_fail(LD_IO, "folder: %s cannot be made: %s", part, strerror(errno));
        part[i] = '/';
    }
    if (length > 0 && (stat(path, &info) != 0 || !S_ISDIR(info.st_mode)))
        return ld_fail(LD_IO, "folder: %s is not a folder", path);
    return LD_OK;
}

static _Thread_local int64_t bytes;

static int add_file(const char *path, const struct stat *info, int type, struct FTW *where)
{
    (void)path;
    (void)where;
    bytes += type == FTW_F ? info->st_size : 0;
    return 0;
}

int64_t ld_folder_bytes(const char *path)
{
    bytes = 0;
    nftw(path, add_file, OPEN_FOLDERS, FTW_PHYS);
    return bytes;
}

/* What another process has removed meanwhile is gone as well. */
static int remove_one(const char *path, const struct stat *info, int type, struct FTW *where)
{
    (void)info;
    (void)type;
    (void)where;
    return remove(path) == 0 || errno == ENOENT ? 0 : -1;
}

ld_status ld_folder_remove(const char *path)
{
    if (nftw(path, remove_one, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS) == 0 || errno == ENOENT)
        return LD_OK;
    return ld_fail(LD_IO, "folder: %s cannot be removed: %s", path, strerror(errno));
}

ld_status ld_folder_free(int64_t *free, const char *path)
{
    struct statvfs disk;
    if (statvfs(path, &disk) != 0)
        return ld_fail(LD_IO, "%s: %s", path, strerror(errno));
    *free = (int64_t)disk.f_bavail * (int64_t)disk.f_frsize;
    return LD_OK;
}

/* Where a file system cannot bring something to the disk by itself, it answers EINVAL. */
ld_status ld_sync_opened(int fd, const char *path)
{
    if (fd >= 0 && (fsync(fd) == 0 || errno == EINVAL))
        return LD_OK;
    return ld_fail(LD_IO, "file: %s cannot be brought to the disk: %s", path, strerror(errno));
}

ld_status ld_sync(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ld_status st = ld_sync_opened(fd, path); /* fails for -1 */
    if (fd >= 0)
        close(fd);
    return st;
}

/* Returns true if the open file is still the one of this path. It is not when another process gave
 * the lock back, and so removed the file, between our open and our flock. */
static bool is_current(int fd, const char *path)
{
    struct stat held, found;
    return fstat(fd, &held) == 0 && stat(path, &found) == 0 && held.st_dev == found.st_dev &&
           held.st_ino == found.st_ino;
}

/* Opens and locks the file of a lock. Returns -1 when another process holds it (EWOULDBLOCK), or
 * for another error in errno. */
static int lock_file(const char *path)
{
    for (;;) {
        int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        bool locked = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0;
        if (fd < 0 || (locked && is_current(fd, path)))
            return fd;
        int reason = errno;
        close(fd);
        errno = reason;
        if (!locked)
            return -1;
    }
}

/* Writes into the locked file who holds it, for messages. A failure does not matter: the lock holds
 * without that. */
static void sign(int fd)
{
    char host[64] = "", text[128];
    gethostname(host, sizeof host - 1);
    int n = snprintf(text, sizeof text, "process %d on %s", (int)getpid(), host);
    if (ftruncate(fd, 0) == 0 && pwrite(fd, text, (size_t)n, 0) == n)
        return;
}

void ld_lock_holder(char *text, size_t size, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t n = fd >= 0 ? read(fd, text, size - 1) : 0;
    text[n > 0 ? n : 0] = '\0';
    if (fd >= 0)
        close(fd);
}

ld_status ld_lock_take(bool *taken, ld_lock *lock, const char *path, double seconds)
{
    static const struct timespec nap = {0, 50000000};
    ld_status st = LD_OK;
    int fd;
    *taken = false;
    for (double waited = 0; (fd = lock_file(path)) < 0; waited += 1e-9 * (double)nap.tv_nsec) {
        if (errno != EWOULDBLOCK)
            return ld_fail(LD_IO, "lock: %s cannot be taken: %s", path, strerror(errno));
        if (waited >= seconds || (st = ld_poll()) != LD_OK)
            return st;
        nanosleep(&nap, NULL);
    }
    snprintf(lock->path, sizeof lock->path, "%s", path); /* a longer one cannot be opened */
    sign(fd);
    lock->fd = fd;
    *taken = true;
    return LD_OK;
}

void ld_lock_close(ld_lock *lock)
{
    if (lock->fd < 0)
        return;
    unlink(lock->path);
    close(lock->fd);
    lock->fd = -1;
}

#if defined(__linux__) && !defined(LD_POSIX_ONLY)
#define HAVE_LINUX  1
#define _GNU_SOURCE 1
#else
#define HAVE_LINUX 0
#endif

#include "system/platform.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#if HAVE_LINUX
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

int ld_platform_processors(void)
{
#if HAVE_LINUX
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return CPU_COUNT(&set);
#endif
    return ld_platform_all_processors();
}

int ld_platform_all_processors(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > INT_MAX ? INT_MAX : (int)n;
}

size_t ld_platform_memory(void)
{
#ifdef _SC_PHYS_PAGES
    long pages = sysconf(_SC_PHYS_PAGES);
    if (pages > 0)
        return (size_t)pages * (size_t)sysconf(_SC_PAGESIZE);
#endif
    return SIZE_MAX;
}

void *ld_platform_map(size_t size)
{
#ifdef MAP_ANONYMOUS
    void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
#else
    int zeros = open("/dev/zero", O_RDWR | O_CLOEXEC);
    void *pages = MAP_FAILED;
    if (zeros >= 0) {
        pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, zeros, 0);
        close(zeros);
    }
#endif
    return pages == MAP_FAILED ? NULL : pages;
}

void *ld_platform_map_file(int fd, off_t position, size_t size, bool shared)
{
#ifdef MAP_NORESERVE
    int flags = shared ? MAP_SHARED : MAP_PRIVATE | MAP_NORESERVE;
#else
    int flags = shared ? MAP_SHARED : MAP_PRIVATE;
#endif
    void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, fd, position);
    return pages == MAP_FAILED ? NULL : pages;
}

int ld_platform_temporary_file(const char *folder)
{
    int fd;
#if HAVE_LINUX
    fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (fd >= 0 ||
        (errno != EOPNOTSUPP && errno != EISDIR)) /* of file systems without such files */
        return fd;
#endif
    char path[PATH_MAX];
    if ((size_t)snprintf(path, sizeof path, "%s/ladies.tmp.XXXXXX", folder) >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    fd = mkstemp(path);
    if (fd >= 0) {
        unlink(path);
        fcntl(fd, F_SETFD, FD_CLOEXEC);
    }
    return fd;
}

bool ld_platform_name_file(int fd, const char *path)
{
#if HAVE_LINUX
    char open_file[64];
    snprintf(open_file, sizeof open_file, "/proc/self/fd/%d", fd);
    return linkat(AT_FDCWD, open_file, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0;
#else
    (void)fd, (void)path;
    errno = ENOTSUP;
    return false;
#endif
}

void *ld_platform_remap(void *pages, size_t size, size_t new_size)
{
#if HAVE_LINUX
    void *moved = mremap(pages, size, new_size, MREMAP_MAYMOVE);
    return moved == MAP_FAILED ? NULL : moved;
#else
    (void)pages, (void)size, (void)new_size;
    return NULL;
#endif
}

void ld_platform_enlarge(void *pages, size_t size)
{
#if HAVE_LINUX && defined(MADV_HUGEPAGE)
    madvise(pages, size, MADV_HUGEPAGE);
#else
    (void)pages, (void)size;
#endif
}

void ld_platform_unmap(void *pages, size_t size)
{
    munmap(pages, size);
}

void ld_platform_fetch(const struct iovec *ranges, size_t n)
{
#if HAVE_LINUX && defined(SYS_process_madvise) && defined(SYS_pidfd_open)
    int self = (int)syscall(SYS_pidfd_open, getpid(), 0);
    if (self >= 0) {
        long done = syscall(SYS_process_madvise, self, ranges, n, MADV_WILLNEED, 0);
        close(self);
        if (done >= 0)
            return;
    }
#endif
    for (size_t i = 0; i < n; i++)
        posix_madvise(ranges[i].iov_base, ranges[i].iov_len, POSIX_MADV_WILLNEED);
}

bool ld_platform_is_in_memory(void *page)
{
#if HAVE_LINUX
    unsigned char there = 0;
    return mincore(page, 1, &there) == 0 && there & 1;
#else
    (void)page;
    return false;
#endif
}

void ld_platform_forget(void *pages, size_t size)
{
#if HAVE_LINUX
    madvise(pages, size, MADV_DONTNEED);
#else
    (void)pages, (void)size;
#endif
}

bool ld_platform_allow_tiles(void)
{
#if HAVE_LINUX && defined(__x86_64__)
    enum { ARCH_REQ_XCOMP_PERM = 0x1023, TILE_DATA = 18 };
    return syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, TILE_DATA) == 0;
#else
    return false;
#endif
}

bool ld_platform_end_with(pid_t parent)
{
#if HAVE_LINUX
    prctl(PR_SET_PDEATHSIG, SIGTERM);
#endif
    return getppid() == parent;
}

static bool is_program(const char *path)
{
    struct stat info;
    return access(path, X_OK) == 0 && stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

bool ld_platform_find_program(char *path, size_t size, const char *name)
{
    if (strchr(name, '/')) {
        int n = snprintf(path, size, "%s", name);
        return (size_t)n < size && is_program(path);
    }
    const char *folder = getenv("PATH");
    while (folder && *folder && *name) {
        size_t length = strcspn(folder, ":");
        int n = snprintf(path, size, "%.*s/%s", (int)length, folder, name);
        if (*folder == '/' && (size_t)n < size && is_program(path))
            return true;
        folder += length + (folder[length] == ':');
    }
    return false;
}

bool ld_platform_program(char *path, size_t size, const char *name)
{
    char found[PATH_MAX], real[PATH_MAX];
#if HAVE_LINUX
    ssize_t length = readlink("/proc/self/exe", path, size);
    if (length > 0 && (size_t)length < size) {
        path[length] = '\0';
        return true;
    }
#endif
    if (!name || !ld_platform_find_program(found, sizeof found, name) || !realpath(found, real))
        return false;
    return (size_t)snprintf(path, size, "%s", real) < size;
}

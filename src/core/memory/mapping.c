#include "memory/mapping.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memory/memory.h"
#include "system/machine.h"
#include "system/platform.h"
#include "system/threads.h"
#include "system/transfer.h"

enum { GRAIN = 128, LOOKED_AT = 32 };

static ld_status map(ld_mapping **out, int fd, int64_t position, int64_t size, bool shared)
{
    int64_t before = position % sysconf(_SC_PAGESIZE); /* mappings begin with a page */
    struct stat file;
    ld_mapping *m = ld_alloc(sizeof *m, LD_MEM_IO);
    if (!m)
        return LD_NOMEM;
    atomic_init(&m->refs, 1);
    m->file = NULL;
    m->fd = -1;
    m->length = (size_t)(before + size);
    m->base = ld_platform_map_file(fd, position - before, m->length, shared);
    if (!m->base) {
        ld_free(m);
        return ld_fail(LD_IO, "a file cannot be mapped: %s", strerror(errno));
    }
    m->data = (char *)m->base + before;
    m->is_large = fstat(fd, &file) == 0 && (size_t)file.st_size > ld_machine_memory() / 4;
    *out = m;
    return LD_OK;
}

ld_status ld_mapping_new(ld_mapping **out, int fd, ld_stamp opened, const char *name,
                         int64_t position, int64_t size)
{
    ld_mapped_file *file;
    LD_CHECK(ld_mapped_file_ref(&file, fd, opened, name));
    ld_status st = map(out, fd, position, size, false);
    if (st == LD_OK)
        (*out)->file = file;
    else
        ld_mapped_file_unref(file);
    return st;
}

ld_status ld_mapping_temporary(ld_mapping **out, const char *folder, int64_t size)
{
    int fd = ld_platform_temporary_file(folder), error = 0;
    if (fd < 0)
        return ld_fail(LD_IO, "no temporary file of %.3g GB can be made in %s: %s",
                       (double)size / 1e9, folder, strerror(errno));
    do
        error = posix_fallocate(fd, 0, size);
    while (error == EINTR && !ld_cancelled());
    ld_status st = error == 0 ? map(out, fd, 0, size, true)
                   : error == EINTR
                       ? ld_poll()
                       : ld_fail(LD_IO, "no room for a temporary file of %.3g GB in %s: %s",
                                 (double)size / 1e9, folder, strerror(error));
    if (st == LD_OK)
        (*out)->fd = fd;
    else
        close(fd);
    return st;
}

ld_status ld_mapping_keep(const ld_mapping *m, const char *path)
{
    if (msync(m->base, m->length, MS_SYNC) != 0 || !ld_platform_name_file(m->fd, path))
        return ld_fail(LD_IO, "%s cannot be kept: %s", path, strerror(errno));
    return LD_OK;
}

ld_status ld_mapping_kept(ld_mapping **out, const char *path, int64_t size)
{
    struct stat info;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return ld_fail(LD_IO, "%s: %s", path, strerror(errno));
    ld_status st = fstat(fd, &info) == 0 && info.st_size == size
                       ? map(out, fd, 0, size, true)
                       : ld_fail(LD_IO, "%s has not the %lld bytes that it should have", path,
                                 (long long)size);
    if (st == LD_OK)
        (*out)->fd = fd;
    else
        close(fd);
    return st;
}

void ld_mapping_advise(const ld_mapping *m, ld_access access)
{
    if (m->is_large)
        posix_madvise(m->base, m->length,
                      access == LD_ACCESS_RANDOM ? POSIX_MADV_RANDOM : POSIX_MADV_SEQUENTIAL);
}

void ld_mapping_fetch(const ld_mapping *m, const void *from, int64_t size)
{
    int64_t first = (const char *)from - (const char *)m->base, page = sysconf(_SC_PAGESIZE);
    int64_t begin = first / page * page;
    posix_madvise((char *)m->base + begin, (size_t)(first + size - begin), POSIX_MADV_WILLNEED);
}

/* A temporary file begins where its mapping does. */
ld_status ld_mapping_read(const ld_mapping *m, void *to, const void *from, int64_t size)
{
    return ld_read_at(m->fd, "a temporary file", to, (const char *)from - m->data, size);
}

ld_status ld_mapping_write(const ld_mapping *m, void *to, const void *from, int64_t size)
{
    return ld_write_at(m->fd, "a temporary file", from, (char *)to - m->data, size);
}

/* Rows of a mapping, by their ids. */
typedef struct {
    char *base;
    const int32_t *ids;
    const int64_t *offsets; /* row r has elements offsets[r] .. offsets[r + 1] - 1; NULL: r alone */
    int64_t first, size, page; /* where element 0 begins; of an element, of a page */
} rows_of_mapping;

/* Returns the first page of the i-th of these rows. */
static char *page_of(const rows_of_mapping *p, int64_t i)
{
    int64_t at = p->offsets ? p->offsets[p->ids[i]] : p->ids[i];
    return p->base + (p->first + at * p->size) / p->page * p->page;
}

static char *end_of(const rows_of_mapping *p, int64_t i)
{
    int64_t at = p->offsets ? p->offsets[p->ids[i] + 1] : p->ids[i] + 1;
    return p->base + p->first + at * p->size;
}

static void ask_for_rows(void *ctx, int64_t begin, int64_t end)
{
    const rows_of_mapping *p = ctx;
    struct iovec asked[GRAIN];
    for (int64_t i = begin; i < end; i++) {
        char *from = page_of(p, i);
        asked[i - begin] = (struct iovec){from, (size_t)(end_of(p, i) - from)};
    }
    ld_platform_fetch(asked, (size_t)(end - begin));
}

static void touch_rows(void *ctx, int64_t begin, int64_t end)
{
    const rows_of_mapping *p = ctx;
    for (int64_t i = begin; i < end; i++)
        for (const char *at = page_of(p, i), *to = end_of(p, i); at < to; at += p->page)
            (void)*(const volatile char *)at;
}

/* Returns true if some rows, spread over all, are in memory. Prefetching rows that are there takes
 * as long as all else that is done with them. */
static bool seem_in_memory(const rows_of_mapping *p, int64_t n)
{
    bool all = true;
    for (int64_t k = 0; k < LOOKED_AT && all; k++)
        all = ld_platform_is_in_memory(page_of(p, k * n / LOOKED_AT));
    return all;
}

ld_status ld_mapping_prefetch(const ld_mapping *m, const void *rows, int64_t size,
                              const int64_t *offsets, const int32_t *ids, int64_t n)
{
    rows_of_mapping p = {.base = m->base,
                         .ids = ids,
                         .offsets = offsets,
                         .first = (const char *)rows - (const char *)m->base,
                         .size = size,
                         .page = sysconf(_SC_PAGESIZE)};
    ld_status st = LD_OK;
    if (n > 0 && m->is_large && !seem_in_memory(&p, n))
        st = ld_parallel_for(n, GRAIN, ask_for_rows, &p);
    return st == LD_OK ? ld_parallel_for(n, GRAIN, touch_rows, &p) : st;
}

void ld_mapping_forget(const ld_mapping *m, const void *first, const void *end)
{
    int64_t page = sysconf(_SC_PAGESIZE);
    int64_t from = ((const char *)first - (const char *)m->base + page - 1) / page * page;
    int64_t to = ((const char *)end - (const char *)m->base) / page * page;
    if (from < to)
        ld_platform_forget((char *)m->base + from, (size_t)(to - from));
}

ld_mapping *ld_mapping_ref(ld_mapping *m)
{
    atomic_fetch_add_explicit(&m->refs, 1, memory_order_relaxed);
    return m;
}

void ld_mapping_unref(ld_mapping *m)
{
    if (!m || atomic_fetch_sub_explicit(&m->refs, 1, memory_order_acq_rel) != 1)
        return;
    ld_platform_unmap(m->base, m->length);
    if (m->fd >= 0)
        close(m->fd);
    ld_mapped_file_unref(m->file);
    ld_free(m);
}

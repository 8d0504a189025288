#include "memory/mapped_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memory/memory.h"

struct ld_mapped_file {
    ld_mapped_file *next;
    int refs, fd;
    ld_stamp opened;
    char name[LD_MAPPED_NAME];
};

static ld_mapped_file *files;
static atomic_flag taken = ATOMIC_FLAG_INIT; /* a flag, since a handler may not wait for a mutex */

static void take(void)
{
    while (atomic_flag_test_and_set(&taken))
        continue;
}

ld_stamp ld_stamp_of(const struct stat *info)
{
    return (ld_stamp){info->st_dev, info->st_ino, info->st_size, info->st_mtim.tv_sec,
                      info->st_mtim.tv_nsec};
}

static bool same(ld_stamp a, ld_stamp b)
{
    return a.device == b.device && a.node == b.node && a.size == b.size && a.seconds == b.seconds &&
           a.nanoseconds == b.nanoseconds;
}

ld_status ld_mapped_file_ref(ld_mapped_file **out, int fd, ld_stamp opened, const char *name)
{
    ld_mapped_file *f, *made = ld_alloc(sizeof *made, LD_MEM_IO);
    if (!made)
        return LD_NOMEM;
    made->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (made->fd < 0) {
        int error = errno;
        ld_free(made);
        return ld_fail(LD_IO, "%s: cannot stay open: %s", name, strerror(error));
    }
    made->refs = 0;
    made->opened = opened;
    strncpy(made->name, name, sizeof made->name - 1);
    made->name[sizeof made->name - 1] = '\0';
    take();
    for (f = files; f && !same(f->opened, opened); f = f->next)
        continue;
    if (!f) {
        f = made;
        made = NULL;
        f->next = files;
        files = f;
    }
    f->refs++;
    atomic_flag_clear(&taken);
    if (made) {
        close(made->fd);
        ld_free(made);
    }
    *out = f;
    return LD_OK;
}

void ld_mapped_file_unref(ld_mapped_file *f)
{
    if (!f)
        return;
    take();
    bool last = --f->refs == 0;
    ld_mapped_file **at = &files;
    while (last && *at != f)
        at = &(*at)->next;
    if (last)
        *at = f->next;
    atomic_flag_clear(&taken);
    if (!last)
        return;
    close(f->fd);
    ld_free(f);
}

/* Finds a file that was changed, while this thread holds the list. A file about which the system
 * says nothing any more counts as unchanged: reading it will fail. */
static bool find_changed(char name[LD_MAPPED_NAME])
{
    struct stat now;
    for (const ld_mapped_file *f = files; f; f = f->next) {
        if (fstat(f->fd, &now) == 0 && !same(f->opened, ld_stamp_of(&now))) {
            memcpy(name, f->name, LD_MAPPED_NAME);
            return true;
        }
    }
    return false;
}

bool ld_mapped_file_changed(char name[LD_MAPPED_NAME])
{
    take();
    bool changed = find_changed(name);
    atomic_flag_clear(&taken);
    return changed;
}

bool ld_mapped_file_changed_in_handler(char name[LD_MAPPED_NAME])
{
    enum { PATIENCE = 1 << 20 };
    for (int i = 0; i < PATIENCE; i++) {
        if (atomic_flag_test_and_set(&taken))
            continue;
        bool changed = find_changed(name);
        atomic_flag_clear(&taken);
        return changed;
    }
    return false;
}

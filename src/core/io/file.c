#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memory/memory.h"
#include "system/folder.h"
#include "system/transfer.h"

static ld_label label_of(const char *reader, const char *path)
{
    enum { LONGEST = 150 };
    ld_label label;
    size_t length = strlen(path);
    bool cut = length > LONGEST;
    snprintf(label.text, sizeof label.text, "%.20s: %s%s", reader, cut ? "..." : "",
             cut ? path + length - LONGEST : path);
    return label;
}

/* Fails unless a file is a regular one. */
static ld_status check_regular(const struct stat *info, const ld_label *label)
{
    if (S_ISREG(info->st_mode))
        return LD_OK;
    return ld_fail(LD_IO, "%s: is %s", label->text,
                   S_ISDIR(info->st_mode) ? "a folder" : "not a regular file");
}

ld_status ld_file_open(ld_file **out, const char *path, const char *reader)
{
    struct stat info;
    LD_OWN(ld_file) *f = ld_alloc(sizeof *f, LD_MEM_IO);
    if (!f)
        return LD_NOMEM;
    f->label = label_of(reader, path);
    f->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* or a fifo would be waited for */
    if (f->fd < 0 || fstat(f->fd, &info) != 0)
        return ld_fail(LD_IO, "%s: cannot be opened: %s", f->label.text, strerror(errno));
    LD_CHECK(check_regular(&info, &f->label));
    f->size = info.st_size;
    f->opened = ld_stamp_of(&info);
    *out = ld_take(&f);
    return LD_OK;
}

void ld_file_close(ld_file *f)
{
    if (f && f->fd >= 0)
        close(f->fd);
    ld_free(f);
}

ld_status ld_file_identity(char text[LD_FILE_IDENTITY], const ld_file *f)
{
    struct stat info;
    if (fstat(f->fd, &info) != 0)
        return ld_fail(LD_IO, "%s: cannot be opened: %s", f->label.text, strerror(errno));
    snprintf(text, LD_FILE_IDENTITY, "%ju:%ju:%jd:%jd.%09ld:%jd.%09ld", (uintmax_t)info.st_dev,
             (uintmax_t)info.st_ino, (intmax_t)info.st_size, (intmax_t)info.st_mtim.tv_sec,
             info.st_mtim.tv_nsec, (intmax_t)info.st_ctim.tv_sec, info.st_ctim.tv_nsec);
    return LD_OK;
}

ld_status ld_file_read(const ld_file *f, void *out, int64_t position, int64_t size)
{
    return ld_read_at(f->fd, f->label.text, out, position, size);
}

ld_status ld_file_forget(const ld_file *f)
{
    int error = fsync(f->fd) == 0 ? posix_fadvise(f->fd, 0, 0, POSIX_FADV_DONTNEED) : errno;
    if (error != 0)
        return ld_fail(LD_IO, "%s: stays in memory: %s", f->label.text, strerror(error));
    return LD_OK;
}

/* Creates the file of w->temp, a new name beside w->path. */
static ld_status create_temp(ld_writer *w, size_t room)
{
    int fd = -1;
    for (int i = 0; fd < 0; i++) {
        snprintf(w->temp, room, "%s.tmp%d-%d", w->path, (int)getpid(), i);
        fd = open(w->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST)
            return ld_fail(LD_IO, "%s: cannot be created: %s", w->label.text, strerror(errno));
    }
    w->stream = fdopen(fd, "wb");
    if (w->stream)
        return LD_OK;
    close(fd);
    unlink(w->temp);
    return ld_fail(LD_NOMEM, "%s: out of memory", w->label.text);
}

ld_status ld_writer_open(ld_writer **out, const char *path, const char *reader)
{
    struct stat info;
    size_t length = strlen(path) + 1, room = length + 32;
    LD_FREED ld_writer *w = ld_alloc(sizeof *w + 2 * length + room, LD_MEM_IO);
    if (!w)
        return LD_NOMEM;
    w->label = label_of(reader, path);
    w->path = memcpy((char *)(w + 1), path, length);
    w->temp = w->path + length;
    w->folder_path = dirname(memcpy(w->temp + room, path, length));
    w->folder = -1;
    w->failed = false;
    w->stream = NULL;
    if (stat(path, &info) == 0) /* a rename would replace a device or a socket as well */
        LD_CHECK(check_regular(&info, &w->label));
    LD_CHECK(create_temp(w, room));
    *out = ld_take(&w);
    return LD_OK;
}

ld_status ld_writer_check(const ld_writer *w)
{
    return w->failed ? ld_fail(LD_STATE, "%s: writing it failed before", w->label.text) : LD_OK;
}

ld_status ld_writer_fail(ld_writer *w)
{
    w->failed = true;
    return ld_fail(LD_IO, "%s: cannot be written: %s", w->label.text, strerror(errno));
}

ld_status ld_writer_put(ld_writer *w, const void *data, int64_t size)
{
    LD_CHECK(ld_writer_check(w));
    return fwrite(data, 1, (size_t)size, w->stream) == (size_t)size ? LD_OK : ld_writer_fail(w);
}

/* The folder, whose list of files the rename changes, is opened before, so that nothing has changed
 * where that fails. Who may write to a folder but not read it cannot bring it to the disk. */
ld_status ld_writer_commit(ld_writer *given)
{
    LD_OWN(ld_writer) *w = given;
    LD_CHECK(ld_writer_check(w));
    w->folder = open(w->folder_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (w->folder < 0 && errno != EACCES)
        return ld_writer_fail(w);
    if (fflush(w->stream) != 0 || fsync(fileno(w->stream)) != 0 || rename(w->temp, w->path) != 0)
        return ld_writer_fail(w);
    w->temp[0] = '\0'; /* there is none to remove */
    return w->folder < 0 ? LD_OK : ld_sync_opened(w->folder, w->folder_path);
}

void ld_writer_abandon(ld_writer *w)
{
    if (!w)
        return;
    fclose(w->stream);
    if (w->folder >= 0)
        close(w->folder);
    unlink(w->temp);
    ld_free(w);
}

ld_status ld_file_write(const char *path, const void *data, int64_t size)
{
    LD_OWN(ld_writer) *w = NULL;
    LD_CHECK(ld_writer_open(&w, path, "file"));
    LD_CHECK(ld_writer_put(w, data, size));
    return ld_writer_commit(ld_take(&w));
}

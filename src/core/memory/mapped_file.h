/* Keeps the files of which parts are mapped, and tells if one was changed since it was opened.
 *
 * A file that another program writes to in place shows its new bytes through the mappings that are
 * there. Results are then computed from two contents, and numbers that were checked, such as the
 * columns of a matrix, may lead anywhere. Each such file is kept open, once, so that the system can
 * be asked when it was last written to. A file that was replaced by another one of its name is
 * unchanged. */
#ifndef LD_MEMORY_MAPPED_FILE_H
#define LD_MEMORY_MAPPED_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* A stamp, which tells the content of a file from another one. The time of the last change of its
 * inode is no part of it: a new name or other rights move that one too. */
typedef struct {
    uint64_t device, node;
    int64_t size, seconds, nanoseconds; /* since 1970, when it was last written to */
} ld_stamp;

struct stat;
ld_stamp ld_stamp_of(const struct stat *info);

typedef struct ld_mapped_file ld_mapped_file;

/* Notes that parts of a file are mapped which is open as `fd`, a descriptor that stays the
 * caller's; its stamp was `opened` when reading it began. `name` is what messages call it. LD_IO
 * where no more files can be open. Ends with ld_mapped_file_unref. */
ld_status ld_mapped_file_ref(ld_mapped_file **out, int fd, ld_stamp opened, const char *name);

/* NULL is allowed. */
void ld_mapped_file_unref(ld_mapped_file *f);

enum { LD_MAPPED_NAME = 200 };

/* Returns true and a name if one of these files was written to since it was opened. */
bool ld_mapped_file_changed(char name[LD_MAPPED_NAME]);

/* Answers that question in the handler of a signal, which may not wait: false if another thread
 * holds the list of files for long. */
bool ld_mapped_file_changed_in_handler(char name[LD_MAPPED_NAME]);

#endif

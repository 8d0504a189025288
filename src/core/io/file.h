/* Files: reading at a position, and writing that either completes or leaves nothing behind.
 *
 * The rooms of this folder read and write formats:
 *
 *     archive    gzip and zip: inflated streams, members, and what both offer to a parser (source)
 *     text       tables and Matrix Market, read by a thread that unpacks and pieces that parse
 *     array      .npy, .npz and .safetensors
 *     pickle     files that Python pickled, as data
 *
 * text and array read from archive, pickle from both archive and array. */
#ifndef LD_IO_FILE_H
#define LD_IO_FILE_H

#include <stdint.h>
#include <stdio.h>

#include "base/own.h"
#include "base/status.h"
#include "memory/mapped_file.h"

/* The beginning of every message about a file: "npz: runs/x.npz". Long paths lose their beginning,
 * so that the message keeps its end. */
typedef struct {
    char text[200];
} ld_label;

/* A regular file open for reading. */
typedef struct ld_file {
    int fd;
    int64_t size;
    ld_stamp opened; /* of the moment when it was opened */
    ld_label label;
} ld_file;

/* Opens a file; `reader` ("npz", "npy", ...) begins its messages. LD_IO when there is none or it is
 * not a regular file. Given back with ld_file_close. */
ld_status ld_file_open(ld_file **out, const char *path, const char *reader);

/* NULL is allowed. */
void ld_file_close(ld_file *f);
LD_OWNED_BY(ld_file, ld_file_close)

/* Writes which file it is and when it was last changed in any way to `text`. The system sets the
 * time of the change itself, so a file of the same identity has the same bytes. */
enum { LD_FILE_IDENTITY = 128 };
ld_status ld_file_identity(char text[LD_FILE_IDENTITY], const ld_file *f);

/* Reads exactly `size` bytes from a position on; LD_FORMAT when the file ends before. */
ld_status ld_file_read(const ld_file *f, void *out, int64_t position, int64_t size);

/* Asks the system to forget what it has in memory of a file that no process has mapped: whoever
 * reads it next waits for the disk. */
ld_status ld_file_forget(const ld_file *f);

/* A file that is being written under a temporary name in the folder of its destination. */
typedef struct ld_writer {
    FILE *stream;
    char *path;        /* where it will be */
    char *temp;        /* where it is */
    char *folder_path; /* of both */
    int folder;        /* it, open while the file gets its name; else -1 */
    bool failed;       /* a write failed, so bytes are missing that later ones do not bring */
    ld_label label;
} ld_writer;

/* Begins to write a file. The destination may exist if it is a regular file. Ends with
 * ld_writer_commit or ld_writer_abandon. */
ld_status ld_writer_open(ld_writer **out, const char *path, const char *reader);

/* Fails with LD_STATE if a write failed before: nothing is written after that, nor committed. */
ld_status ld_writer_check(const ld_writer *w);

ld_status ld_writer_put(ld_writer *w, const void *data, int64_t size);

/* Notes that a write failed, and fails with LD_IO and the reason that the operating system gave
 * (errno). */
ld_status ld_writer_fail(ld_writer *w);

/* Brings the bytes to the disk and then renames the file to its destination: whatever happens, the
 * destination holds the old content or the new, never a part. Takes w, also when it fails. */
ld_status ld_writer_commit(ld_writer *w);

/* Removes the temporary file; NULL is allowed. */
void ld_writer_abandon(ld_writer *w);
LD_OWNED_BY(ld_writer, ld_writer_abandon)

/* Writes a file whose bytes are all in memory, from opening to commit. */
ld_status ld_file_write(const char *path, const void *data, int64_t size);

#endif

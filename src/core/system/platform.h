/* All questions to the operating system beyond POSIX. This is the one file that knows Linux from
 * others; each function has a way for systems that have nothing of the kind, and LD_POSIX_ONLY
 * takes that way on Linux too, for tests. */
#ifndef LD_SYSTEM_PLATFORM_H
#define LD_SYSTEM_PLATFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>

/* Returns the processors that this process may run on; at least 1. */
int ld_platform_processors(void);

/* Returns the processors that the machine has, at least 1. */
int ld_platform_all_processors(void);

/* Returns the bytes of memory that the machine has; SIZE_MAX where that is not known. */
size_t ld_platform_memory(void);

/* Maps fresh pages of zeros, or returns NULL. */
void *ld_platform_map(size_t size);

/* Gives pages of ld_platform_map another size, perhaps elsewhere, with as much of their contents as
 * fits. Where that cannot be without a copy, it returns NULL, and they are as they were. */
void *ld_platform_remap(void *pages, size_t size, size_t new_size);

/* Asks that pages of ld_platform_map come in large ones, which random reads of much memory find
 * sooner; elsewhere than on Linux, and where its administrator does not want it, nothing is
 * done. */
void ld_platform_enlarge(void *pages, size_t size);

/* Maps pages of a file, from a position that is a multiple of their size. They are copied when they
 * are written to, without room set aside for that; or, if `shared`, written to the file. Returns
 * NULL and sets errno where the system refuses. */
void *ld_platform_map_file(int fd, off_t position, size_t size, bool shared);

/* Opens a file in a folder, without a name, so that it goes with whoever holds it, however that
 * ends. Where the system wants it to have a name first, it has one for a moment. Returns -1 and
 * sets errno where the system refuses. */
int ld_platform_temporary_file(const char *folder);

/* Gives a file of ld_platform_temporary_file a name in its folder. Returns false and sets errno
 * where the system refuses, as it does where the file had a name for a moment. */
bool ld_platform_name_file(int fd, const char *path);

void ld_platform_unmap(void *pages, size_t size);

/* Asks for ranges of ld_platform_map_file's pages, each of which begins with a page, to be read
 * from the file, without waiting for them; many of them together cost less than one by one. */
void ld_platform_fetch(const struct iovec *ranges, size_t n);

/* Returns true if the page at a multiple of their size is in memory, as far as the system tells. */
bool ld_platform_is_in_memory(void *page);

/* Gives the memory of pages of ld_platform_map_file back: they come from the file again when they
 * are touched, unless they are shared without what was written to them. Elsewhere than on Linux
 * nothing is done. */
void ld_platform_forget(void *pages, size_t size);

/* Asks for the tiles of AMX, 8 KiB of registers for every thread that uses them; false where the
 * system does not let this process have them. */
bool ld_platform_allow_tiles(void);

/* Makes a child, before exec, end when its parent `parent` does; elsewhere than on Linux nothing is
 * done. Returns false when the parent has ended already. */
bool ld_platform_end_with(pid_t parent);

/* Writes the path of a program that PATH leads to, or the name itself where it is a path; false
 * when there is none, or no room for it. Only folders named from the root count: the current one
 * may be anybody's. */
bool ld_platform_find_program(char *path, size_t size, const char *name);

/* Writes the path of the running program, whose argv[0] is `name`: as the system knows it, or else
 * as ld_platform_find_program does, from the root. */
bool ld_platform_program(char *path, size_t size, const char *name);

#endif

/* Archives of named .npy arrays. Member "x.npy" holds array "x"; members of other names are left
 * alone. */
#ifndef LD_IO_NPZ_H
#define LD_IO_NPZ_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "io/archive/zip.h"
#include "io/array/npy.h"

/* Returns the length of the array's name within the name of a member; -1 when it is not an
 * array. */
int ld_npz_name_length(const ld_zip_member *m);

/* Returns true if there is an array of this name. */
bool ld_npz_has(const ld_zip *z, const char *name);

/* Begins to read an array: gives its header, and the source of its elements for ld_npy_read_*. The
 * source belongs to the archive and is good until the next call. Fails with LD_VALUE when there is
 * no such array. */
ld_status ld_npz_read(ld_npy_header *h, ld_source **s, ld_zip *z, const char *name);

/* Writes arrays to a file, atomically, sorted by name and without times: equal arrays give equal
 * bytes (deflated ones with the same version of zlib). The elements of large stored ones are
 * aligned, so that they can be mapped. */
ld_status ld_npz_write(const char *path, const ld_npy_array *arrays, int64_t count, bool compress);

#endif

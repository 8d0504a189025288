/* Matrix Market files (Boisvert, Pozo and Remington 1996, NISTIR 5935), plain or packed with gzip.
 *
 * Coordinate and array files are read with real, integer or pattern entries, general, symmetric or
 * skew-symmetric. Complex ones are refused. */
#ifndef LD_IO_MTX_H
#define LD_IO_MTX_H

#include "base/status.h"
#include "graph/csr.h"
#include "io/text/lines.h"
#include "tensor/tensor.h"

/* Reads a file: a coordinate file into *sparse, an array into *dense; the other is left. Entries of
 * a coordinate file that occur twice are summed (patterns: kept once), symmetric ones spread to
 * both triangles. LD_FORMAT with the line when the file is not what its banner and its sizes
 * say. */
ld_status ld_mtx_read(ld_csr **sparse, ld_tensor **dense, const char *path, ld_progress *progress,
                      void *context);

/* Writes a matrix as a coordinate file, a pattern if all entries are one by nature; `symmetric`
 * writes the lower triangle only, and is LD_VALUE when a is not symmetric. */
ld_status ld_mtx_write(const char *path, ld_csr *a, bool symmetric);

/* Writes a tensor as an array file, a vector as one column. */
ld_status ld_mtx_write_dense(const char *path, const ld_tensor *t);

#endif

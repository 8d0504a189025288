/* Inflates a deflated stream that lies in a range of a file, piece by piece. */
#ifndef LD_IO_INFLATE_H
#define LD_IO_INFLATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "io/file.h"

/* Deflate stores at most 258 bytes in two bits: no stream inflates to more than this many times its
 * size. */
enum { LD_INFLATE_RATIO = 1032 };

typedef struct ld_inflater {
    struct ld_inflater_state *state; /* zlib's state, and its input; NULL when closed */
    const ld_file *file;
    int64_t position, end; /* the range of compressed bytes not yet read */
    const char *name;      /* begins every message; the caller's */
    bool ended;            /* the end of the stream was met */
} ld_inflater;

/* Begins to inflate bytes position .. end - 1 of a file; `window_bits` is zlib's: -15 for a bare
 * stream, 31 for gzip. `x` is all zeros or closed. */
ld_status ld_inflater_open(ld_inflater *x, const ld_file *file, int64_t position, int64_t end,
                           int window_bits, const char *name);

/* Inflates up to `size` bytes into `out`; fewer only at the end of the stream. */
ld_status ld_inflater_read(ld_inflater *x, void *out, int64_t size, int64_t *got);

/* Returns the position in the file of the first compressed byte that was not inflated yet. */
int64_t ld_inflater_position(const ld_inflater *x);

/* True if there are compressed bytes left. */
bool ld_inflater_more(const ld_inflater *x);

/* Begins anew with the bytes that follow the end of a stream. */
void ld_inflater_restart(ld_inflater *x);

/* Frees what `x` holds; it may be closed already. */
void ld_inflater_close(ld_inflater *x);

#endif

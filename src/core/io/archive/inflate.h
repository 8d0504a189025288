/* A deflated stream that lies in a range of a file, inflated piece by piece. */
#ifndef LD_IO_INFLATE_H
#define LD_IO_INFLATE_H

#include <stdbool.h>
#include <stdint.h>
#include <zlib.h>

#include "base/status.h"
#include "io/file.h"

/* Deflate stores at most 258 bytes in two bits: no stream inflates to more than this many times its
 * size. */
enum { LD_INFLATE_RATIO = 1032 };

typedef struct ld_inflater {
    z_stream z;
    const ld_file *file;
    int64_t position, end; /* of the compressed bytes not yet read */
    unsigned char *buffer; /* NULL when closed */
    const char *name;      /* begins every message; the caller's */
    bool ended;            /* the end of the stream was met */
} ld_inflater;

/* Begins to inflate bytes position .. end - 1 of a file; `window_bits` is zlib's: -15 for a bare
 * stream, 31 for gzip. `x` is all zeros or closed. */
ld_status ld_inflater_open(ld_inflater *x, const ld_file *file, int64_t position, int64_t end,
                           int window_bits, const char *name);

/* Up to `size` bytes into `out`; fewer only at the end of the stream. */
ld_status ld_inflater_read(ld_inflater *x, void *out, int64_t size, int64_t *got);

/* Whether compressed bytes are left. */
bool ld_inflater_more(const ld_inflater *x);

/* Begins anew with the bytes that follow the end of a stream. */
void ld_inflater_restart(ld_inflater *x);

/* Frees what `x` holds; it may be closed already. */
void ld_inflater_close(ld_inflater *x);

#endif

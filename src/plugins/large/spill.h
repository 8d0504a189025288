/* A file for data that do not fit in memory. It has no name: however the program ends, nothing is
 * left of it. All functions but _open and _close may be called from several threads. */
#ifndef LD_LARGE_SPILL_H
#define LD_LARGE_SPILL_H

#include <stdint.h>

#include "base/status.h"

typedef struct ld_spill ld_spill;

/* Opens an empty file on the disk of this folder. Fails with LD_IO, the folder and the system's
 * reason. */
ld_status ld_spill_open(ld_spill **out, const char *folder);

/* NULL is allowed. */
void ld_spill_close(ld_spill *s);

/* Writes bytes behind all others, at *position. Fails with LD_IO when the disk is full. */
ld_status ld_spill_put(ld_spill *s, int64_t *position, const void *data, int64_t size);

/* Reads bytes that ld_spill_put wrote at a position. */
ld_status ld_spill_get(const ld_spill *s, void *out, int64_t position, int64_t size);

#endif

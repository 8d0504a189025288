/* A file for what does not fit in memory. It has no name: however the program ends, nothing is left of
 * it. All functions but _open and _close may be called from several threads. */
#ifndef LD_BASE_SPILL_H
#define LD_BASE_SPILL_H

#include <stdint.h>

#include "base/status.h"

typedef struct ld_spill ld_spill;

/* An empty file on the disk of this folder; LD_IO with the folder and the system's reason. */
ld_status ld_spill_open(ld_spill **out, const char *folder);

/* NULL is allowed. */
void ld_spill_close(ld_spill *s);

/* Writes bytes behind all others; *position says where. LD_IO when the disk is full. */
ld_status ld_spill_put(ld_spill *s, int64_t *position, const void *data, int64_t size);

/* Reads bytes that were put. */
ld_status ld_spill_get(const ld_spill *s, void *out, int64_t position, int64_t size);

#endif

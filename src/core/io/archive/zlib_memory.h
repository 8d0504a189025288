/* Makes zlib take its memory from the allocator of core. */
#ifndef LD_IO_ZLIB_MEMORY_H
#define LD_IO_ZLIB_MEMORY_H

#include <zlib.h>

/* Makes z, which is not initialised yet, take what it needs from ld_alloc, with its message. */
void ld_zlib_use_memory(z_stream *z);

#endif

#include "io/archive/zlib_memory.h"

#include "memory/memory.h"

static void *take(void *opaque, unsigned count, unsigned size)
{
    (void)opaque;
    return ld_alloc_array(count, size, LD_MEM_IO);
}

static void give_back(void *opaque, void *block)
{
    (void)opaque;
    ld_free(block);
}

void ld_zlib_use_memory(z_stream *z)
{
    z->zalloc = take;
    z->zfree = give_back;
}

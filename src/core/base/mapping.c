#include "base/mapping.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/platform.h"

ld_status ld_mapping_new(ld_mapping **out, int fd, int64_t position, int64_t size)
{
    int64_t before = position % sysconf(_SC_PAGESIZE); /* mappings begin with a page */
    ld_mapping *m = ld_alloc(sizeof *m, LD_MEM_IO);
    if (!m)
        return LD_NOMEM;
    atomic_init(&m->refs, 1);
    m->length = (size_t)(before + size);
    m->base = ld_platform_map_file(fd, position - before, m->length);
    if (!m->base) {
        ld_free(m);
        return ld_fail(LD_IO, "a file cannot be mapped: %s", strerror(errno));
    }
    m->data = (char *)m->base + before;
    *out = m;
    return LD_OK;
}

ld_mapping *ld_mapping_ref(ld_mapping *m)
{
    atomic_fetch_add_explicit(&m->refs, 1, memory_order_relaxed);
    return m;
}

void ld_mapping_unref(ld_mapping *m)
{
    if (!m || atomic_fetch_sub_explicit(&m->refs, 1, memory_order_acq_rel) != 1)
        return;
    ld_platform_unmap(m->base, m->length);
    ld_free(m);
}

#include "io/archive/source.h"

#include <inttypes.h>
#include <string.h>

ld_status ld_source_read(ld_source *s, void *out, int64_t size)
{
    if (size > s->left)
        return ld_fail(LD_FORMAT, "%s: ends %" PRId64 " bytes too early", s->name, size - s->left);
    LD_CHECK(s->read(s, out, size));
    s->left -= size;
    return LD_OK;
}

ld_status ld_source_map(ld_mapping **out, ld_source *s, int64_t size)
{
    *out = NULL;
    if (!s->map || size > s->left)
        return LD_OK;
    LD_CHECK(s->map(s, out, size));
    s->left -= *out ? size : 0;
    return LD_OK;
}

ld_status ld_source_finish(ld_source *s)
{
    if (s->left > 0 && !s->may_end_before)
        return ld_fail(LD_FORMAT, "%s: %" PRId64 " bytes follow the end of its data", s->name,
                       s->left);
    return s->finish ? s->finish(s) : LD_OK;
}

static ld_status read_memory(ld_source *s, void *out, int64_t size)
{
    ld_memory_source *m = (ld_memory_source *)s;
    if (size == 0) /* m->at may be NULL then */
        return LD_OK;
    memcpy(out, m->at, (size_t)size);
    m->at += size;
    return LD_OK;
}

ld_memory_source ld_memory_source_of(const void *data, int64_t size, const char *name)
{
    return (ld_memory_source){{.read = read_memory, .left = size, .name = name}, data};
}

static ld_status read_part(ld_source *s, void *out, int64_t size)
{
    return ld_source_read(((ld_part_source *)s)->of, out, size);
}

ld_part_source ld_part_source_of(ld_source *of, int64_t size)
{
    int64_t left = size < of->left ? size : of->left;
    return (ld_part_source){{.read = read_part, .left = left, .name = of->name}, of};
}

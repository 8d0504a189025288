#include "io/archive/source.h"

#include <inttypes.h>
#include <string.h>

static ld_status read_memory(ld_source *s, void *out, int64_t size)
{
    ld_memory_source *m = (ld_memory_source *)s;
    if (size > s->left)
        return ld_fail(LD_FORMAT, "%s: ends %" PRId64 " bytes too early", s->name, size - s->left);
    if (size == 0) /* of nothing at all there is no pointer to count on from */
        return LD_OK;
    memcpy(out, m->at, (size_t)size);
    m->at += size;
    s->left -= size;
    return LD_OK;
}

static ld_status finish_memory(ld_source *s)
{
    return s->left == 0 ? LD_OK
                        : ld_fail(LD_FORMAT, "%s: %" PRId64 " bytes follow the end of its data",
                                  s->name, s->left);
}

ld_memory_source ld_memory_source_of(const void *data, int64_t size, const char *name)
{
    return (ld_memory_source){{read_memory, finish_memory, size, name, NULL}, data};
}

static ld_status read_part(ld_source *s, void *out, int64_t size)
{
    ld_part_source *p = (ld_part_source *)s;
    if (size > s->left)
        return ld_fail(LD_FORMAT, "%s: ends %" PRId64 " bytes too early", s->name, size - s->left);
    s->left -= size;
    return p->of->read(p->of, out, size);
}

static ld_status finish_part(ld_source *s)
{
    (void)s;
    return LD_OK;
}

ld_part_source ld_part_source_of(ld_source *of, int64_t size)
{
    return (ld_part_source){
        {read_part, finish_part, size < of->left ? size : of->left, of->name, NULL}, of};
}

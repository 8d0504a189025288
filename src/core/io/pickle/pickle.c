#include "io/pickle/pickle.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "io/file.h"
#include "io/pickle/pickle_machine.h"
#include "memory/memory.h"

/* Takes `bytes`, also when it fails. */
static ld_status run_bytes(ld_pickle **out, char *bytes, int64_t size, const char *name)
{
    LD_OWN(ld_pickle) *p = ld_calloc_array(1, sizeof *p, LD_MEM_IO);
    if (!p) {
        ld_free(bytes);
        return LD_NOMEM;
    }
    p->refs = 1;
    p->bytes = bytes;
    p->size = size;
    snprintf(p->name, sizeof p->name, "%s", name);
    LD_CHECK(ld_pickle_run(p));
    *out = ld_take(&p);
    return LD_OK;
}

static ld_status new_bytes(char **bytes, int64_t size, const char *name)
{
    if (size > INT32_MAX) /* visit counts values */
        return ld_fail(LD_FORMAT, "%s: is a pickle of %" PRId64 " bytes; at most %d are read", name,
                       size, INT32_MAX);
    *bytes = ld_alloc(size > 0 ? (size_t)size : 1, LD_MEM_IO);
    return *bytes ? LD_OK : LD_NOMEM;
}

ld_status ld_pickle_load(ld_pickle **out, const char *path)
{
    LD_OWN(ld_file) *f = NULL;
    LD_FREED char *bytes = NULL;
    LD_CHECK(ld_file_open(&f, path, "pickle"));
    LD_CHECK(new_bytes(&bytes, f->size, f->label.text));
    LD_CHECK(ld_file_read(f, bytes, 0, f->size));
    return run_bytes(out, ld_take(&bytes), f->size, f->label.text);
}

ld_status ld_pickle_read(ld_pickle **out, ld_source *s)
{
    LD_FREED char *bytes = NULL;
    int64_t size = s->left;
    LD_CHECK(new_bytes(&bytes, size, s->name));
    LD_CHECK(ld_source_read(s, bytes, size));
    LD_CHECK(ld_source_finish(s));
    return run_bytes(out, ld_take(&bytes), size, s->name);
}

ld_status ld_pickle_decode(ld_pickle **out, const void *data, int64_t size, const char *name)
{
    char *bytes;
    LD_CHECK(new_bytes(&bytes, size, name));
    if (size > 0)
        memcpy(bytes, data, (size_t)size);
    return run_bytes(out, bytes, size, name);
}

ld_pickle *ld_pickle_ref(ld_pickle *p)
{
    atomic_fetch_add(&p->refs, 1);
    return p;
}

void ld_pickle_unref(ld_pickle *p)
{
    if (!p || atomic_fetch_sub(&p->refs, 1) != 1)
        return;
    ld_pickle_free_values(p);
    ld_free(p->bytes);
    ld_free(p);
}

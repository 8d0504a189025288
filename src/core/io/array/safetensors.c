#include "io/array/safetensors.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { LENGTH = 8 }; /* of the header's length */

static ld_status read_header(ld_safetensors *f)
{
    ld_status st = LD_OK;
    unsigned char bytes[LENGTH];
    uint64_t length = 0;
    if (f->file->size < LENGTH)
        return ld_fail(LD_FORMAT, "%s: is cut off: it has no header", f->file->label.text);
    LD_TRY(ld_file_read(f->file, bytes, 0, LENGTH));
    for (int i = LENGTH; i-- > 0;)
        length = length << 8 | bytes[i];
    if (length > (uint64_t)(f->file->size - LENGTH) || length > LD_SAFETENSORS_LONGEST_HEADER) {
        st = ld_fail(LD_FORMAT,
                     "%s: is not a safetensors file, or is cut off: its header would have %" PRIu64
                     " bytes",
                     f->file->label.text, length);
        goto done;
    }
    f->data = LENGTH + (int64_t)length;
    f->text = ld_alloc((size_t)length + 1, LD_MEM_IO);
    if (!f->text)
        return LD_NOMEM;
    LD_TRY(ld_file_read(f->file, f->text, LENGTH, (int64_t)length));
    f->text[length] = '\0';
    st = ld_safetensors_parse(f, (int64_t)length);
done:
    return st;
}

ld_status ld_safetensors_open(ld_safetensors **out, const char *path)
{
    ld_status st = LD_OK;
    ld_safetensors *f = ld_calloc_array(1, sizeof *f, LD_MEM_IO);
    if (!f)
        return LD_NOMEM;
    LD_TRY(ld_file_open(&f->file, path, "safetensors"));
    LD_TRY(read_header(f));
    *out = f;
    f = NULL;
done:
    ld_safetensors_close(f);
    return st;
}

void ld_safetensors_close(ld_safetensors *f)
{
    if (!f)
        return;
    ld_file_close(f->file);
    ld_free(f->tensors);
    ld_free(f->texts);
    ld_free(f->text);
    ld_free(f);
}

static int compare_with_name(const void *name, const void *tensor)
{
    return strcmp(name, ((const ld_safetensor *)tensor)->name);
}

const ld_safetensor *ld_safetensors_find(const ld_safetensors *f, const char *name)
{
    if (f->count == 0)
        return NULL;
    return bsearch(name, f->tensors, (size_t)f->count, sizeof *f->tensors, compare_with_name);
}

static ld_status tensor_read(ld_source *s, void *out, int64_t size)
{
    ld_safetensors *f = (ld_safetensors *)((char *)s - offsetof(ld_safetensors, source));
    if (size > s->left)
        return ld_fail(LD_FORMAT, "%s: ends %" PRId64 " bytes too early", s->name, size - s->left);
    ld_status st = ld_file_read(f->file, out, f->position, size);
    f->position += size;
    s->left -= size;
    return st;
}

static ld_status tensor_map(ld_source *s, ld_mapping **out, int64_t size)
{
    ld_safetensors *f = (ld_safetensors *)((char *)s - offsetof(ld_safetensors, source));
    if (f->least_mapped == 0 || size < f->least_mapped || size > s->left ||
        f->position % f->tensor->header.type.size != 0)
        return LD_OK;
    ld_status st =
        ld_mapping_new(out, f->file->fd, f->file->opened, f->file->label.text, f->position, size);
    f->position += size;
    s->left -= size;
    return st;
}

static ld_status tensor_finish(ld_source *s)
{
    if (s->left == 0)
        return LD_OK;
    return ld_fail(LD_FORMAT, "%s: %" PRId64 " bytes follow the end of its data", s->name, s->left);
}

/* The message lists as many names as have room. */
static ld_status fail_no_tensor(const ld_safetensors *f, const char *name)
{
    char list[200] = "";
    size_t used = 0;
    for (int64_t i = 0; i < f->count && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%.60s", used ? ", " : "",
                                 f->tensors[i].name);
    return ld_fail(LD_VALUE, "%s: has no tensor \"%.60s\"; it has: %s%s", f->file->label.text, name,
                   list, used < sizeof list ? "" : "...");
}

ld_status ld_safetensors_read(ld_npy_header *h, ld_source **s, ld_safetensors *f, const char *name)
{
    const ld_safetensor *t = ld_safetensors_find(f, name);
    if (!t)
        return fail_no_tensor(f, name);
    snprintf(f->name, sizeof f->name, "%s: tensor \"%.100s\"", f->file->label.text, t->name);
    if (t->header.type.size == 0)
        return ld_fail(LD_FORMAT,
                       "%s: dtype %s is not read; F16 BF16 F32 F64 I8 to I64 U8 to U64 "
                       "BOOL are",
                       f->name, t->dtype);
    if (t->header.type.kind == 0)
        return ld_fail(LD_FORMAT,
                       "%s: has %d dimensions; 0 to 2 are read, and %d where all before the last "
                       "two are 1",
                       f->name, t->ndim, LD_NPY_DIMENSIONS);
    f->tensor = t;
    f->position = f->data + t->begin;
    f->source = (ld_source){tensor_read, tensor_finish, t->end - t->begin, f->name, tensor_map};
    *h = t->header;
    *s = &f->source;
    return LD_OK;
}

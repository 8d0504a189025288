#include "io/array/safetensors.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "memory/memory.h"

enum { LENGTH = 8 }; /* bytes of the header's length */

static ld_status read_header(ld_safetensors *f)
{
    unsigned char bytes[LENGTH];
    if (f->file->size < LENGTH)
        return ld_fail(LD_FORMAT, "%s: is cut off: it has no header", f->file->label.text);
    LD_CHECK(ld_file_read(f->file, bytes, 0, LENGTH));
    uint64_t length = ld_little_endian(bytes, LENGTH);
    if (length > (uint64_t)(f->file->size - LENGTH) || length > LD_SAFETENSORS_LONGEST_HEADER)
        return ld_fail(
            LD_FORMAT,
            "%s: is not a safetensors file, or is cut off: its header would have %" PRIu64 " bytes",
            f->file->label.text, length);
    f->data = LENGTH + (int64_t)length;
    f->text = ld_alloc((size_t)length + 1, LD_MEM_IO);
    if (!f->text)
        return LD_NOMEM;
    LD_CHECK(ld_file_read(f->file, f->text, LENGTH, (int64_t)length));
    f->text[length] = '\0';
    return ld_safetensors_parse(f, (int64_t)length);
}

ld_status ld_safetensors_open(ld_safetensors **out, const char *path)
{
    LD_OWN(ld_safetensors) *f = ld_calloc_array(1, sizeof *f, LD_MEM_IO);
    if (!f)
        return LD_NOMEM;
    LD_CHECK(ld_file_open(&f->file, path, "safetensors"));
    LD_CHECK(read_header(f));
    *out = ld_take(&f);
    return LD_OK;
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
    LD_CHECK(ld_file_read(f->file, out, f->position, size));
    f->position += size;
    return LD_OK;
}

static ld_status tensor_map(ld_source *s, ld_mapping **out, int64_t size)
{
    ld_safetensors *f = (ld_safetensors *)((char *)s - offsetof(ld_safetensors, source));
    if (f->least_mapped == 0 || size < f->least_mapped ||
        f->position % f->tensor->header.type.size != 0)
        return LD_OK;
    LD_CHECK(
        ld_mapping_new(out, f->file->fd, f->file->opened, f->file->label.text, f->position, size));
    f->position += size;
    return LD_OK;
}

/* Fails for a tensor that is not there, with as many names of those that are as have room. */
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
    f->source = (ld_source){
        .read = tensor_read, .map = tensor_map, .left = t->end - t->begin, .name = f->name};
    *h = t->header;
    *s = &f->source;
    return LD_OK;
}

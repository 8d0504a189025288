/* Writing .safetensors files, byte for byte as the library of the format does: tensors of larger
 * elements first, those of one type by name, the header without blanks but those behind it that
 * align the data. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/utf8.h"
#include "io/array/safetensors.h"

enum { LENGTH = 8, ALIGNMENT = 8 };

/* A tensor to be written, with its place in the order of the types. */
typedef struct {
    const ld_npy_array *array;
    int type;
} item;

/* A text that is measured first, while `text` is NULL, and then put together. */
typedef struct {
    char *text;
    int64_t length;
} builder;

static void put(builder *b, const char *text, int64_t length)
{
    if (b->text)
        memcpy(b->text + b->length, text, (size_t)length);
    b->length += length;
}

__attribute__((format(printf, 2, 3))) static void print(builder *b, const char *format, ...)
{
    char text[128];
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    put(b, text, n);
}

/* A string of JSON. */
static void put_string(builder *b, const char *text)
{
    static const char escaped[] = "\"\\\b\f\n\r\t", names[] = "\"\\bfnrt";
    put(b, "\"", 1);
    for (const char *p = text; *p; p++) {
        const char *special = strchr(escaped, *p);
        if (special)
            print(b, "\\%c", names[special - escaped]);
        else if ((unsigned char)*p < ' ')
            print(b, "\\u%04x", *p);
        else
            put(b, p, 1);
    }
    put(b, "\"", 1);
}

static void put_metadata(builder *b, const ld_safetensors_text *texts, int64_t n_texts)
{
    put(b, "\"__metadata__\":{", 16);
    for (int64_t i = 0; i < n_texts; i++) {
        put(b, ",", i > 0);
        put_string(b, texts[i].key);
        put(b, ":", 1);
        put_string(b, texts[i].value);
    }
    put(b, "}", 1);
}

static void put_tensor(builder *b, const item *t, int64_t begin)
{
    const ld_npy_header *h = &t->array->header;
    put_string(b, t->array->name);
    print(b, ":{\"dtype\":\"%s\",\"shape\":[", ld_safetensors_types[t->type].name);
    for (int i = 0; i < h->ndim - 2; i++)
        put(b, "1,", 2);
    if (h->ndim > 0)
        print(b, "%" PRId64, h->n_rows);
    if (h->ndim > 1)
        print(b, ",%" PRId64, h->n_cols);
    print(b, "],\"data_offsets\":[%" PRId64 ",%" PRId64 "]}", begin, begin + ld_npy_bytes(h));
}

static void put_header(builder *b, const item *items, int64_t count,
                       const ld_safetensors_text *texts, int64_t n_texts)
{
    int64_t begin = 0;
    b->length = 0;
    put(b, "{", 1);
    if (n_texts > 0)
        put_metadata(b, texts, n_texts);
    for (int64_t i = 0; i < count; i++) {
        put(b, ",", i > 0 || n_texts > 0);
        put_tensor(b, &items[i], begin);
        begin += ld_npy_bytes(&items[i].array->header);
    }
    put(b, "}", 1);
    while (b->length % ALIGNMENT)
        put(b, " ", 1);
}

static bool is_utf8(const char *text)
{
    const char *end = text + strlen(text);
    while (text < end)
        if (ld_utf8_get(&text, end) == UINT32_MAX)
            return false;
    return true;
}

/* Finds an array's type, and checks its name. */
static ld_status settle(item *t, const ld_npy_array *a, const ld_writer *w)
{
    char text[LD_NPY_TEXT];
    const ld_safetensors_type *type = ld_safetensors_types;
    while (type->name &&
           (type->type.kind != a->header.type.kind || type->type.size != a->header.type.size))
        type++;
    if (strcmp(a->name, "__metadata__") == 0 || !is_utf8(a->name))
        return ld_fail(LD_VALUE, "%s: a tensor cannot have the name \"%.100s\"", w->label.text,
                       a->name);
    if (!type->name)
        return ld_fail(LD_VALUE,
                       "%s: tensor \"%.100s\": the format has no %s; a text may be one string, its "
                       "bytes, or metadata",
                       w->label.text, a->name, ld_npy_type_name(text, a->header.type));
    *t = (item){a, (int)(type - ld_safetensors_types)};
    return LD_OK;
}

static int compare_items(const void *a, const void *b)
{
    const item *x = a, *y = b;
    return x->type != y->type ? y->type - x->type : strcmp(x->array->name, y->array->name);
}

static ld_status put_file(ld_writer *w, const builder *header, const item *items, int64_t count)
{
    unsigned char length[LENGTH];
    ld_status st = LD_OK;
    for (int i = 0; i < LENGTH; i++)
        length[i] = (unsigned char)(header->length >> 8 * i);
    LD_TRY(ld_writer_put(w, length, LENGTH));
    LD_TRY(ld_writer_put(w, header->text, header->length));
    for (int64_t i = 0; i < count; i++) {
        LD_TRY(ld_poll());
        LD_TRY(ld_writer_put(w, items[i].array->data, ld_npy_bytes(&items[i].array->header)));
    }
done:
    return st;
}

ld_status ld_safetensors_write(const char *path, const ld_npy_array *arrays, int64_t count,
                               const ld_safetensors_text *texts, int64_t n_texts)
{
    ld_status st = LD_OK;
    ld_writer *w = NULL;
    builder header = {NULL, 0};
    item *items = ld_alloc_array(count, sizeof *items, LD_MEM_IO);
    if (!items)
        return LD_NOMEM;
    LD_TRY(ld_writer_open(&w, path, "safetensors"));
    for (int64_t i = 0; i < count; i++)
        LD_TRY(settle(&items[i], &arrays[i], w));
    for (int64_t i = 0; i < n_texts; i++) {
        if (!is_utf8(texts[i].key) || !is_utf8(texts[i].value)) {
            st = ld_fail(LD_VALUE, "%s: metadata \"%.100s\" is not UTF-8", w->label.text,
                         texts[i].key);
            goto done;
        }
    }
    qsort(items, (size_t)count, sizeof *items, compare_items);
    put_header(&header, items, count, texts, n_texts);
    header.text = ld_alloc((size_t)header.length, LD_MEM_IO);
    if (!header.text) {
        st = LD_NOMEM;
        goto done;
    }
    put_header(&header, items, count, texts, n_texts);
    LD_TRY(put_file(w, &header, items, count));
    st = ld_writer_commit(w);
    w = NULL;
done:
    ld_writer_abandon(w);
    ld_free(header.text);
    ld_free(items);
    return st;
}

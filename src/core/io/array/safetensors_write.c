/* Writes .safetensors files. All at once, tensors come in the order of the format's own library:
 * those of larger elements first, those of one type by name; its header has no blanks but those at
 * the end that align the data. In pieces, tensors come as they are written, and blanks fill the
 * header up to where the data begin, with a page. */
#include "io/array/safetensors_write.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/array/npy_values.h"
#include "io/file.h"
#include "memory/memory.h"
#include "system/threads.h"
#include "text/utf8.h"

enum {
    LENGTH = 8, /* bytes of the header's length, which stands before it */
    ALIGNMENT = 8,
    DATA = 1 << 14, /* where the data begin in a file of pieces, */
    TENSORS = 64,
    NAME = 64, /* bytes of a name there, so that the header has room for all */
};

/* A tensor of the file. */
typedef struct {
    const char *name;
    int type; /* its place among ld_safetensors_types */
    ld_npy_header header;
    int64_t begin, end; /* its bytes among the data */
    const void *data;   /* these bytes, when all are written at once */
} entry;

/* --- the header ------------------------------------------------------------------------------- */

/* A text that is put together in two passes: the first only measures it, while `text` is NULL. */
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

/* Puts a string of JSON. */
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

static void put_entry(builder *b, const entry *t)
{
    const ld_npy_header *h = &t->header;
    put_string(b, t->name);
    print(b, ":{\"dtype\":\"%s\",\"shape\":[", ld_safetensors_types[t->type].name);
    for (int i = 0; i < h->ndim - 2; i++)
        put(b, "1,", 2);
    if (h->ndim > 0)
        print(b, "%" PRId64, h->n_rows);
    if (h->ndim > 1)
        print(b, ",%" PRId64, h->n_cols);
    print(b, "],\"data_offsets\":[%" PRId64 ",%" PRId64 "]}", t->begin, t->end);
}

static void put_header(builder *b, const entry *entries, int64_t count,
                       const ld_safetensors_text *texts, int64_t n_texts, int64_t least)
{
    char bytes[LENGTH];
    for (int i = 0; i < LENGTH; i++) /* measured by now, where it is put together */
        bytes[i] = (char)((uint64_t)(b->length - LENGTH) >> 8 * i);
    b->length = 0;
    put(b, bytes, LENGTH);
    put(b, "{", 1);
    if (n_texts > 0)
        put_metadata(b, texts, n_texts);
    for (int64_t i = 0; i < count; i++) {
        put(b, ",", i > 0 || n_texts > 0);
        put_entry(b, &entries[i]);
    }
    put(b, "}", 1);
    while (b->length % ALIGNMENT || b->length < least)
        put(b, " ", 1);
}

/* Makes the header with its length before it, at least `least` bytes long; *text is the
 * caller's. */
static ld_status make_header(char **text, int64_t *length, const entry *entries, int64_t count,
                             const ld_safetensors_text *texts, int64_t n_texts, int64_t least)
{
    builder b = {NULL, 0};
    put_header(&b, entries, count, texts, n_texts, least);
    if (!(b.text = ld_alloc((size_t)b.length, LD_MEM_IO)))
        return LD_NOMEM;
    put_header(&b, entries, count, texts, n_texts, least);
    *text = b.text;
    *length = b.length;
    return LD_OK;
}

static bool is_utf8(const char *text)
{
    const char *end = text + strlen(text);
    while (text < end)
        if (ld_utf8_get(&text, end) == UINT32_MAX)
            return false;
    return true;
}

/* Makes an entry of a tensor, whose place among the data is the caller's to set: finds its type,
 * and checks its name. */
static ld_status settle(entry *t, const char *name, const ld_npy_header *h, const ld_writer *w)
{
    char text[LD_NPY_TEXT];
    const ld_safetensors_type *type = ld_safetensors_types;
    while (type->name && (type->type.kind != h->type.kind || type->type.size != h->type.size))
        type++;
    if (strcmp(name, "__metadata__") == 0 || !is_utf8(name))
        return ld_fail(LD_VALUE, "%s: a tensor cannot have the name \"%.100s\"", w->label.text,
                       name);
    if (!type->name)
        return ld_fail(LD_VALUE,
                       "%s: tensor \"%.100s\": the format has no %s; a text may be one string, its "
                       "bytes, or metadata",
                       w->label.text, name, ld_npy_type_name(text, h->type));
    *t = (entry){.name = name, .type = (int)(type - ld_safetensors_types), .header = *h};
    return LD_OK;
}

/* --- all at once ------------------------------------------------------------------------------ */

static int compare_entries(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    return x->type != y->type ? y->type - x->type : strcmp(x->name, y->name);
}

/* Makes the entries of arrays in their order; *out is the caller's, also after a failure. */
static ld_status make_entries(entry **out, const ld_npy_array *arrays, int64_t count,
                              const ld_writer *w)
{
    entry *entries = *out = ld_alloc_array(count, sizeof *entries, LD_MEM_IO);
    if (!entries)
        return LD_NOMEM;
    for (int64_t i = 0; i < count; i++) {
        LD_CHECK(settle(&entries[i], arrays[i].name, &arrays[i].header, w));
        entries[i].data = arrays[i].data;
    }
    qsort(entries, (size_t)count, sizeof *entries, compare_entries);
    for (int64_t i = 0, end = 0; i < count; i++) {
        entries[i].begin = end;
        entries[i].end = end += ld_npy_bytes(&entries[i].header);
    }
    return LD_OK;
}

ld_status ld_safetensors_write(const char *path, const ld_npy_array *arrays, int64_t count,
                               const ld_safetensors_text *texts, int64_t n_texts)
{
    LD_OWN(ld_writer) *w = NULL;
    LD_FREED entry *entries = NULL;
    LD_FREED char *header = NULL;
    int64_t length;
    LD_CHECK(ld_writer_open(&w, path, "safetensors"));
    LD_CHECK(make_entries(&entries, arrays, count, w));
    for (int64_t i = 0; i < n_texts; i++)
        if (!is_utf8(texts[i].key) || !is_utf8(texts[i].value))
            return ld_fail(LD_VALUE, "%s: metadata \"%.100s\" is not UTF-8", w->label.text,
                           texts[i].key);
    LD_CHECK(make_header(&header, &length, entries, count, texts, n_texts, 0));
    LD_CHECK(ld_writer_put(w, header, length));
    for (int64_t i = 0; i < count; i++) {
        LD_CHECK(ld_poll());
        LD_CHECK(ld_writer_put(w, entries[i].data, entries[i].end - entries[i].begin));
    }
    return ld_writer_commit(ld_take(&w));
}

/* --- a piece at a time ------------------------------------------------------------------------ */

struct ld_safetensors_writer {
    ld_writer *w;
    int64_t end;     /* the end of the data so far, counted from DATA */
    int64_t left;    /* rows of the last tensor that are still to come */
    int64_t n_cols;  /* what their width must be */
    int64_t nnz;     /* the entries of a matrix so far */
    int64_t offsets; /* where its next offset goes, in the file; 0: the last tensor is a table */
    int count;
    entry entries[TENSORS];
    char names[TENSORS][NAME];
};

ld_status ld_safetensors_create(ld_safetensors_writer **out, const char *path)
{
    static const char zeros[DATA];
    LD_OWN(ld_safetensors_writer) *x = ld_calloc_array(1, sizeof *x, LD_MEM_IO);
    if (!x)
        return LD_NOMEM;
    LD_CHECK(ld_writer_open(&x->w, path, "safetensors"));
    LD_CHECK(ld_writer_put(x->w, zeros, DATA));
    *out = ld_take(&x);
    return LD_OK;
}

void ld_safetensors_abandon(ld_safetensors_writer *x)
{
    if (!x)
        return;
    ld_writer_abandon(x->w);
    ld_free(x);
}

/* Makes the last tensor longer. */
static void extend(ld_safetensors_writer *x, int64_t size)
{
    x->end += size;
    x->entries[x->count - 1].end = x->end;
}

static ld_status put_bytes(ld_safetensors_writer *x, const void *data, int64_t size)
{
    extend(x, size);
    return ld_writer_put(x->w, data, size);
}

/* Leaves room at the end, which reads as zeros as long as nothing is written there. */
static ld_status skip_bytes(ld_safetensors_writer *x, int64_t size)
{
    extend(x, size);
    return fseeko(x->w->stream, DATA + x->end, SEEK_SET) == 0 ? LD_OK : ld_writer_fail(x->w);
}

/* Writes bytes elsewhere than at the end. */
static ld_status put_at(ld_safetensors_writer *x, int64_t position, const void *data, int64_t size)
{
    if (fseeko(x->w->stream, position, SEEK_SET) != 0)
        return ld_writer_fail(x->w);
    LD_CHECK(ld_writer_put(x->w, data, size));
    return fseeko(x->w->stream, 0, SEEK_END) == 0 ? LD_OK : ld_writer_fail(x->w);
}

static ld_status check_whole(const ld_safetensors_writer *x)
{
    LD_CHECK(ld_writer_check(x->w));
    if (x->left == 0)
        return LD_OK;
    return ld_fail(LD_VALUE, "%s: \"%s\" lacks %" PRId64 " rows", x->w->label.text,
                   x->entries[x->count - 1].name, x->left);
}

static bool is_name(const char *name)
{
    static const char ours[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    return *name && strlen(name) < NAME && name[strspn(name, ours)] == '\0';
}

/* Adds a tensor whose bytes come next. */
static ld_status add_entry(ld_safetensors_writer *x, const char *name, const ld_npy_header *h)
{
    LD_CHECK(check_whole(x));
    if (!is_name(name))
        return ld_fail(LD_VALUE,
                       "%s: the name \"%.80s\" of a tensor must be 1 to %d of a-z A-Z 0-9 _ . -",
                       x->w->label.text, name, NAME - 1);
    for (int i = 0; i < x->count; i++)
        if (strcmp(x->entries[i].name, name) == 0)
            return ld_fail(LD_VALUE, "%s: there is a tensor \"%s\" already", x->w->label.text,
                           name);
    if (x->count == TENSORS)
        return ld_fail(LD_VALUE, "%s: a file that is written by pieces has at most %d tensors",
                       x->w->label.text, TENSORS);
    if (x->end % h->type.size != 0)
        return ld_fail(LD_VALUE, "%s: \"%s\" must come before tensors of smaller elements",
                       x->w->label.text, name);
    char *own = strcpy(x->names[x->count], name);
    entry *e = &x->entries[x->count];
    LD_CHECK(settle(e, own, h, x->w));
    e->begin = e->end = x->end;
    x->count++;
    x->n_cols = h->n_cols;
    x->offsets = 0;
    return LD_OK;
}

ld_status ld_safetensors_put(ld_safetensors_writer *x, const ld_npy_array *array)
{
    LD_CHECK(add_entry(x, array->name, &array->header));
    return put_bytes(x, array->data, ld_npy_bytes(&array->header));
}

ld_status ld_safetensors_begin_rows(ld_safetensors_writer *x, const char *name, ld_npy_type type,
                                    int64_t n_rows, int64_t n_cols)
{
    ld_npy_header h = {.type = type, .ndim = 2, .n_rows = n_rows, .n_cols = n_cols};
    LD_CHECK(add_entry(x, name, &h));
    x->left = n_rows;
    return LD_OK;
}

/* Fails with LD_VALUE unless n more rows of this width may come. */
static ld_status check_rows(const ld_safetensors_writer *x, bool matrix, int64_t n, int64_t n_cols)
{
    LD_CHECK(ld_writer_check(x->w));
    bool begun = x->count > 0 && matrix == (x->offsets > 0);
    if (begun && n <= x->left && n_cols == x->n_cols)
        return LD_OK;
    return ld_fail(LD_VALUE,
                   "%s: %" PRId64 " x %" PRId64 " are not the next rows of what was begun",
                   x->w->label.text, n, n_cols);
}

typedef struct {
    const float *numbers;
    char *items;
    ld_npy_type type;
    int64_t before; /* elements of the tensor */
    ld_loop_failure failure;
} conversion;

static void convert(void *ctx, int64_t begin, int64_t end)
{
    conversion *c = ctx;
    ld_loop_note(&c->failure,
                 ld_npy_put_floats(c->items, c->type, c->numbers, begin, end, c->before));
}

/* Writes numbers as the last tensor's type. */
static ld_status put_numbers(ld_safetensors_writer *x, const float *numbers, int64_t size)
{
    enum { PIECE = 1 << 20, GRAIN = 1 << 14 };
    const entry *e = &x->entries[x->count - 1];
    ld_npy_type type = e->header.type;
    int64_t before = (e->header.n_rows - x->left) * x->n_cols;
    LD_FREED char *items =
        ld_alloc_array(size < PIECE ? size : PIECE, (size_t)type.size, LD_MEM_IO);
    if (!items)
        return LD_NOMEM;
    for (int64_t first = 0; first < size; first += PIECE) {
        int64_t n = size - first < PIECE ? size - first : PIECE;
        conversion c = {
            .numbers = numbers + first, .items = items, .type = type, .before = before + first};
        ld_status st = ld_loop_result(&c.failure, ld_parallel_for(n, GRAIN, convert, &c));
        if (st == LD_RANGE)
            ld_set_message("%s: tensor \"%s\": %s", x->w->label.text, e->name, ld_message());
        if (st != LD_OK) {
            x->w->failed = x->w->failed || first > 0; /* a part of the rows is there */
            return st;
        }
        LD_CHECK(put_bytes(x, items, n * type.size));
    }
    return LD_OK;
}

ld_status ld_safetensors_put_rows(ld_safetensors_writer *x, const ld_tensor *rows)
{
    LD_CHECK(check_rows(x, false, rows->n_rows, rows->n_cols));
    LD_CHECK(put_numbers(x, rows->data, ld_tensor_size(rows)));
    x->left -= rows->n_rows;
    return LD_OK;
}

ld_status ld_safetensors_begin_csr(ld_safetensors_writer *x, const char *prefix, int64_t n_rows,
                                   int64_t n_cols)
{
    ld_npy_header h = {.type = {'i', 8}, .ndim = 1, .n_rows = n_rows + 1, .n_cols = 1};
    int64_t shape[2] = {n_rows, n_cols}, at;
    char name[2 * NAME];
    ld_status st;
    snprintf(name, sizeof name, "%.80s_indptr", prefix);
    LD_CHECK(add_entry(x, name, &h));
    at = DATA + x->end;
    LD_TRY(skip_bytes(x, 8 * (n_rows + 1))); /* they come with the rows */
    snprintf(name, sizeof name, "%.80s_shape", prefix);
    h.n_rows = 2;
    LD_TRY(ld_safetensors_put(x, &(ld_npy_array){name, h, shape}));
    snprintf(name, sizeof name, "%.80s_indices", prefix);
    h = (ld_npy_header){.type = {'i', 4}, .ndim = 1, .n_rows = 0, .n_cols = 1};
    LD_TRY(add_entry(x, name, &h));
    x->left = n_rows;
    x->n_cols = n_cols;
    x->nnz = 0;
    x->offsets = at + 8; /* the first is 0 */
done:
    if (st != LD_OK)
        x->w->failed = true; /* there are some of the three */
    return st;
}

ld_status ld_safetensors_put_csr(ld_safetensors_writer *x, const ld_csr *rows)
{
    const ld_structure *s = rows->s;
    LD_CHECK(check_rows(x, true, s->n_rows, s->n_cols));
    LD_FREED int64_t *offsets = ld_alloc_array(s->n_rows, sizeof *offsets, LD_MEM_IO);
    if (!offsets)
        return LD_NOMEM;
    for (int64_t r = 0; r < s->n_rows; r++)
        offsets[r] = x->nnz + s->offsets[r + 1];
    LD_CHECK(put_at(x, x->offsets, offsets, 8 * s->n_rows));
    LD_CHECK(put_bytes(x, s->columns, s->nnz * (int64_t)sizeof *s->columns));
    x->nnz += s->nnz;
    x->offsets += 8 * s->n_rows;
    x->left -= s->n_rows;
    x->entries[x->count - 1].header.n_rows = x->nnz;
    return LD_OK;
}

ld_status ld_safetensors_commit(ld_safetensors_writer *given)
{
    LD_OWN(ld_safetensors_writer) *x = given;
    LD_FREED char *header = NULL;
    int64_t length;
    LD_CHECK(check_whole(x));
    LD_CHECK(make_header(&header, &length, x->entries, x->count, NULL, 0, DATA));
    LD_CHECK(put_at(x, 0, header, length));
    return ld_writer_commit(ld_take(&x->w));
}

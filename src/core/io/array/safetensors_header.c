/* Parses the header of a .safetensors file:
 *
 *     {"__metadata__": {"KEY": "VALUE", ...},
 *      "NAME": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...}
 *
 * Only this much of JSON is read: strings, whole numbers from 0 on, and these objects and lists.
 * Strings become shorter when they are decoded, so they stay where they are. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "io/array/safetensors.h"
#include "memory/memory.h"
#include "text/utf8.h"

const ld_safetensors_type ld_safetensors_types[] = {
    {"BOOL", {'b', 1}},  {"F4", {0, 0}},    {"F6_E2M3", {0, 0}}, {"F6_E3M2", {0, 0}},
    {"U8", {'u', 1}},    {"I8", {'i', 1}},  {"F8_E5M2", {0, 0}}, {"F8_E4M3", {0, 0}},
    {"F8_E8M0", {0, 0}}, {"I16", {'i', 2}}, {"U16", {'u', 2}},   {"F16", {'f', 2}},
    {"BF16", {'B', 2}},  {"I32", {'i', 4}}, {"U32", {'u', 4}},   {"F32", {'f', 4}},
    {"C64", {0, 0}},     {"F64", {'f', 8}}, {"I64", {'i', 8}},   {"U64", {'u', 8}},
    {NULL, {0, 0}},
};

enum { MOST_SIZES = 8 }; /* the most numbers in a list */

typedef struct {
    char *begin, *p, *end; /* *end is 0 */
    const char *file;      /* begins messages */
    int64_t texts_room, tensors_room;
} parser;

static ld_status fail_at(const parser *x, const char *expected)
{
    return ld_fail(LD_FORMAT, "%s: header: %s expected at byte %" PRId64, x->file, expected,
                   (int64_t)(x->p - x->begin));
}

static void skip_space(parser *x)
{
    while (*x->p == ' ' || *x->p == '\n' || *x->p == '\t' || *x->p == '\r')
        x->p++;
}

/* Skips white space and then the character; false when another one is there. */
static bool accept(parser *x, char c)
{
    skip_space(x);
    bool found = *x->p == c;
    x->p += found;
    return found;
}

/* Reads four hexadecimal digits; UINT32_MAX when there are other characters. */
static uint32_t parse_hex(parser *x)
{
    uint32_t value = 0;
    for (int i = 0; i < 4; i++, x->p++) {
        static const char digits[] = "0123456789abcdefABCDEF";
        const char *digit = *x->p ? strchr(digits, *x->p) : NULL;
        if (!digit)
            return UINT32_MAX;
        int64_t n = digit - digits;
        value = value << 4 | (uint32_t)(n < 16 ? n : n - 6);
    }
    return value;
}

/* Reads the character that an escape stands for, from behind its backslash on; UINT32_MAX when it
 * is none or the zero character, which a name cannot hold here. */
static uint32_t parse_escape(parser *x)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    const char *simple = *x->p ? strchr(names, *x->p) : NULL;
    if (simple) {
        x->p++;
        return (unsigned char)values[simple - names];
    }
    if (*x->p++ != 'u')
        return UINT32_MAX;
    uint32_t c = parse_hex(x);
    if (c >= 0xD800 && c < 0xDC00) { /* the first half of a character beyond 16 bits */
        if (x->p[0] != '\\' || x->p[1] != 'u')
            return UINT32_MAX;
        x->p += 2;
        uint32_t low = parse_hex(x);
        if (low < 0xDC00 || low > 0xDFFF)
            return UINT32_MAX;
        c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
    }
    return c != 0 && ld_utf8_is_character(c) ? c : UINT32_MAX;
}

static ld_status parse_string(const char **out, parser *x, const char *what)
{
    if (!accept(x, '"'))
        return fail_at(x, what);
    char *to = x->p;
    *out = to;
    while (*x->p != '"') {
        char *at = x->p;
        bool escaped = *at == '\\';
        const char *p = at;
        uint32_t c = UINT32_MAX;
        if (escaped) {
            x->p++;
            c = parse_escape(x);
        } else if ((unsigned char)*at >= ' ') {
            c = ld_utf8_get(&p, x->end);
            x->p += p - at;
        }
        if (c == UINT32_MAX) {
            x->p = at;
            return fail_at(x, "a character of UTF-8 or a quote");
        }
        to = ld_utf8_put(to, c);
    }
    x->p++;
    *to = '\0';
    return LD_OK;
}

static ld_status parse_size(int64_t *out, parser *x)
{
    skip_space(x);
    char *first = x->p;
    *out = 0;
    for (; *x->p >= '0' && *x->p <= '9'; x->p++)
        if (__builtin_mul_overflow(*out, 10, out) || __builtin_add_overflow(*out, *x->p - '0', out))
            return fail_at(x, "a number below 2^63");
    if (x->p == first || (*first == '0' && x->p > first + 1))
        return fail_at(x, "a whole number");
    return LD_OK;
}

static ld_status parse_sizes(int64_t sizes[MOST_SIZES], int *count, parser *x)
{
    *count = 0;
    if (!accept(x, '['))
        return fail_at(x, "[");
    if (accept(x, ']'))
        return LD_OK;
    do {
        if (*count == MOST_SIZES)
            return fail_at(x, "a list of at most 8 numbers");
        LD_CHECK(parse_size(&sizes[(*count)++], x));
    } while (accept(x, ','));
    return accept(x, ']') ? LD_OK : fail_at(x, "a comma or ]");
}

/* The fields of the header that describe one tensor. */
typedef struct {
    unsigned seen; /* a bit for each of its fields */
    int64_t shape[MOST_SIZES], offsets[MOST_SIZES];
    int ndim, n_offsets;
} description;

static ld_status parse_field(ld_safetensor *t, description *d, parser *x)
{
    static const char *const keys[] = {"dtype", "shape", "data_offsets"};
    const char *word;
    unsigned key = 0;
    LD_CHECK(parse_string(&word, x, "a key"));
    while (key < 3 && strcmp(word, keys[key]) != 0)
        key++;
    if (key == 3 || d->seen & 1u << key)
        return ld_fail(LD_FORMAT, "%s: tensor \"%.100s\": key \"%.60s\" is unknown or occurs twice",
                       x->file, t->name, word);
    d->seen |= 1u << key;
    if (!accept(x, ':'))
        return fail_at(x, "a colon");
    return key == 0   ? parse_string(&t->dtype, x, "a dtype")
           : key == 1 ? parse_sizes(d->shape, &d->ndim, x)
                      : parse_sizes(d->offsets, &d->n_offsets, x);
}

/* Finds the type and checks that the tensor has as many bytes as it needs. */
static ld_status settle(ld_safetensor *t, const description *d, const char *file)
{
    const ld_safetensors_type *known = ld_safetensors_types;
    while (known->name && strcmp(known->name, t->dtype) != 0)
        known++;
    if (!known->name)
        return ld_fail(LD_FORMAT, "%s: tensor \"%.100s\": dtype \"%.60s\" is unknown", file,
                       t->name, t->dtype);
    t->header = (ld_npy_header){.type = known->type, .n_rows = 0, .n_cols = 0};
    t->ndim = d->ndim;
    if (!ld_npy_set_shape(&t->header, d->ndim, d->shape))
        t->header.type.kind = 0;
    if (d->n_offsets != 2 || d->offsets[0] > d->offsets[1])
        return ld_fail(LD_FORMAT,
                       "%s: tensor \"%.100s\": data_offsets must be where it begins and "
                       "where it ends",
                       file, t->name);
    t->begin = d->offsets[0];
    t->end = d->offsets[1];
    int64_t bytes = known->type.size;
    bool fits = true;
    for (int i = 0; i < d->ndim; i++)
        fits = fits && !__builtin_mul_overflow(bytes, d->shape[i], &bytes);
    if (known->type.kind != 0 && (!fits || bytes != t->end - t->begin))
        return ld_fail(LD_FORMAT,
                       "%s: tensor \"%.100s\" has %" PRId64 " bytes, which its shape and %s do not "
                       "give",
                       file, t->name, t->end - t->begin, t->dtype);
    return LD_OK;
}

static ld_status parse_tensor(ld_safetensor *t, parser *x)
{
    description d = {.seen = 0};
    if (!accept(x, '{'))
        return fail_at(x, "{");
    do {
        LD_CHECK(parse_field(t, &d, x));
    } while (accept(x, ','));
    if (!accept(x, '}'))
        return fail_at(x, "a comma or }");
    if (d.seen != 7)
        return ld_fail(LD_FORMAT, "%s: tensor \"%.100s\" lacks one of dtype, shape, data_offsets",
                       x->file, t->name);
    return settle(t, &d, x->file);
}

static ld_status parse_metadata(ld_safetensors *f, parser *x)
{
    if (!accept(x, '{'))
        return fail_at(x, "{");
    if (accept(x, '}'))
        return LD_OK;
    do {
        LD_CHECK(ld_poll_at(f->n_texts));
        LD_CHECK(ld_reserve(&f->texts, &x->texts_room, f->n_texts, 1, sizeof *f->texts, LD_MEM_IO));
        ld_safetensors_text *t = &f->texts[f->n_texts++];
        LD_CHECK(parse_string(&t->key, x, "a key"));
        if (!accept(x, ':'))
            return fail_at(x, "a colon");
        LD_CHECK(parse_string(&t->value, x, "a string"));
    } while (accept(x, ','));
    return accept(x, '}') ? LD_OK : fail_at(x, "a comma or }");
}

static ld_status parse_entry(ld_safetensors *f, bool *has_metadata, parser *x)
{
    const char *name;
    LD_CHECK(parse_string(&name, x, "a name"));
    if (!accept(x, ':'))
        return fail_at(x, "a colon");
    if (strcmp(name, "__metadata__") == 0) {
        if (*has_metadata)
            return ld_fail(LD_FORMAT, "%s: header: __metadata__ occurs twice", x->file);
        *has_metadata = true;
        return parse_metadata(f, x);
    }
    LD_CHECK(ld_reserve(&f->tensors, &x->tensors_room, f->count, 1, sizeof *f->tensors, LD_MEM_IO));
    f->tensors[f->count].name = name;
    return parse_tensor(&f->tensors[f->count++], x);
}

static int compare_places(const void *a, const void *b)
{
    const ld_safetensor *x = a, *y = b;
    return x->begin != y->begin ? (x->begin > y->begin) - (x->begin < y->begin)
                                : (x->end > y->end) - (x->end < y->end);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const ld_safetensor *)a)->name, ((const ld_safetensor *)b)->name);
}

static int compare_keys(const void *a, const void *b)
{
    return strcmp(((const ld_safetensors_text *)a)->key, ((const ld_safetensors_text *)b)->key);
}

/* Sorts an array; where there are no elements there is no array either. */
static void sort(void *array, int64_t count, size_t size,
                 int (*compare)(const void *, const void *))
{
    if (count > 0)
        qsort(array, (size_t)count, size, compare);
}

/* Fails with LD_FORMAT unless the tensors fill the bytes behind the header one after the other. */
static ld_status check_places(ld_safetensors *f)
{
    int64_t end = 0, size = f->file->size - f->data;
    sort(f->tensors, f->count, sizeof *f->tensors, compare_places);
    for (int64_t i = 0; i < f->count; i++) {
        const ld_safetensor *t = &f->tensors[i];
        if (t->begin != end)
            return ld_fail(LD_FORMAT,
                           "%s: tensor \"%.100s\" begins at byte %" PRId64 " of the data, must "
                           "begin at %" PRId64 ", where the one before it ends",
                           f->file->label.text, t->name, t->begin, end);
        end = t->end;
    }
    if (end == size)
        return LD_OK;
    return ld_fail(LD_FORMAT, "%s: %" PRId64 " bytes follow the header, its tensors have %" PRId64,
                   f->file->label.text, size, end);
}

/* Sorts the tensors by name. Fails with LD_FORMAT when a name comes twice. */
static ld_status check_names(ld_safetensors *f)
{
    const char *twice = NULL;
    sort(f->tensors, f->count, sizeof *f->tensors, compare_names);
    sort(f->texts, f->n_texts, sizeof *f->texts, compare_keys);
    for (int64_t i = 1; i < f->count; i++)
        if (strcmp(f->tensors[i - 1].name, f->tensors[i].name) == 0)
            twice = f->tensors[i].name;
    for (int64_t i = 1; i < f->n_texts; i++)
        if (strcmp(f->texts[i - 1].key, f->texts[i].key) == 0)
            twice = f->texts[i].key;
    return twice ? ld_fail(LD_FORMAT, "%s: header: \"%.100s\" occurs twice", f->file->label.text,
                           twice)
                 : LD_OK;
}

ld_status ld_safetensors_parse(ld_safetensors *f, int64_t length)
{
    bool has_metadata = false;
    parser x = {f->text, f->text, f->text + length, f->file->label.text, 0, 0};
    if (*x.p != '{') /* as the format wants it: nothing before */
        return fail_at(&x, "{");
    accept(&x, '{');
    if (!accept(&x, '}')) {
        do {
            LD_CHECK(ld_poll_at(f->count));
            LD_CHECK(parse_entry(f, &has_metadata, &x));
        } while (accept(&x, ','));
        if (!accept(&x, '}'))
            return fail_at(&x, "a comma or }");
    }
    skip_space(&x);
    if (x.p != x.end)
        return fail_at(&x, "the end");
    LD_CHECK(check_places(f));
    return check_names(f);
}

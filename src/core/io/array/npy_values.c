#include "io/array/npy_values.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "io/array/npy_numbers.h"
#include "memory/memory.h"
#include "text/utf8.h"

enum { CHUNK = 1 << 16, PIECE = 512 }; /* bytes that are read; elements that are converted */

ld_status ld_npy_expect(const ld_npy_header *h, const ld_source *s, const char *kinds,
                        const char *wanted)
{
    char type[LD_NPY_TEXT];
    if (strchr(kinds, h->type.kind))
        return LD_OK;
    return ld_fail(LD_FORMAT, "%s: dtype is %s%s, %s expected", s->name,
                   ld_npy_type_name(type, h->type), h->type.kind == 'O' ? " (pickled Python)" : "",
                   wanted);
}

/* The type of functions that take elements first .. first + count - 1 in the file's order. */
typedef ld_status take_function(void *out, const ld_npy_header *h, const ld_source *s,
                                int64_t first, int64_t count, const unsigned char *items);

/* Reads all elements in chunks, which bounds the memory that converting takes. */
static ld_status read_chunks(void *out, const ld_npy_header *h, ld_source *s, take_function *take)
{
    int64_t size = h->type.size, total = ld_npy_count(h);
    int64_t many = size < CHUNK ? CHUNK / size : 1;
    LD_FREED unsigned char *items = ld_alloc((size_t)(many * size), LD_MEM_IO);
    if (!items)
        return LD_NOMEM;
    for (int64_t first = 0; first < total; first += many) {
        int64_t count = total - first < many ? total - first : many;
        LD_CHECK(ld_source_read(s, items, count * size));
        LD_CHECK(take(out, h, s, first, count, items));
    }
    return ld_source_finish(s);
}

/* Returns the place, row by row, of element k of the file. */
static int64_t place(const ld_npy_header *h, int64_t k)
{
    return h->fortran && h->ndim > 1 ? k % h->n_rows * h->n_cols + k / h->n_rows : k;
}

static bool in_order(const ld_npy_header *h)
{
    return !h->fortran || h->ndim < 2;
}

static bool is_wide_unsigned(ld_npy_type t)
{
    return t.kind == 'u' && t.size == 8;
}

/* Returns the end of the piece of `count` elements that begins with the one at `done`. */
static int64_t piece_end(int64_t done, int64_t count)
{
    return count - done < PIECE ? count : done + PIECE;
}

static ld_status take_floats(void *out, const ld_npy_header *h, const ld_source *s, int64_t first,
                             int64_t count, const unsigned char *items)
{
    float *to = out;
    double values[PIECE];
    for (int64_t done = 0, end; done < count; done = end) {
        end = piece_end(done, count);
        ld_npy_to_doubles(values, h->type, items + done * h->type.size, end - done);
        for (int64_t i = done; i < end; i++) {
            double value = values[i - done];
            float rounded = (float)value;
            if (isinf(rounded) && !isinf(value))
                return ld_fail(LD_RANGE, "%s: element %" PRId64 " is %g, too large for float32",
                               s->name, h->before + place(h, first + i) + 1, value);
            to[place(h, first + i)] = rounded;
        }
    }
    return LD_OK;
}

/* Fails with LD_RANGE for the first of the elements from `first` on that is no id. */
static ld_status fail_id(const ld_npy_header *h, const ld_source *s, int64_t first,
                         const int64_t *values)
{
    bool wide = is_wide_unsigned(h->type);
    while (*values >= (wide ? 0 : -1) && *values < INT32_MAX)
        values++, first++;
    bool negative = *values < 0 && !wide;
    return ld_fail(LD_RANGE, "%s: element %" PRId64 " is %s%" PRIu64 ", ids must lie in -1..%d",
                   s->name, h->before + place(h, first) + 1, negative ? "-" : "",
                   negative ? -(uint64_t)*values : (uint64_t)*values, INT32_MAX - 1);
}

static ld_status take_ids(void *out, const ld_npy_header *h, const ld_source *s, int64_t first,
                          int64_t count, const unsigned char *items)
{
    int32_t *to = out;
    int64_t values[PIECE], low = is_wide_unsigned(h->type) ? 0 : -1;
    for (int64_t done = 0, end; done < count; done = end) {
        bool wrong = false;
        end = piece_end(done, count);
        ld_npy_to_integers(values, h->type, items + done * h->type.size, end - done);
        for (int64_t i = 0; i < end - done; i++)
            wrong |= (values[i] < low) | (values[i] >= INT32_MAX);
        if (wrong)
            return fail_id(h, s, first + done, values);
        if (in_order(h))
            for (int64_t i = done; i < end; i++)
                to[first + i] = (int32_t)values[i - done];
        else
            for (int64_t i = done; i < end; i++)
                to[place(h, first + i)] = (int32_t)values[i - done];
    }
    return LD_OK;
}

/* Fails with LD_RANGE unless int32 numbers that lie in place already are ids. */
static ld_status check_ids(const ld_npy_header *h, const ld_source *s, ld_index *x)
{
    int32_t least = 0, most = 0;
    for (int64_t i = 0; i < x->size; i++) {
        least = x->data[i] < least ? x->data[i] : least;
        most = x->data[i] > most ? x->data[i] : most;
    }
    if (least >= -1 && most < INT32_MAX)
        return LD_OK;
    return take_ids(x->data, h, s, 0, x->size, (const unsigned char *)x->data);
}

static ld_status take_doubles(void *out, const ld_npy_header *h, const ld_source *s, int64_t first,
                              int64_t count, const unsigned char *items)
{
    (void)s;
    double *to = out, values[PIECE];
    for (int64_t done = 0, end; done < count; done = end) {
        end = piece_end(done, count);
        ld_npy_to_doubles(values, h->type, items + done * h->type.size, end - done);
        for (int64_t i = done; i < end; i++)
            to[place(h, first + i)] = values[i - done];
    }
    return LD_OK;
}

static ld_status take_integers(void *out, const ld_npy_header *h, const ld_source *s, int64_t first,
                               int64_t count, const unsigned char *items)
{
    int64_t *to = out, values[PIECE];
    for (int64_t done = 0, end; done < count; done = end) {
        end = piece_end(done, count);
        ld_npy_to_integers(values, h->type, items + done * h->type.size, end - done);
        for (int64_t i = done; i < end; i++) {
            int64_t value = values[i - done];
            if (value < 0 && is_wide_unsigned(h->type))
                return ld_fail(LD_RANGE, "%s: element %" PRId64 " is %" PRIu64 ", above 2^63 - 1",
                               s->name, h->before + place(h, first + i) + 1, (uint64_t)value);
            to[place(h, first + i)] = value;
        }
    }
    return LD_OK;
}

static ld_status take_bytes(void *out, const ld_npy_header *h, const ld_source *s, int64_t first,
                            int64_t count, const unsigned char *items)
{
    (void)s;
    int64_t size = h->type.size;
    for (int64_t i = 0; i < count; i++)
        memcpy((char *)out + place(h, first + i) * size, items + i * size, (size_t)size);
    return LD_OK;
}

ld_status ld_npy_read_bytes(void *out, const ld_npy_header *h, ld_source *s)
{
    if (!in_order(h))
        return read_chunks(out, h, s, take_bytes);
    LD_CHECK(ld_source_read(s, out, ld_npy_bytes(h)));
    return ld_source_finish(s);
}

/* Maps the elements where the source can and they are just as a tensor or an index has them; NULL
 * otherwise. */
static ld_status map_elements(ld_mapping **out, const ld_npy_header *h, ld_source *s)
{
    LD_OWN(ld_mapping) *m = NULL;
    *out = NULL;
    if (!in_order(h))
        return LD_OK;
    LD_CHECK(ld_source_map(&m, s, ld_npy_bytes(h)));
    if (m)
        LD_CHECK(ld_source_finish(s));
    *out = ld_take(&m);
    return LD_OK;
}

ld_status ld_npy_map(ld_mapping **out, ld_npy_type type, const ld_npy_header *h, ld_source *s)
{
    *out = NULL;
    return h->type.kind == type.kind && h->type.size == type.size ? map_elements(out, h, s) : LD_OK;
}

ld_status ld_npy_read_rows(ld_rows **out, const ld_npy_header *h, ld_source *s)
{
    char shape[LD_NPY_TEXT];
    ld_number number = h->type.kind == 'B' ? LD_BFLOAT16
                       : h->type.size == 2 ? LD_FLOAT16
                                           : LD_FLOAT32;
    LD_OWN(ld_mapping) *mapping = NULL;
    LD_FREED void *block = NULL;
    LD_CHECK(ld_npy_expect(h, s, h->type.size <= 4 ? "fB" : "", "float16, bfloat16 or float32"));
    if (h->ndim < 2)
        return ld_fail(LD_SHAPE, "%s: its shape is %s, two dimensions expected", s->name,
                       ld_npy_shape(shape, h));
    LD_CHECK(map_elements(&mapping, h, s));
    if (mapping)
        return ld_rows_over(out, number, h->n_rows, h->n_cols, mapping);
    if (!(block = ld_alloc((size_t)ld_npy_bytes(h), LD_MEM_TENSOR)))
        return LD_NOMEM;
    LD_CHECK(ld_npy_read_bytes(block, h, s));
    return ld_rows_of_block(out, number, h->n_rows, h->n_cols, ld_take(&block));
}

ld_status ld_npy_read_tensor(ld_tensor **out, const ld_npy_header *h, ld_source *s)
{
    LD_OWN(ld_tensor) *t = NULL;
    LD_OWN(ld_mapping) *mapping = NULL;
    LD_CHECK(ld_npy_expect(h, s, "biufB", "numbers"));
    if (h->type.kind == 'f' && h->type.size == 4)
        LD_CHECK(map_elements(&mapping, h, s));
    if (mapping)
        return ld_tensor_over(out, h->ndim > 1 ? 2 : 1, h->n_rows, h->n_cols,
                              (float *)mapping->data, mapping);
    LD_CHECK(ld_tensor_new(&t, h->ndim > 1 ? 2 : 1, h->n_rows, h->n_cols));
    if (h->type.kind == 'f' && h->type.size == 4)
        LD_CHECK(ld_npy_read_bytes(t->data, h, s));
    else
        LD_CHECK(read_chunks(t->data, h, s, take_floats));
    *out = ld_take(&t);
    return LD_OK;
}

/* Makes an index of the positions that are 1 in a mask, which has 0 or 1 for each position. */
static ld_status positions(ld_index **out, ld_index *mask)
{
    int64_t count = 0;
    for (int64_t i = 0; i < mask->size; i++)
        if (mask->data[i])
            mask->data[count++] = (int32_t)i;
    return ld_index_slice(out, mask, 0, count);
}

ld_status ld_npy_read_ids(ld_index **out, const ld_npy_header *h, ld_source *s)
{
    char shape[LD_NPY_TEXT];
    LD_OWN(ld_index) *x = NULL, *mask = NULL;
    LD_OWN(ld_mapping) *mapping = NULL;
    int64_t count = ld_npy_count(h);
    bool is_mask = h->type.kind == 'b';
    LD_CHECK(ld_npy_expect(h, s, "iub", "integers"));
    if (h->ndim == 0 || (is_mask && (h->ndim > 1 || count > INT32_MAX)))
        return ld_fail(LD_SHAPE, "%s: its shape is %s, one dimension expected", s->name,
                       ld_npy_shape(shape, h));
    if (h->type.kind == 'i' && h->type.size == 4)
        LD_CHECK(map_elements(&mapping, h, s));
    if (mapping) {
        LD_CHECK(ld_index_over(&x, count, (int32_t *)mapping->data, mapping));
        LD_CHECK(check_ids(h, s, x));
    } else if (is_mask) {
        LD_CHECK(ld_index_new(&mask, count));
        LD_CHECK(read_chunks(mask->data, h, s, take_ids));
        LD_CHECK(positions(&x, mask));
    } else {
        LD_CHECK(ld_index_new(&x, count));
        LD_CHECK(read_chunks(x->data, h, s, take_ids));
    }
    *out = ld_take(&x);
    return LD_OK;
}

ld_status ld_npy_read_index(ld_index **out, const ld_npy_header *h, ld_source *s)
{
    char shape[LD_NPY_TEXT];
    LD_CHECK(ld_npy_expect(h, s, "iu", "integers"));
    if (h->ndim != 1)
        return ld_fail(LD_SHAPE, "%s: its shape is %s, one dimension expected", s->name,
                       ld_npy_shape(shape, h));
    return ld_npy_read_ids(out, h, s);
}

ld_status ld_npy_read_doubles(double *out, const ld_npy_header *h, ld_source *s)
{
    LD_CHECK(ld_npy_expect(h, s, "biufB", "numbers"));
    return read_chunks(out, h, s, take_doubles);
}

ld_status ld_npy_read_integers(int64_t *out, const ld_npy_header *h, ld_source *s)
{
    LD_CHECK(ld_npy_expect(h, s, "biu", "integers"));
    return read_chunks(out, h, s, take_integers);
}

int64_t ld_npy_text_length(const char *text, int64_t size)
{
    while (size > 0 && text[size - 1] == '\0')
        size--;
    return size;
}

/* Turns UTF-32 into UTF-8, which is never longer, in place; false with what is no character. */
static bool shrink_text(char *text, int64_t size, uint32_t *bad)
{
    char *p = text;
    for (const char *from = text; from < text + size; from += 4) {
        uint32_t c;
        memcpy(&c, from, sizeof c);
        if (!ld_utf8_is_character(c)) {
            *bad = c;
            return false;
        }
        p = ld_utf8_put(p, c);
    }
    memset(p, 0, (size_t)(text + size - p));
    return true;
}

ld_status ld_npy_read_texts(char *out, const ld_npy_header *h, ld_source *s)
{
    int64_t size = h->type.size;
    LD_CHECK(ld_npy_expect(h, s, "US", "texts (U or S)"));
    LD_CHECK(ld_npy_read_bytes(out, h, s));
    for (int64_t i = 0; h->type.kind == 'U' && i < ld_npy_count(h); i++) {
        uint32_t bad;
        if (!shrink_text(out + i * size, size, &bad))
            return ld_fail(LD_FORMAT,
                           "%s: element %" PRId64 " holds %#" PRIx32 ", which is not a character",
                           s->name, i + 1, bad);
    }
    return LD_OK;
}

/* Returns the nearest float16, of two the even one; an infinite one where the value is too
 * large. */
static uint16_t to_half(double value)
{
    double size = fabs(value), scale;
    uint64_t bits;
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    if (isnan(value))
        return sign | 0x7e00;
    if (size == 0)
        return sign;
    if (size >= 65520) /* half way from the largest to what would be the next */
        return sign | 0x7c00;
    memcpy(&bits, &size, sizeof bits);
    int exponent = (int)(bits >> 52) - 1022; /* 2^(exponent - 1) <= size */
    exponent = exponent < -13 ? -13 : exponent;
    bits = (uint64_t)(11 - exponent + 1023) << 52;
    memcpy(&scale, &bits, sizeof scale); /* 2^(11 - exponent) */
    /* 1024 .. 2048, or fewer below 2^-14; with 2^52 there is no room for a fraction */
    int places = (int)(size * scale + 0x1p52 - 0x1p52);
    return sign | (uint16_t)(((exponent + 13) << 10) + places);
}

/* Returns the nearest bfloat16, of two the even one. */
static uint16_t to_bfloat(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (isnan(value))
        return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* Writes a number in 16 bits. Returns false if it is too large for them. */
static bool put_half(void *item, ld_npy_type type, double value)
{
    uint16_t bits = type.kind == 'B' ? to_bfloat((float)value) : to_half(value);
    uint16_t top = type.kind == 'B' ? 0x7f80 : 0x7c00;
    memcpy(item, &bits, sizeof bits);
    return (bits & 0x7fff) != top || isinf(value);
}

ld_status ld_npy_put_integer(void *item, ld_npy_type type, int64_t i, int64_t value)
{
    if (ld_npy_is_float(type))
        return ld_npy_put_number(item, type, i, (double)value);
    int bits = (int)type.size * 8;
    bool fits = type.kind == 'b'   ? value == 0 || value == 1
                : type.kind == 'u' ? value >= 0 && (bits == 64 || value >> bits == 0)
                                   : bits == 64 || value >> (bits - 1) == (value < 0 ? -1 : 0);
    if (!fits) {
        char name[LD_NPY_TEXT];
        return ld_fail(LD_RANGE, "element %" PRId64 " is %" PRId64 ", which %s cannot hold", i + 1,
                       value, ld_npy_type_name(name, type));
    }
    memcpy(item, &value, (size_t)type.size);
    return LD_OK;
}

ld_status ld_npy_put_number(void *item, ld_npy_type type, int64_t i, double value)
{
    float rounded = (float)value;
    bool fits = ld_npy_is_float(type) && type.size == 2 ? put_half(item, type, value)
                : type.kind == 'f' ? type.size == 8 || !isinf(rounded) || isinf(value)
                                   : value == floor(value) && fabs(value) < 0x1p63;
    if (!fits) {
        char name[LD_NPY_TEXT];
        return ld_fail(LD_RANGE, "element %" PRId64 " is %g, which %s cannot hold", i + 1, value,
                       ld_npy_type_name(name, type));
    }
    if (!ld_npy_is_float(type))
        return ld_npy_put_integer(item, type, i, (int64_t)value);
    if (type.size == 4)
        memcpy(item, &rounded, sizeof rounded);
    else if (type.size == 8)
        memcpy(item, &value, sizeof value);
    return LD_OK;
}

ld_status ld_npy_text_size(int64_t *size, char kind, const char *text, int64_t length)
{
    if (length > 0 && text[length - 1] == '\0')
        return ld_fail(LD_VALUE, "ends in a zero byte, which the format would lose");
    *size = length;
    if (kind == 'S')
        return LD_OK;
    *size = 0;
    for (const char *p = text; p < text + length; *size += 4)
        if (ld_utf8_get(&p, text + length) == UINT32_MAX)
            return ld_fail(LD_VALUE, "is not UTF-8");
    return LD_OK;
}

void ld_npy_put_text(void *items, ld_npy_type type, int64_t i, const char *text, int64_t length)
{
    char *item = (char *)items + i * type.size;
    memset(item, 0, (size_t)type.size);
    if (type.kind == 'S') {
        memcpy(item, text, (size_t)length);
        return;
    }
    for (const char *p = text; p < text + length; item += 4) {
        uint32_t c = ld_utf8_get(&p, text + length);
        memcpy(item, &c, sizeof c);
    }
}

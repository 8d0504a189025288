#include "io/array/npy.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "io/file.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "elements are copied as they are");

/* NumPy itself refuses longer headers. */
enum { MAGIC = 6, LONGEST_HEADER = 10000, ALIGNMENT = 64 };
static const char magic[MAGIC + 1] = "\x93NUMPY";

static bool is_number(ld_npy_type t)
{
    switch (t.kind) {
    case 'b': return t.size == 1;
    case 'i':
    case 'u': return t.size == 1 || t.size == 2 || t.size == 4 || t.size == 8;
    case 'f': return t.size == 2 || t.size == 4 || t.size == 8;
    default: return false;
    }
}

const char *ld_npy_type_name(char text[LD_NPY_TEXT], ld_npy_type t)
{
    int bits = (int)t.size * 8;
    switch (t.kind) {
    case 'b': return "bool";
    case 'O': return "object";
    case 'B': return "bfloat16";
    case 'i': snprintf(text, LD_NPY_TEXT, "int%d", bits); break;
    case 'u': snprintf(text, LD_NPY_TEXT, "uint%d", bits); break;
    case 'f': snprintf(text, LD_NPY_TEXT, "float%d", bits); break;
    case 'U': snprintf(text, LD_NPY_TEXT, "<U%" PRId64, t.size / 4); break;
    default: snprintf(text, LD_NPY_TEXT, "|S%" PRId64, t.size);
    }
    return text;
}

/* Decimal digits; -1 when there are none or too many. */
static int64_t parse_integer(const char **p)
{
    int64_t value = -1;
    for (; **p >= '0' && **p <= '9'; (*p)++) {
        if (value > INT64_MAX / 10 - 1)
            return -1;
        value = (value < 0 ? 0 : 10 * value) + (**p - '0');
    }
    return value;
}

bool ld_npy_type_coded(ld_npy_type *type, const char *code)
{
    const char *digits = code[0] ? code + 1 : code;
    int64_t size = parse_integer(&digits);
    bool text = (code[0] == 'U' || code[0] == 'S') && size > 0 && size <= INT32_MAX;
    *type = (ld_npy_type){code[0], code[0] == 'U' && text ? 4 * size : size};
    if (code[0] == 'O') /* its digits are the size of a pointer, or none */
        type->size = 1;
    return *digits == '\0' && (text || code[0] == 'O' || is_number(*type));
}

const char *ld_npy_shape(char text[LD_NPY_TEXT], const ld_npy_header *h)
{
    if (h->ndim == 0)
        return "one element";
    if (h->ndim == 1)
        snprintf(text, LD_NPY_TEXT, "%" PRId64, h->n_rows);
    else
        snprintf(text, LD_NPY_TEXT, "%s%s%" PRId64 " x %" PRId64, h->ndim > 2 ? "1 x " : "",
                 h->ndim > 3 ? "1 x " : "", h->n_rows, h->n_cols);
    return text;
}

bool ld_npy_set_shape(ld_npy_header *h, int ndim, const int64_t *sizes)
{
    if (ndim > LD_NPY_DIMENSIONS)
        return false;
    for (int i = 0; i < ndim - 2; i++)
        if (sizes[i] != 1)
            return false;
    h->ndim = ndim;
    h->n_cols = ndim > 1 ? sizes[ndim - 1] : 1;
    h->n_rows = ndim > 1 ? sizes[ndim - 2] : ndim > 0 ? sizes[0] : 1;
    return true;
}

/* The parser of the header's dictionary: descr, fortran_order and shape, each exactly once, their
 * values literals of a string, a boolean and a tuple of integers. Nothing is evaluated. */
typedef struct {
    const char *begin, *p; /* NUL-terminated; a NUL inside of it ends the text early */
    ld_source *source;
} parser;

static ld_status fail_at(const parser *x, const char *expected)
{
    return ld_fail(LD_FORMAT, "%s: npy header: %s expected at byte %d", x->source->name, expected,
                   (int)(x->p - x->begin));
}

static void skip_spaces(parser *x)
{
    while (*x->p == ' ')
        x->p++;
}

/* Skips spaces and then `text`; false when something else is there. */
static bool accept(parser *x, const char *text)
{
    skip_spaces(x);
    size_t n = strlen(text);
    bool found = strncmp(x->p, text, n) == 0;
    x->p += found ? n : 0;
    return found;
}

enum { WORD = 64 };

/* A string literal; what does not fit into `word` is left out. */
static ld_status parse_string(char word[WORD], parser *x, const char *what)
{
    skip_spaces(x);
    char quote = *x->p;
    const char *end = quote == '\'' || quote == '"' ? strchr(x->p + 1, quote) : NULL;
    if (!end)
        return fail_at(x, what);
    snprintf(word, WORD, "%.*s", (int)(end - x->p - 1), x->p + 1);
    for (char *c = word; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7F)
            *c = '?';
    x->p = end + 1;
    return LD_OK;
}

static ld_status parse_type(ld_npy_type *type, parser *x)
{
    const char *file = x->source->name;
    char word[WORD];
    if (accept(x, "["))
        return ld_fail(LD_FORMAT, "%s: dtype is a record; only plain numbers and texts are read",
                       file);
    LD_CHECK(parse_string(word, x, "a dtype"));
    char order = word[0];
    if (order == '>')
        return ld_fail(LD_FORMAT, "%s: dtype \"%s\" is big-endian; only little-endian is read",
                       file, word);
    bool known = order && ld_npy_type_coded(type, word + 1);
    bool unordered = known && (type->kind == 'S' || (type->size == 1 && type->kind != 'U'));
    if (!known || !(order == '<' || (order == '|' && unordered)))
        return ld_fail(LD_FORMAT,
                       "%s: dtype \"%s\" is not read; f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1 U "
                       "S are",
                       file, word);
    return LD_OK;
}

static ld_status parse_order(bool *fortran, parser *x)
{
    *fortran = accept(x, "True");
    return *fortran || accept(x, "False") ? LD_OK : fail_at(x, "True or False");
}

static ld_status parse_shape(ld_npy_header *h, parser *x)
{
    int64_t sizes[LD_NPY_DIMENSIONS];
    int ndim = 0;
    if (!accept(x, "("))
        return fail_at(x, "a shape");
    for (; !accept(x, ")"); ndim++) {
        int64_t size = parse_integer(&x->p);
        if (size < 0)
            return fail_at(x, "a dimension below 2^63");
        accept(x, "L"); /* Python 2 */
        if (ndim < LD_NPY_DIMENSIONS)
            sizes[ndim] = size;
        if (!accept(x, ",") && (ndim == 0 || *x->p != ')'))
            return fail_at(x, "a comma");
        skip_spaces(x);
    }
    if (ld_npy_set_shape(h, ndim, sizes))
        return LD_OK;
    return ld_fail(LD_FORMAT,
                   "%s: the array has %d dimensions; 0 to 2 are read, and %d where all before the "
                   "last two are 1",
                   x->source->name, ndim, LD_NPY_DIMENSIONS);
}

static ld_status parse_entry(ld_npy_header *h, unsigned *seen, parser *x)
{
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    char word[WORD];
    unsigned key = 0;
    LD_CHECK(parse_string(word, x, "a key"));
    while (key < 3 && strcmp(word, keys[key]) != 0)
        key++;
    if (key == 3 || *seen & 1u << key)
        return ld_fail(LD_FORMAT, "%s: npy header: key \"%s\" is unknown or occurs twice",
                       x->source->name, word);
    *seen |= 1u << key;
    if (!accept(x, ":"))
        return fail_at(x, "a colon");
    skip_spaces(x);
    return key == 0   ? parse_type(&h->type, x)
           : key == 1 ? parse_order(&h->fortran, x)
                      : parse_shape(h, x);
}

static ld_status parse_header(ld_npy_header *h, parser *x, int64_t length)
{
    unsigned seen = 0;
    if (!accept(x, "{"))
        return fail_at(x, "{");
    while (!accept(x, "}")) {
        LD_CHECK(parse_entry(h, &seen, x));
        if (!accept(x, ",") && *x->p != '}')
            return fail_at(x, "a comma or }");
    }
    if (seen != 7)
        return fail_at(x, "all of descr, fortran_order and shape");
    skip_spaces(x);
    if (*x->p != '\n' || x->p + 1 != x->begin + length)
        return fail_at(x, "a newline that ends it");
    return LD_OK;
}

/* Reads the magic string, the version and the header's length, which has two bytes in version 1 and
 * four from then on. */
static ld_status read_length(int64_t *length, ld_source *s)
{
    unsigned char start[MAGIC + 2], bytes[4] = {0};
    LD_CHECK(ld_source_read(s, start, sizeof start));
    if (memcmp(start, magic, MAGIC) != 0)
        return ld_fail(LD_FORMAT, "%s: is not an npy array: it does not begin with \\x93NUMPY",
                       s->name);
    if (start[MAGIC] < 1 || start[MAGIC] > 3 || start[MAGIC + 1] != 0)
        return ld_fail(LD_FORMAT, "%s: npy version %d.%d is unknown; 1.0 to 3.0 are read", s->name,
                       start[MAGIC], start[MAGIC + 1]);
    LD_CHECK(ld_source_read(s, bytes, start[MAGIC] == 1 ? 2 : 4));
    uint32_t n = (uint32_t)ld_little_endian(bytes, sizeof bytes);
    if (n > LONGEST_HEADER)
        return ld_fail(LD_FORMAT, "%s: npy header of %" PRIu32 " bytes; at most %d are read",
                       s->name, n, LONGEST_HEADER);
    *length = n;
    return LD_OK;
}

ld_status ld_npy_read_header(ld_npy_header *h, ld_source *s)
{
    char text[LONGEST_HEADER + 1], shape[LD_NPY_TEXT], type[LD_NPY_TEXT];
    int64_t length, bytes;
    h->before = 0;
    LD_CHECK(read_length(&length, s));
    LD_CHECK(ld_source_read(s, text, length));
    text[length] = '\0';
    parser x = {text, text, s};
    LD_CHECK(parse_header(h, &x, length));
    if (__builtin_mul_overflow(h->n_rows, h->n_cols, &bytes) ||
        __builtin_mul_overflow(bytes, h->type.size, &bytes) ||
        (bytes > s->left && h->type.kind != 'O'))
        return ld_fail(LD_FORMAT, "%s: %s of %s is more than the %" PRId64 " bytes that follow",
                       s->name, ld_npy_shape(shape, h), ld_npy_type_name(type, h->type), s->left);
    return LD_OK;
}

int64_t ld_npy_format_prefix(char text[LD_NPY_PREFIX], const ld_npy_header *h)
{
    char shape[LD_NPY_TEXT] = "()";
    if (h->ndim == 1)
        snprintf(shape, sizeof shape, "(%" PRId64 ",)", h->n_rows);
    if (h->ndim > 1)
        snprintf(shape, sizeof shape, "(%s%s%" PRId64 ", %" PRId64 ")", h->ndim > 2 ? "1, " : "",
                 h->ndim > 3 ? "1, " : "", h->n_rows, h->n_cols);
    char order = h->type.kind == 'U' || (h->type.size > 1 && h->type.kind != 'S') ? '<' : '|';
    int64_t units = h->type.kind == 'U' ? h->type.size / 4 : h->type.size;
    enum { START = MAGIC + 4 };
    int n = START + snprintf(text + START, LD_NPY_PREFIX - START,
                             "{'descr': '%c%c%" PRId64 "', 'fortran_order': False, 'shape': %s, }",
                             order, h->type.kind, units, shape);
    int length = (n + 1 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    memset(text + n, ' ', (size_t)(length - n));
    text[length - 1] = '\n';
    memcpy(text, magic, MAGIC);
    text[MAGIC] = 1;
    text[MAGIC + 1] = 0;
    text[MAGIC + 2] = (char)((length - START) & 0xFF);
    text[MAGIC + 3] = (char)((length - START) >> 8);
    return length;
}

ld_status ld_npy_write(const char *path, const ld_npy_array *array)
{
    char prefix[LD_NPY_PREFIX];
    LD_OWN(ld_writer) *w = NULL;
    LD_CHECK(ld_writer_open(&w, path, "npy"));
    if (array->header.type.kind == 'B')
        return ld_fail(LD_VALUE, "%s: the format has no bfloat16", w->label.text);
    LD_CHECK(ld_writer_put(w, prefix, ld_npy_format_prefix(prefix, &array->header)));
    LD_CHECK(ld_writer_put(w, array->data, ld_npy_bytes(&array->header)));
    return ld_writer_commit(ld_take(&w));
}

#include "fuzz_array.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

/* A deflated stream can declare a thousand times its size; more than this is not read here. */
enum { MOST_BYTES = 1 << 24 };

typedef ld_status read_function(void *out, const ld_npy_header *h, ld_source *s);

static ld_status read_doubles(void *out, const ld_npy_header *h, ld_source *s)
{
    return ld_npy_read_doubles(out, h, s);
}

static ld_status read_integers(void *out, const ld_npy_header *h, ld_source *s)
{
    return ld_npy_read_integers(out, h, s);
}

static ld_status read_texts(void *out, const ld_npy_header *h, ld_source *s)
{
    return ld_npy_read_texts(out, h, s);
}

/* Elements of `size` bytes (0: of the array's own type) by one of the functions above. The block
 * ends where they do, for a sanitizer to see; NULL when they cannot be read. */
static void *read_items(fuzz_begin_array *begin, void *context, read_function *read, int64_t size)
{
    ld_npy_header h;
    ld_source *s;
    if (!fuzz_ok(begin(context, &h, &s)))
        return NULL;
    int64_t bytes = size > 0 ? ld_npy_count(&h) * size : ld_npy_bytes(&h);
    void *items = malloc((size_t)bytes + 1);
    FUZZ_REQUIRE(items, "no memory for %lld bytes", (long long)bytes);
    if (fuzz_ok(read(items, &h, s)))
        return items;
    free(items);
    return NULL;
}

/* The array as a tensor, or as an index; NULL when it is none. */
static ld_tensor *read_tensor(fuzz_begin_array *begin, void *context)
{
    ld_npy_header h;
    ld_source *s;
    ld_tensor *t = NULL;
    if (!fuzz_ok(begin(context, &h, &s)) || !fuzz_ok(ld_npy_read_tensor(&t, &h, s)))
        return NULL;
    FUZZ_REQUIRE(ld_tensor_size(t) == ld_npy_count(&h), "a tensor of another size");
    return t;
}

static ld_index *read_index(fuzz_begin_array *begin, void *context)
{
    ld_npy_header h;
    ld_source *s;
    ld_index *x = NULL;
    if (!fuzz_ok(begin(context, &h, &s)) || !fuzz_ok(ld_npy_read_index(&x, &h, s)))
        return NULL;
    FUZZ_REQUIRE(x->size == ld_npy_count(&h), "an index of another size");
    for (int64_t i = 0; i < x->size; i++)
        FUZZ_REQUIRE(x->data[i] >= -1 && x->data[i] < INT32_MAX, "id %d", x->data[i]);
    return x;
}

/* The header that is written for an array must describe the same array. */
static void check_prefix(const ld_npy_header *h)
{
    char prefix[LD_NPY_PREFIX];
    ld_npy_header plain = *h, again = {0};
    plain.fortran = false;
    int64_t length = ld_npy_format_prefix(prefix, &plain), bytes = ld_npy_bytes(h);
    ld_memory_source s = ld_memory_source_of(prefix, length, "prefix");
    s.source.left += bytes; /* which are not read */
    FUZZ_REQUIRE(fuzz_ok(ld_npy_read_header(&again, &s.source)), "%s", ld_message());
    FUZZ_REQUIRE(s.source.left == bytes && again.ndim == h->ndim && again.n_rows == h->n_rows &&
                     again.n_cols == h->n_cols && again.type.kind == h->type.kind &&
                     again.type.size == h->type.size,
                 "the header comes back as another");
}

void fuzz_read_array(fuzz_begin_array *begin, void *context)
{
    ld_npy_header h;
    ld_source *s;
    if (!fuzz_ok(begin(context, &h, &s)))
        return;
    FUZZ_REQUIRE(h.ndim >= 0 && h.ndim <= LD_NPY_DIMENSIONS && h.n_rows >= 0 && h.n_cols >= 0,
                 "an odd shape");
    if (h.type.kind == 'O')
        return;
    FUZZ_REQUIRE(ld_npy_bytes(&h) <= s->left, "more bytes than the source has");
    if (h.type.kind != 'B') /* which .npy does not have */
        check_prefix(&h);
    if (ld_npy_bytes(&h) > MOST_BYTES)
        return;
    ld_tensor_unref(read_tensor(begin, context));
    ld_index_unref(read_index(begin, context));
    free(read_items(begin, context, read_doubles, sizeof(double)));
    free(read_items(begin, context, read_integers, sizeof(int64_t)));
    free(read_items(begin, context, ld_npy_read_bytes, 0));
    free(read_items(begin, context, read_texts, 0));
}

static void compare_tensors(const ld_tensor *t, ld_tensor *u)
{
    FUZZ_REQUIRE(!t == !u, "a tensor only when %s: %s", t ? "read" : "mapped", ld_message());
    if (!t)
        return;
    FUZZ_REQUIRE((uintptr_t)u->data % sizeof *u->data == 0, "a tensor that is not aligned");
    FUZZ_REQUIRE(t->ndim == u->ndim && t->n_rows == u->n_rows && t->n_cols == u->n_cols &&
                     memcmp(t->data, u->data, (size_t)ld_tensor_size(t) * sizeof *t->data) == 0,
                 "another tensor when mapped");
    if (ld_tensor_size(u) > 0)
        u->data[0] = 1; /* the page is ours from then on: the index below does not see it */
}

static void compare_indexes(const ld_index *x, const ld_index *y)
{
    FUZZ_REQUIRE(!x == !y, "an index only when %s: %s", x ? "read" : "mapped", ld_message());
    if (!x)
        return;
    FUZZ_REQUIRE((uintptr_t)y->data % sizeof *y->data == 0, "an index that is not aligned");
    FUZZ_REQUIRE(x->size == y->size &&
                     memcmp(x->data, y->data, (size_t)x->size * sizeof *x->data) == 0,
                 "another index when mapped");
}

void fuzz_compare_mapped(fuzz_begin_array *begin, void *plain, void *mapping)
{
    ld_tensor *t = read_tensor(begin, plain), *u = read_tensor(begin, mapping);
    compare_tensors(t, u);
    ld_index *x = read_index(begin, plain), *y = read_index(begin, mapping);
    compare_indexes(x, y);
    ld_tensor_unref(t);
    ld_tensor_unref(u);
    ld_index_unref(x);
    ld_index_unref(y);
}

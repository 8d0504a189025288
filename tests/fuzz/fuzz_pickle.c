/* The unpickler: the tree of values is walked to its last byte, its matrices are made. */
#include "fuzz.h"
#include "io/array/npy_values.h"
#include "io/pickle/pickle.h"

enum {
    /* Of the input's size: 128 for the values (pickle.h), and stack, marks, memo and the copies that
     * a matrix makes of arrays of bytes; half of that again for the rounding of the allocator. */
    BYTES_PER_BYTE = 512,
    /* A matrix may have 2^24 columns whatever its file is. */
    ALWAYS = 1 << 20,
    COLUMNS = 512 << 20,
};

typedef struct {
    const ld_pickle *p;
    ld_pickle_value *first, **tail;
    int64_t budget, seen;
} walk;

static uint64_t sum;

static void touch(const void *data, int64_t size)
{
    for (int64_t i = 0; i < size; i++)
        sum += ((const unsigned char *)data)[i];
}

/* A value goes into the queue when it is met for the first time. */
static void meet(walk *w, ld_pickle_value *v)
{
    if (v->visit)
        return;
    v->visit = 1;
    w->seen++;
    *w->tail = v;
    w->tail = &v->next;
}

static void read_array(const walk *w, const ld_pickle_array *a)
{
    const ld_npy_header *h = &a->header;
    int64_t size = ld_npy_bytes(h);
    ld_memory_source s = ld_memory_source_of(a->data, size, w->p->name);
    ld_tensor *t = NULL;
    ld_index *x = NULL;
    touch(a->data, size);
    if (fuzz_ok(ld_npy_read_tensor(&t, h, &s.source)))
        FUZZ_REQUIRE(ld_tensor_size(t) == ld_npy_count(h), "a tensor of another size");
    ld_tensor_unref(t);
    s = ld_memory_source_of(a->data, size, w->p->name);
    if (fuzz_ok(ld_npy_read_index(&x, h, &s.source)))
        FUZZ_REQUIRE(x->size == h->n_rows, "an index of another size");
    ld_index_unref(x);
    x = NULL;
    s = ld_memory_source_of(a->data, size, w->p->name);
    if (fuzz_ok(ld_npy_read_ids(&x, h, &s.source)))
        FUZZ_REQUIRE(h->type.kind == 'b' ? x->size <= h->n_rows : x->size == ld_npy_count(h),
                     "ids of another number");
    ld_index_unref(x);
}

static void visit(walk *w, ld_pickle_value *v)
{
    ld_csr *a = NULL;
    switch (v->kind) {
    case LD_PICKLE_TEXT:
    case LD_PICKLE_BYTES: touch(v->bytes.data, v->bytes.size); break;
    case LD_PICKLE_LIST:
    case LD_PICKLE_TUPLE:
    case LD_PICKLE_DICT:
        FUZZ_REQUIRE(v->kind != LD_PICKLE_DICT || v->list.count % 2 == 0, "a key without a value");
        for (int64_t i = 0; i < v->list.count; i++)
            meet(w, v->list.items[i]);
        break;
    case LD_PICKLE_ARRAY:
        if (v->array)
            read_array(w, v->array);
        break;
    case LD_PICKLE_MATRIX:
        if (fuzz_ok(ld_pickle_matrix(&a, w->p, v, &w->budget)))
            fuzz_check_matrix(a);
        ld_csr_unref(a);
        break;
    default: FUZZ_REQUIRE(ld_pickle_kind_name(v->kind), "an unknown kind");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ld_pickle *p = NULL;
    fuzz_begin();
    if (fuzz_ok(ld_pickle_decode(&p, data, (int64_t)size, "input"))) {
        walk w = {.p = p, .budget = p->size};
        w.tail = &w.first;
        meet(&w, p->root);
        for (ld_pickle_value *v = w.first; v; v = v->next)
            visit(&w, v);
        FUZZ_REQUIRE(w.seen <= (int64_t)size, "more values than bytes");
    }
    ld_pickle_unref(p);
    fuzz_end(ALWAYS + (int64_t)size * BYTES_PER_BYTE + COLUMNS);
    return 0;
}

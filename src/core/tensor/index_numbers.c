#include "tensor/index_numbers.h"

#include <inttypes.h>

#include "system/threads.h"

enum { GRAIN = 1 << 14, FLOAT_INTEGERS = 1 << 24 };

static int64_t number_at(const ld_numbers *a, int64_t i)
{
    return a->index ? (int64_t)a->index->data[i] + 1 : a->number;
}

static ld_status check_lengths(const char *what, const ld_index *a, const ld_index *b)
{
    if (a && b && a->size != b->size)
        return ld_fail(LD_SHAPE, "%s: an Index of %" PRId64 " and one of %" PRId64, what, a->size,
                       b->size);
    return LD_OK;
}

/* Computes a op b with b != 0 for a division; no operand is past 2^31, so nothing overflows. */
static int64_t combine(ld_id_arith kind, int64_t a, int64_t b)
{
    bool whole;
    switch (kind) {
    case LD_INDEX_ADD: return a + b;
    case LD_INDEX_SUB: return a - b;
    case LD_INDEX_MUL: return a * b;
    case LD_INDEX_DIV: whole = a % b == 0 || (a < 0) == (b < 0); return a / b - !whole;
    case LD_INDEX_MOD: break;
    }
    whole = a % b == 0 || (a < 0) == (b < 0);
    return a % b + (whole ? 0 : b);
}

ld_status ld_index_arith(ld_index **out, ld_id_arith kind, ld_numbers a, ld_numbers b)
{
    static const char *const names[] = {"+", "-", "*", "//", "%"};
    LD_OWN(ld_index) *x = NULL;
    LD_CHECK(check_lengths(names[kind], a.index, b.index));
    LD_CHECK(ld_index_new(&x, a.index ? a.index->size : b.index->size));
    for (int64_t i = 0; i < x->size; i++) {
        int64_t left = number_at(&a, i), right = number_at(&b, i);
        if (right == 0 && (kind == LD_INDEX_DIV || kind == LD_INDEX_MOD))
            return ld_fail(LD_VALUE, "%s: division by zero at position %" PRId64, names[kind],
                           i + 1);
        int64_t result = combine(kind, left, right);
        if (result < 0 || result > INT32_MAX)
            return ld_fail(LD_RANGE,
                           "%s: %" PRId64 " %s %" PRId64 " at position %" PRId64 " is %" PRId64
                           ", which is no id (0 to %d)",
                           names[kind], left, names[kind], right, i + 1, result, INT32_MAX);
        x->data[i] = (int32_t)(result - 1);
    }
    *out = ld_take(&x);
    return LD_OK;
}

ld_status ld_index_compare(ld_tensor **out, ld_comparison kind, const ld_index *x, ld_numbers b)
{
    static const char *const names[] = {"above", "below", "equals"};
    LD_CHECK(check_lengths(names[kind], x, b.index));
    LD_CHECK(ld_tensor_new(out, 1, x->size, 1));
    for (int64_t i = 0; i < x->size; i++) {
        int64_t left = (int64_t)x->data[i] + 1, right = number_at(&b, i);
        bool holds = kind == LD_ABOVE   ? left > right
                     : kind == LD_BELOW ? left < right
                                        : left == right;
        (*out)->data[i] = holds ? 1.0f : 0.0f;
    }
    return LD_OK;
}

ld_status ld_index_to_tensor(ld_tensor **out, const ld_index *x)
{
    for (int64_t i = 0; i < x->size; i++)
        if (x->data[i] >= FLOAT_INTEGERS)
            return ld_fail(LD_RANGE,
                           "to_tensor: element %" PRId64 " is %" PRId64
                           ", above 2^24 = %d: float32 would round it",
                           i + 1, (int64_t)x->data[i] + 1, FLOAT_INTEGERS);
    LD_CHECK(ld_tensor_new(out, 1, x->size, 1));
    for (int64_t i = 0; i < x->size; i++)
        (*out)->data[i] = (float)(x->data[i] + 1);
    return LD_OK;
}

ld_status ld_tensor_to_index(ld_index **out, const ld_tensor *t)
{
    LD_OWN(ld_index) *x = NULL;
    if (t->ndim != 1)
        return ld_fail(LD_SHAPE, "to_index: a vector expected, got %s", ld_tensor_shape(t));
    LD_CHECK(ld_index_new(&x, t->n_rows));
    for (int64_t i = 0; i < x->size; i++) {
        float v = t->data[i];
        if (!(v >= 0 && v < 0x1p31f) || v != (float)(int64_t)v)
            return ld_fail(LD_VALUE,
                           "to_index: element %" PRId64 " must be an integer 0 to %d, got %g",
                           i + 1, INT32_MAX, (double)v);
        x->data[i] = (int32_t)((int64_t)v - 1);
    }
    *out = ld_take(&x);
    return LD_OK;
}

typedef struct {
    float *out;
    const int32_t *ids;
    ld_stream stream;
} uniform;

/* Fills in uniform numbers. A double below 1 may round to 1 as a float; the largest float below it
 * takes its place. */
static void uniform_chunk(void *ctx, int64_t begin, int64_t end)
{
    const uniform *p = ctx;
    for (int64_t i = begin; i < end; i++) {
        float u = (float)ld_random_uniform(p->stream, (uint64_t)(int64_t)p->ids[i]);
        p->out[i] = u < 1.0f ? u : 0x1.fffffep-1f;
    }
}

ld_status ld_uniform_of(ld_tensor **out, const ld_index *ids, ld_rng *rng)
{
    ld_stream stream = ld_rng_next(rng);
    LD_OWN(ld_tensor) *t = NULL;
    LD_CHECK(ld_tensor_new(&t, 1, ids->size, 1));
    uniform p = {t->data, ids->data, stream};
    LD_CHECK(ld_parallel_for(ids->size, GRAIN, uniform_chunk, &p));
    *out = ld_take(&t);
    return LD_OK;
}

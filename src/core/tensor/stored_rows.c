#include "tensor/stored_rows.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/simd.h"
#include "base/threads.h"

enum { GRAIN = 64, SCAN_GRAIN = 1 << 12 };

int64_t ld_number_size(ld_number number)
{
    return number == LD_FLOAT32 ? 4 : 2;
}

const char *ld_number_name(ld_number number)
{
    static const char *const names[] = {"float32", "float16", "bfloat16"};
    return names[number];
}

/* --- lifetime ----------------------------------------------------------------------------------- */

static ld_status header_new(ld_rows **out, ld_number number, int64_t n_rows, int64_t n_cols)
{
    if (n_rows < 0 || n_cols < 0 || n_rows > INT32_MAX || n_cols > INT32_MAX)
        return ld_fail(LD_SHAPE, "rows: a dimension must be 0 to %d, got %" PRId64 " x %" PRId64,
                       INT32_MAX, n_rows, n_cols);
    ld_rows *x = ld_alloc(sizeof *x, LD_MEM_TENSOR);
    if (!x)
        return LD_NOMEM;
    *x = (ld_rows){.number = number, .n_rows = n_rows, .n_cols = n_cols};
    atomic_init(&x->refs, 1);
    *out = x;
    return LD_OK;
}

ld_status ld_rows_over(ld_rows **out, ld_number number, int64_t n_rows, int64_t n_cols,
                       ld_mapping *mapping)
{
    ld_status st = header_new(out, number, n_rows, n_cols);
    if (st != LD_OK)
        return st;
    (*out)->mapping = ld_mapping_ref(mapping);
    (*out)->data = mapping->data;
    ld_mapping_advise(mapping, LD_ACCESS_RANDOM);
    return LD_OK;
}

ld_status ld_rows_of_block(ld_rows **out, ld_number number, int64_t n_rows, int64_t n_cols,
                           void *block)
{
    ld_status st = header_new(out, number, n_rows, n_cols);
    if (st == LD_OK)
        (*out)->data = block;
    else
        ld_free(block);
    return st;
}

ld_rows *ld_rows_ref(ld_rows *x)
{
    atomic_fetch_add_explicit(&x->refs, 1, memory_order_relaxed);
    return x;
}

void ld_rows_unref(ld_rows *x)
{
    if (!x || atomic_fetch_sub_explicit(&x->refs, 1, memory_order_acq_rel) != 1)
        return;
    if (!x->mapping)
        ld_free((void *)x->data);
    ld_mapping_unref(x->mapping);
    ld_free(x);
}

/* --- numbers ------------------------------------------------------------------------------------ */

static inline float single(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* IEEE 754 binary16: its exponent and fraction in the places of a float's make a float that is 2^112
 * too small, subnormal ones included; from 2^16 on, which is past the largest, it was no number. */
static inline float half(uint16_t bits)
{
    float size = single((uint32_t)(bits & 0x7fff) << 13) * 0x1p112f;
    uint32_t word;
    memcpy(&word, &size, sizeof word);
    word |= (size >= 0x1p16f ? 0x7f800000u : 0) | (uint32_t)(bits & 0x8000) << 16;
    return single(word);
}

/* dst[0 .. n - 1] := elements from `first` on. */
static inline __attribute__((always_inline)) void convert(float *dst, const ld_rows *x,
                                                          int64_t first, int64_t n)
{
    const uint16_t *halves = (const uint16_t *)x->data + first;
    if (x->number == LD_FLOAT32)
        memcpy(dst, (const float *)x->data + first, (size_t)n * sizeof *dst);
    else if (x->number == LD_FLOAT16)
        for (int64_t i = 0; i < n; i++)
            dst[i] = half(halves[i]);
    else
        for (int64_t i = 0; i < n; i++)
            dst[i] = single((uint32_t)halves[i] << 16);
}

/* --- rows --------------------------------------------------------------------------------------- */

typedef struct {
    float *dst;
    const ld_rows *x;
    const int32_t *ids; /* NULL: those from `first` on */
    int64_t first;
} gathering;

LD_CLONES(gather_rows)
{
    const gathering *p = ctx;
    for (int64_t i = begin; i < end; i++)
        convert(p->dst + i * p->x->n_cols, p->x, (p->ids ? p->ids[i] : p->first + i) * p->x->n_cols,
                p->x->n_cols);
}

static ld_status gather(ld_tensor **out, const ld_rows *x, const int32_t *ids, int64_t first,
                        int64_t count)
{
    ld_tensor *t = NULL;
    ld_status st;
    LD_TRY(ld_tensor_new(&t, 2, count, x->n_cols));
    if (x->mapping && !ids)
        ld_mapping_advise(x->mapping, LD_ACCESS_SEQUENTIAL);
    st = ld_parallel_for(count, GRAIN, gather_rows, &(gathering){t->data, x, ids, first});
    if (x->mapping && !ids)
        ld_mapping_advise(x->mapping, LD_ACCESS_RANDOM);
    if (st == LD_OK)
        *out = ld_tensor_ref(t);
done:
    ld_tensor_unref(t);
    return st;
}

ld_status ld_rows_gather(ld_tensor **out, const ld_rows *x, const ld_index *ids)
{
    ld_status st = ld_index_check(ids, 0, x->n_rows, "rows: row");
    return st == LD_OK ? gather(out, x, ids->data, 0, ids->size) : st;
}

ld_status ld_rows_slice(ld_tensor **out, const ld_rows *x, int64_t first, int64_t count)
{
    if (first < 0 || count < 0 || first > x->n_rows - count)
        return ld_fail(LD_RANGE, "slice: rows %" PRId64 "..%" PRId64 " of %" PRId64, first + 1,
                       first + count, x->n_rows);
    return gather(out, x, NULL, first, count);
}

ld_status ld_rows_prefetch(const ld_rows *x, const ld_index *ids)
{
    ld_status st = ld_index_check(ids, 0, x->n_rows, "prefetch: row");
    if (st == LD_OK && x->mapping)
        ld_mapping_prefetch(x->mapping, x->data, x->n_cols * ld_number_size(x->number), ids->data,
                            ids->size);
    return st;
}

/* --- all of them -------------------------------------------------------------------------------- */

typedef struct {
    const ld_rows *x;
    _Atomic int64_t first; /* the least position found, or the number of elements */
} search;

static void find_not_finite(void *ctx, int64_t begin, int64_t end)
{
    search *p = ctx;
    int64_t cols = p->x->n_cols;
    for (int64_t i = begin * cols; i < end * cols && i < p->first; i++) {
        float value;
        convert(&value, p->x, i, 1);
        if (isfinite(value))
            continue;
        for (int64_t least = p->first;
             i < least && !atomic_compare_exchange_weak(&p->first, &least, i);)
            continue;
    }
}

ld_status ld_rows_not_finite(int64_t *position, float *value, const ld_rows *x)
{
    search p = {.x = x};
    int64_t size = x->n_rows * x->n_cols;
    atomic_init(&p.first, size);
    if (x->mapping)
        ld_mapping_advise(x->mapping, LD_ACCESS_SEQUENTIAL);
    ld_status st = ld_parallel_for(x->n_rows, SCAN_GRAIN, find_not_finite, &p);
    if (x->mapping)
        ld_mapping_advise(x->mapping, LD_ACCESS_RANDOM);
    *position = p.first < size ? p.first : -1;
    if (*position >= 0)
        convert(value, x, *position, 1);
    return st;
}

ld_status ld_rows_hash(uint64_t *hash, const ld_rows *x)
{
    *hash = ld_hash_word(ld_hash_word(LD_HASH_SEED, (uint64_t)x->n_rows), (uint64_t)x->n_cols);
    *hash = ld_hash_word(*hash, (uint64_t)x->number);
    if (x->mapping)
        ld_mapping_advise(x->mapping, LD_ACCESS_SEQUENTIAL);
    ld_status st =
        ld_hash_bytes(hash, x->data, (size_t)(x->n_rows * x->n_cols * ld_number_size(x->number)));
    if (x->mapping)
        ld_mapping_advise(x->mapping, LD_ACCESS_RANDOM);
    return st;
}

/* Gathers, copies, searches and hashes stored rows, in parallel. */
#include <inttypes.h>
#include <string.h>

#include "base/float16.h"
#include "memory/hash.h"
#include "memory/memory.h"
#include "system/simd.h"
#include "system/threads.h"
#include "tensor/shared_product.h"
#include "tensor/stored_rows.h"

enum { GRAIN = 64, SCAN_GRAIN = 1 << 12, PIECE = 256 };

static void advise(const ld_rows *x, ld_access access)
{
    if (x->mapping)
        ld_mapping_advise(x->mapping, access);
    for (int i = 0; i < x->n_parts; i++)
        advise(x->parts[i].rows, access);
}

/* --- numbers ---------------------------------------------------------------------------------- */

/* Converts n numbers at src to floats. */
static LD_INLINE void convert(float *dst, ld_number number, const void *src, int64_t n)
{
    const uint16_t *halves = src;
    if (number == LD_FLOAT32)
        memcpy(dst, src, (size_t)n * sizeof *dst);
    else if (number == LD_FLOAT16)
        for (int64_t i = 0; i < n; i++)
            dst[i] = ld_float_of_float16(halves[i]);
    else
        for (int64_t i = 0; i < n; i++)
            dst[i] = ld_float_of_bfloat16(halves[i]);
}

/* --- rows ------------------------------------------------------------------------------------- */

typedef struct {
    void *dst;
    const ld_rows *x;
    const int32_t *ids; /* NULL for the rows from `first` on */
    int64_t first;
    _Atomic int64_t absent; /* a row that is not here, or -1 */
} gathering;

/* Returns the memory of row i of those that are gathered. */
static inline const void *row_of(gathering *p, int64_t i)
{
    int64_t row = p->ids ? p->ids[i] : p->first + i;
    const void *found = ld_rows_at(p->x, row);
    if (!found)
        p->absent = row;
    return found;
}

LD_CLONES(gather_rows)
{
    gathering *p = ctx;
    for (int64_t i = begin; i < end; i++) {
        const void *row = row_of(p, i);
        if (row)
            convert((float *)p->dst + i * p->x->n_cols, p->x->number, row, p->x->n_cols);
    }
}

static void copy_rows(void *ctx, int64_t begin, int64_t end)
{
    gathering *p = ctx;
    size_t size = (size_t)(p->x->n_cols * ld_number_size(p->x->number));
    for (int64_t i = begin; i < end; i++) {
        const void *row = row_of(p, i);
        if (row)
            memcpy((char *)p->dst + (size_t)i * size, row, size);
    }
}

static ld_status each_row(void *dst, const ld_rows *x, const int32_t *ids, int64_t first,
                          int64_t count, ld_loop_fn *of_rows)
{
    gathering p = {.dst = dst, .x = x, .ids = ids, .first = first};
    atomic_init(&p.absent, -1);
    if (!ids)
        advise(x, LD_ACCESS_SEQUENTIAL);
    ld_status st = ld_parallel_for(count, GRAIN, of_rows, &p);
    if (!ids)
        advise(x, LD_ACCESS_RANDOM);
    return st == LD_OK && p.absent >= 0 ? ld_rows_absent(x, p.absent) : st;
}

/* Gathers rows begin .. end - 1 of those that all processes gather together. */
static ld_status gather_own(void *ctx, int64_t begin, int64_t end)
{
    const gathering *p = ctx;
    return each_row((float *)p->dst + begin * p->x->n_cols, p->x, p->ids ? p->ids + begin : NULL,
                    p->first + begin, end - begin, gather_rows);
}

/* Computes which of `count` rows from `first` on each process has. */
static void clip_bounds(int64_t *bounds, const ld_rows *x, int64_t first, int64_t count)
{
    for (int r = 0; r <= x->n_owners; r++) {
        int64_t at = x->bounds[r] - first;
        bounds[r] = at < 0 ? 0 : at > count ? count : at;
    }
}

/* Groups the ids by the processes that have their rows; places[i] is the place of ids[i] among
 * them. */
static void group_by_owner(int32_t *grouped, int64_t *places, int64_t *bounds, const ld_rows *x,
                           const int32_t *ids, int64_t count)
{
    memset(bounds, 0, ((size_t)x->n_owners + 1) * sizeof *bounds);
    for (int64_t i = 0; i < count; i++)
        places[i] = bounds[ld_rows_owner(x, ids[i]) + 1]++;
    for (int r = 0; r < x->n_owners; r++)
        bounds[r + 1] += bounds[r];
    for (int64_t i = 0; i < count; i++) {
        places[i] += bounds[ld_rows_owner(x, ids[i])];
        grouped[places[i]] = ids[i];
    }
}

/* Copies the rows of t at these places to dst. */
static void put_back(ld_tensor *dst, const ld_tensor *t, const int64_t *places)
{
    for (int64_t i = 0; i < dst->n_rows; i++)
        memcpy(dst->data + i * dst->n_cols, t->data + places[i] * t->n_cols,
               (size_t)t->n_cols * sizeof *t->data);
}

/* Gathers rows that several processes have; all of them gather the same rows. */
static ld_status gather_together(ld_tensor *out, const ld_rows *x, const int32_t *ids,
                                 int64_t first)
{
    int64_t count = out->n_rows;
    LD_FREED int64_t *bounds = ld_alloc_array(x->n_owners + 1, sizeof *bounds, LD_MEM_SCRATCH);
    if (!bounds)
        return LD_NOMEM;
    if (!ids) {
        clip_bounds(bounds, x, first, count);
        return ld_share_own(out, bounds, gather_own,
                            &(gathering){.dst = out->data, .x = x, .first = first});
    }
    LD_FREED int32_t *grouped = ld_alloc_array(count + 1, sizeof *grouped, LD_MEM_SCRATCH);
    LD_FREED int64_t *places = ld_alloc_array(count + 1, sizeof *places, LD_MEM_SCRATCH);
    if (!grouped || !places)
        return LD_NOMEM;
    group_by_owner(grouped, places, bounds, x, ids, count);
    LD_OWN(ld_tensor) *t = NULL;
    LD_CHECK(ld_tensor_new(&t, 2, count, x->n_cols));
    LD_CHECK(
        ld_share_own(t, bounds, gather_own, &(gathering){.dst = t->data, .x = x, .ids = grouped}));
    put_back(out, t, places);
    return LD_OK;
}

static ld_status gather(ld_tensor **out, const ld_rows *x, const int32_t *ids, int64_t first,
                        int64_t count)
{
    int size;
    LD_OWN(ld_tensor) *t = NULL;
    LD_CHECK(ld_tensor_new(&t, 2, count, x->n_cols));
    if (x->bounds && ld_share_is_on(&size) && size == x->n_owners)
        LD_CHECK(gather_together(t, x, ids, first));
    else
        LD_CHECK(each_row(t->data, x, ids, first, count, gather_rows));
    *out = ld_take(&t);
    return LD_OK;
}

ld_status ld_rows_copy(void *dst, const ld_rows *x, const int32_t *ids, int64_t n)
{
    return each_row(dst, x, ids, 0, n, copy_rows);
}

ld_status ld_rows_gather(ld_tensor **out, const ld_rows *x, const ld_index *ids)
{
    LD_CHECK(ld_index_check(ids, 0, x->n_rows, "rows: row"));
    return gather(out, x, ids->data, 0, ids->size);
}

ld_status ld_rows_slice(ld_tensor **out, const ld_rows *x, int64_t first, int64_t count)
{
    if (first < 0 || count < 0 || first > x->n_rows - count)
        return ld_fail(LD_RANGE, "slice: rows %" PRId64 "..%" PRId64 " of %" PRId64, first + 1,
                       first + count, x->n_rows);
    return gather(out, x, NULL, first, count);
}

/* Prefetches the rows `ids` that are among the parts; rows in memory need nothing. */
static ld_status prefetch_parts(const ld_rows *x, const int32_t *ids, int64_t n)
{
    LD_FREED int32_t *own = ld_alloc_array(n + 1, sizeof *own, LD_MEM_SCRATCH);
    if (!own)
        return LD_NOMEM;
    for (int i = 0; i < x->n_parts; i++) {
        const ld_rows_part *part = &x->parts[i];
        int64_t count = 0;
        if (part->ids || !part->rows->mapping)
            continue;
        for (int64_t k = 0; k < n; k++)
            if (ids[k] >= part->first && ids[k] - part->first < part->rows->n_rows)
                own[count++] = (int32_t)(ids[k] - part->first);
        LD_CHECK(ld_mapping_prefetch(part->rows->mapping, part->rows->data,
                                     x->n_cols * ld_number_size(x->number), NULL, own, count));
    }
    return LD_OK;
}

ld_status ld_rows_prefetch(const ld_rows *x, const ld_index *ids)
{
    ld_status st = ld_index_check(ids, 0, x->n_rows, "prefetch: row");
    if (st == LD_OK && x->mapping)
        st = ld_mapping_prefetch(x->mapping, x->data, x->n_cols * ld_number_size(x->number), NULL,
                                 ids->data, ids->size);
    return st == LD_OK && x->n_parts > 0 ? prefetch_parts(x, ids->data, ids->size) : st;
}

/* --- all of them ------------------------------------------------------------------------------ */

typedef struct {
    const ld_rows *x;
    _Atomic int64_t first; /* the least position found, or the number of elements */
} search;

static void find_not_finite(void *ctx, int64_t begin, int64_t end)
{
    search *p = ctx;
    int64_t cols = p->x->n_cols, size = ld_number_size(p->x->number);
    float piece[PIECE];
    for (int64_t i = begin; i < end && i * cols < p->first; i++) {
        const char *row = ld_rows_at(p->x, i);
        for (int64_t j = 0; row && j < cols; j += PIECE) {
            int64_t n = cols - j < PIECE ? cols - j : PIECE;
            convert(piece, p->x->number, row + j * size, n);
            int64_t place = ld_first_not_finite(piece, n);
            if (place < 0)
                continue;
            ld_note_least(&p->first, i * cols + j + place);
            return;
        }
    }
    const char *data = p->x->data;
    if (p->x->mapping)
        ld_mapping_forget(p->x->mapping, data + begin * cols * size, data + end * cols * size);
}

ld_status ld_rows_not_finite(int64_t *position, float *value, const ld_rows *x)
{
    search p = {.x = x};
    int64_t cols = x->n_cols, size = x->n_rows * cols;
    atomic_init(&p.first, size);
    advise(x, LD_ACCESS_SEQUENTIAL);
    ld_status st = ld_parallel_for(x->n_rows, SCAN_GRAIN, find_not_finite, &p);
    advise(x, LD_ACCESS_RANDOM);
    *position = p.first < size ? p.first : -1;
    if (*position >= 0)
        convert(value, x->number,
                (const char *)ld_rows_at(x, *position / cols) +
                    *position % cols * ld_number_size(x->number),
                1);
    return st;
}

static ld_status hash_parts(uint64_t *hash, const ld_rows *x)
{
    for (int i = 0; i < x->n_parts; i++) {
        uint64_t of_part, of_ids = (uint64_t)x->parts[i].first;
        if (x->parts[i].ids)
            LD_CHECK(ld_index_hash(&of_ids, x->parts[i].ids));
        LD_CHECK(ld_rows_hash(&of_part, x->parts[i].rows));
        *hash = ld_hash_word(ld_hash_word(*hash, of_ids), of_part);
    }
    return LD_OK;
}

/* Reads elements as floats, for ld_hash_given. */
static const void *read_floats(const void *ctx, size_t first, size_t size, void *buffer)
{
    const ld_rows *x = ctx;
    size_t element = first / sizeof(float);
    convert(buffer, x->number, (const char *)x->data + element * (size_t)ld_number_size(x->number),
            (int64_t)(size / sizeof(float)));
    return buffer;
}

static void forget_floats(const void *ctx, size_t begin, size_t end)
{
    const ld_rows *x = ctx;
    const char *data = x->data;
    size_t size = (size_t)ld_number_size(x->number);
    if (x->mapping)
        ld_mapping_forget(x->mapping, data + begin / sizeof(float) * size,
                          data + end / sizeof(float) * size);
}

ld_status ld_rows_hash(uint64_t *hash, const ld_rows *x)
{
    if (x->parts) {
        *hash = ld_hash_word(ld_hash_word(LD_HASH_SEED, (uint64_t)x->n_rows), (uint64_t)x->n_cols);
        *hash = ld_hash_word(*hash, (uint64_t)x->number);
        return hash_parts(hash, x);
    }
    *hash = ld_tensor_hash_begin(2, x->n_rows, x->n_cols);
    advise(x, LD_ACCESS_SEQUENTIAL);
    ld_status st = ld_hash_given(hash, (size_t)(x->n_rows * x->n_cols) * sizeof(float), read_floats,
                                 forget_floats, x);
    advise(x, LD_ACCESS_RANDOM);
    return st;
}

/* Vectors of int32: making them, and looking for elements, duplicates and groups in them. */
#include "tensor/index.h"

#include <inttypes.h>
#include <string.h>

#include "base/sort.h"
#include "memory/hash.h"
#include "memory/memory.h"

static ld_status check_size(int64_t size)
{
    if (size < 0 || size > INT32_MAX)
        return ld_fail(LD_SHAPE, "index: the length must be 0 to %d, got %" PRId64, INT32_MAX,
                       size);
    return LD_OK;
}

/* Makes a vector of a length that was checked over `data`. This is a block, which the vector takes,
 * freeing it after a failure too, or memory in a mapping. */
static ld_status header_new(ld_index **out, int32_t *data, int64_t size, ld_mapping *mapping)
{
    ld_index *x = ld_alloc(sizeof *x, LD_MEM_INDEX);
    if (!x) {
        if (!mapping)
            ld_free(data);
        return LD_NOMEM;
    }
    atomic_init(&x->refs, 1);
    x->size = size;
    x->data = data;
    x->mapping = mapping ? ld_mapping_ref(mapping) : NULL;
    atomic_init(&x->distinct, false);
    *out = x;
    return LD_OK;
}

ld_status ld_index_new(ld_index **out, int64_t size)
{
    LD_CHECK(check_size(size));
    int32_t *block = ld_alloc_array(size, sizeof *block, LD_MEM_INDEX);
    return block ? header_new(out, block, size, NULL) : LD_NOMEM;
}

ld_status ld_index_of_block(ld_index **out, int32_t *block, int64_t size)
{
    LD_FREED int32_t *given = block;
    LD_CHECK(check_size(size));
    return header_new(out, ld_take(&given), size, NULL);
}

ld_status ld_index_over(ld_index **out, int64_t size, int32_t *data, ld_mapping *mapping)
{
    LD_CHECK(check_size(size));
    return header_new(out, data, size, mapping);
}

ld_index *ld_index_ref(ld_index *x)
{
    if (x)
        atomic_fetch_add_explicit(&x->refs, 1, memory_order_relaxed);
    return x;
}

void ld_index_unref(ld_index *x)
{
    if (x && atomic_fetch_sub_explicit(&x->refs, 1, memory_order_acq_rel) == 1) {
        if (x->mapping)
            ld_mapping_unref(x->mapping);
        else
            ld_free(x->data);
        ld_free(x);
    }
}

ld_status ld_index_range(ld_index **out, int32_t first, int64_t size)
{
    ld_index *x;
    if (size > 0 && first > INT32_MAX - size + 1)
        return ld_fail(LD_RANGE, "range: %" PRId64 " numbers from %" PRId32 " pass %d", size, first,
                       INT32_MAX);
    LD_CHECK(ld_index_new(&x, size));
    for (int64_t i = 0; i < size; i++)
        x->data[i] = (int32_t)(first + i);
    *out = x;
    return LD_OK;
}

ld_status ld_index_gather(ld_index **out, const ld_index *source, const ld_index *pick)
{
    ld_index *x;
    LD_CHECK(ld_index_check(pick, 0, source->size, "index: position"));
    LD_CHECK(ld_index_new(&x, pick->size));
    for (int64_t i = 0; i < pick->size; i++)
        x->data[i] = source->data[pick->data[i]];
    atomic_init(&x->distinct, source->distinct && pick->distinct);
    *out = x;
    return LD_OK;
}

ld_status ld_index_slice(ld_index **out, const ld_index *x, int64_t first, int64_t count)
{
    if (first < 0 || count < 0 || first > x->size - count)
        return ld_fail(LD_RANGE, "slice: elements %" PRId64 "..%" PRId64 " of an index of %" PRId64,
                       first + 1, first + count, x->size);
    LD_CHECK(ld_index_new(out, count));
    memcpy((*out)->data, x->data + first, (size_t)count * sizeof *x->data);
    return LD_OK;
}

ld_status ld_index_concat(ld_index **out, ld_index *const *parts, int64_t n)
{
    int64_t size = 0;
    for (int64_t i = 0; i < n; i++)
        size += parts[i]->size;
    ld_status st = ld_index_new(out, size);
    size = 0;
    for (int64_t i = 0; st == LD_OK && i < n; i++) {
        memcpy((*out)->data + size, parts[i]->data, (size_t)parts[i]->size * sizeof *(*out)->data);
        size += parts[i]->size;
    }
    return st;
}

ld_status ld_index_sort(ld_index **out, const ld_index *x)
{
    LD_CHECK(ld_index_slice(out, x, 0, x->size));
    ld_sort_int32((*out)->data, x->size);
    return LD_OK;
}

/* A hash table of the positions at which values first occurred (open addressing). Its size goes
 * with the length of the vectors, however large the ids in them are. */
typedef struct {
    int32_t *slots; /* positions in `values`; -1 = free */
    uint32_t mask;
    const int32_t *values;
} positions;

enum { TABLE_BITS = 64 }; /* that a hash table takes for each position, at least */

static ld_status positions_new(positions *p, const ld_index *x)
{
    int64_t capacity = 16;
    while (capacity < 2 * x->size)
        capacity *= 2;
    p->slots = ld_alloc_array(capacity, sizeof *p->slots, LD_MEM_SCRATCH);
    if (!p->slots)
        return LD_NOMEM;
    memset(p->slots, 0xff, (size_t)capacity * sizeof *p->slots);
    p->mask = (uint32_t)(capacity - 1);
    p->values = x->data;
    return LD_OK;
}

static void positions_clear(positions *p)
{
    ld_free(p->slots);
}

/* The slot of a value, or the free one where it would go. */
static int32_t *positions_find(const positions *p, int32_t value)
{
    uint64_t hash = (uint32_t)value * 0x9E3779B97F4A7C15u;
    uint32_t at = (uint32_t)(hash >> 32) & p->mask;
    while (p->slots[at] >= 0 && p->values[p->slots[at]] != value)
        at = (at + 1) & p->mask;
    return &p->slots[at];
}

ld_status ld_index_unique(ld_index **out, const ld_index *x)
{
    LD_CLEANED(positions_clear) positions seen = {0};
    ld_index *u;
    LD_CHECK(positions_new(&seen, x));
    LD_CHECK(ld_index_new(&u, x->size));
    u->size = 0;
    for (int64_t i = 0; i < x->size; i++) {
        int32_t *slot = positions_find(&seen, x->data[i]);
        if (*slot < 0) {
            *slot = (int32_t)i;
            u->data[u->size++] = x->data[i];
        }
    }
    atomic_init(&u->distinct, true);
    *out = u;
    return LD_OK;
}

ld_status ld_index_find(ld_index **out, const ld_index *a, const ld_index *b, ld_absent absent)
{
    LD_CLEANED(positions_clear) positions where = {0};
    LD_OWN(ld_index) *found = NULL;
    LD_CHECK(positions_new(&where, a));
    LD_CHECK(ld_index_new(&found, b->size));
    for (int64_t i = 0; i < a->size; i++) {
        int32_t *slot = positions_find(&where, a->data[i]);
        if (*slot < 0)
            *slot = (int32_t)i;
    }
    found->size = 0;
    for (int64_t i = 0; i < b->size; i++) {
        int32_t position = *positions_find(&where, b->data[i]);
        if (position < 0 && absent == LD_ABSENT_ERROR)
            return ld_fail(LD_RANGE, "find: id %" PRId64 " at position %" PRId64 " is not there",
                           (int64_t)b->data[i] + 1, i + 1);
        if (position >= 0 || absent == LD_ABSENT_NONE)
            found->data[found->size++] = position;
    }
    *out = ld_take(&found);
    return LD_OK;
}

ld_status ld_index_extreme(int32_t *out, const ld_index *x, int sign)
{
    if (x->size == 0)
        return ld_fail(LD_VALUE, "an empty Index has no largest or smallest element");
    int32_t best = x->data[0];
    if (sign > 0) /* two loops, which compilers turn into vector instructions */
        for (int64_t i = 1; i < x->size; i++)
            best = x->data[i] > best ? x->data[i] : best;
    else
        for (int64_t i = 1; i < x->size; i++)
            best = x->data[i] < best ? x->data[i] : best;
    *out = best;
    return LD_OK;
}

ld_status ld_index_counts(ld_index **out, const ld_index *x, int64_t n_ids)
{
    LD_CHECK(ld_index_check(x, -1, n_ids, "counts: id"));
    LD_CHECK(ld_index_new(out, n_ids));
    memset((*out)->data, 0, (size_t)n_ids * sizeof *(*out)->data);
    for (int64_t i = 0; i < x->size; i++)
        if (x->data[i] >= 0)
            (*out)->data[x->data[i]]++;
    return LD_OK;
}

ld_status ld_index_repeated(ld_index **out, const ld_index *x)
{
    int64_t size = 0;
    for (int64_t i = 0; i < x->size; i++)
        size += (int64_t)x->data[i] + 1;
    LD_CHECK(ld_index_new(out, size));
    int32_t *at = (*out)->data;
    for (int64_t i = 0; i < x->size; i++)
        for (int32_t k = 0; k <= x->data[i]; k++)
            *at++ = (int32_t)i;
    return LD_OK;
}

/* Groups by a counting sort, which takes time in proportion to x->size + n_ids. */
ld_status ld_index_group(ld_index **order, ld_index **ends, const ld_index *x, int64_t n_ids)
{
    LD_OWN(ld_index) *sorted = NULL;
    ld_index *at;
    LD_CHECK(ld_index_check(x, 0, n_ids, "group: id"));
    LD_CHECK(ld_index_new(&sorted, x->size));
    LD_CHECK(ld_index_new(&at, n_ids + 1));
    memset(at->data, 0, (size_t)at->size * sizeof *at->data);
    for (int64_t i = 0; i < x->size; i++)
        at->data[x->data[i] + 1]++;
    for (int64_t id = 0; id < n_ids; id++)
        at->data[id + 1] += at->data[id];
    for (int64_t i = 0; i < x->size; i++) /* at[id] moves to the end of id's run ... */
        sorted->data[at->data[x->data[i]]++] = (int32_t)i;
    for (int64_t id = n_ids; id > 0; id--) /* ... which is where the next one begins */
        at->data[id] = at->data[id - 1];
    at->data[0] = 0;
    *order = ld_take(&sorted);
    *ends = at;
    return LD_OK;
}

/* Shuffles forwards as Fisher and Yates do: after i steps the first i places are a uniform draw. */
ld_status ld_index_permutation(ld_index **out, int64_t n, int64_t k, ld_rng *rng)
{
    ld_index *x;
    LD_CHECK(ld_index_range(&x, 0, n));
    ld_stream s = ld_rng_next(rng);
    for (int64_t i = 0; i < k; i++) {
        int64_t j = i + (int64_t)ld_random_below(s, (uint64_t)i, (uint64_t)(n - i));
        int32_t swap = x->data[i];
        x->data[i] = x->data[j];
        x->data[j] = swap;
    }
    x->size = k;
    *out = x;
    return LD_OK;
}

/* True when all elements lie in low .. high - 1. */
static bool is_within(const ld_index *x, int64_t low, int64_t high)
{
    int32_t least = INT32_MAX, most = INT32_MIN;
    for (int64_t i = 0; i < x->size; i++) {
        least = x->data[i] < least ? x->data[i] : least;
        most = x->data[i] > most ? x->data[i] : most;
    }
    return x->size == 0 || (least >= low && most < high);
}

ld_status ld_index_check(const ld_index *x, int64_t low, int64_t high, const char *what)
{
    if (is_within(x, low, high))
        return LD_OK;
    for (int64_t i = 0; i < x->size; i++) {
        if (x->data[i] < low || x->data[i] >= high) {
            if (high <= low)
                return ld_fail(LD_RANGE,
                               "%s %" PRId64 " at position %" PRId64
                               " is out of range: there are none",
                               what, (int64_t)x->data[i] + 1, i + 1);
            return ld_fail(LD_RANGE,
                           "%s %" PRId64 " at position %" PRId64 " is out of range %" PRId64
                           "..%" PRId64,
                           what, (int64_t)x->data[i] + 1, i + 1, low + 1, high);
        }
    }
    return LD_OK;
}

/* Looks for an id that occurs twice, with a bit for each of 0 .. largest. That is quicker than a
 * hash table, but too much memory where the ids are few and large. */
static ld_status check_by_bits(bool *distinct, const ld_index *x, uint32_t largest)
{
    LD_FREED uint64_t *seen = ld_calloc_array(largest / 64 + 1, sizeof *seen, LD_MEM_SCRATCH);
    if (!seen)
        return LD_NOMEM;
    *distinct = true;
    for (int64_t i = 0; i < x->size && *distinct; i++) {
        uint32_t id = (uint32_t)x->data[i];
        *distinct = !(seen[id / 64] >> id % 64 & 1);
        seen[id / 64] |= (uint64_t)1 << id % 64;
    }
    return LD_OK;
}

/* Fails with LD_VALUE and both positions when an id occurs twice, which a hash table finds. */
static ld_status check_by_table(const ld_index *x, const char *what)
{
    LD_CLEANED(positions_clear) positions seen = {0};
    LD_CHECK(positions_new(&seen, x));
    for (int64_t i = 0; i < x->size; i++) {
        int32_t *slot = positions_find(&seen, x->data[i]);
        if (*slot >= 0)
            return ld_fail(LD_VALUE,
                           "%s %" PRId64 " occurs twice, at positions %" PRId32 " and %" PRId64,
                           what, (int64_t)x->data[i] + 1, *slot + 1, i + 1);
        *slot = (int32_t)i;
    }
    return LD_OK;
}

static uint32_t largest_of(const ld_index *x)
{
    uint32_t largest = 0;
    for (int64_t i = 0; i < x->size; i++)
        largest = (uint32_t)x->data[i] > largest ? (uint32_t)x->data[i] : largest;
    return largest;
}

static void note_distinct(const ld_index *x)
{
    atomic_store(&((ld_index *)x)->distinct, true); /* nothing of its value changes */
}

ld_status ld_index_is_distinct(bool *distinct, const ld_index *x)
{
    *distinct = x->distinct;
    if (*distinct)
        return LD_OK;
    LD_CHECK(check_by_bits(distinct, x, largest_of(x)));
    if (*distinct)
        note_distinct(x);
    return LD_OK;
}

ld_status ld_index_check_unique(const ld_index *x, const char *what)
{
    bool distinct = x->distinct;
    if (distinct)
        return LD_OK;
    uint32_t largest = largest_of(x);
    if (largest / TABLE_BITS < x->size)
        LD_CHECK(check_by_bits(&distinct, x, largest));
    if (!distinct)
        LD_CHECK(check_by_table(x, what));
    note_distinct(x);
    return LD_OK;
}

bool ld_index_equal(const ld_index *a, const ld_index *b)
{
    return a->size == b->size && memcmp(a->data, b->data, (size_t)a->size * sizeof *a->data) == 0;
}

ld_status ld_index_hash(uint64_t *hash, const ld_index *x)
{
    *hash = ld_hash_word(LD_HASH_SEED, (uint64_t)x->size);
    return ld_hash_bytes(hash, x->data, (size_t)x->size * sizeof *x->data);
}

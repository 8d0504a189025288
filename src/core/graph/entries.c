/* Rows from unordered entries, in place: beside the entries themselves only a row number for each
 * is held, where ld_csr_from_coo works on copies. For graphs that take a good part of the memory.
 *
 * The entries are permuted to their rows by following cycles of exchanges (McIlroy, Bostic and
 * McIlroy 1993, "Engineering radix sort"), then each row is sorted by column. */
#include <string.h>

#include "base/memory.h"
#include "graph/csr.h"

enum { SHORT_ROW = 24, POLL = 4096 };

/* An entry as a key: the column, then the bits of the value, so that the order of the input does
 * not matter at all. */
static uint64_t pack(int32_t column, const float *value)
{
    uint32_t bits = 0;
    if (value)
        memcpy(&bits, value, sizeof bits);
    return (uint64_t)(uint32_t)column << 32 | bits;
}

static void insertion_sort(uint64_t *keys, int64_t n)
{
    for (int64_t i = 1; i < n; i++) {
        uint64_t key = keys[i];
        int64_t j = i;
        for (; j > 0 && keys[j - 1] > key; j--)
            keys[j] = keys[j - 1];
        keys[j] = key;
    }
}

/* Sorts n keys with room for n more; the sorted ones are in what is returned. */
static uint64_t *merge_sort(uint64_t *keys, uint64_t *spare, int64_t n)
{
    for (int64_t i = 0; i < n; i += SHORT_ROW)
        insertion_sort(keys + i, n - i < SHORT_ROW ? n - i : SHORT_ROW);
    for (int64_t run = SHORT_ROW; run < n; run *= 2) {
        for (int64_t first = 0; first < n; first += 2 * run) {
            int64_t middle = first + run < n ? first + run : n;
            int64_t end = middle + run < n ? middle + run : n;
            for (int64_t a = first, b = middle, to = first; to < end; to++)
                spare[to] = b == end || (a < middle && keys[a] <= keys[b]) ? keys[a++] : keys[b++];
        }
        uint64_t *swap = keys;
        keys = spare;
        spare = swap;
    }
    return keys;
}

/* Moves the entries to their rows, whose ends are in s->offsets. */
static void gather_rows(ld_structure *s, int32_t *rows, float *values, int32_t *next)
{
    int32_t *columns = s->columns;
    for (int64_t r = 0; r < s->n_rows; r++)
        next[r] = (int32_t)s->offsets[r];
    for (int64_t r = 0; r < s->n_rows; r++) {
        while (next[r] < s->offsets[r + 1]) {
            int32_t i = next[r], row = rows[i], to = next[row]++;
            rows[i] = rows[to];
            rows[to] = row;
            int32_t column = columns[i];
            columns[i] = columns[to];
            columns[to] = column;
            if (values) {
                float value = values[i];
                values[i] = values[to];
                values[to] = value;
            }
        }
    }
}

/* Writes sorted keys back from `to` on, those of one column as one entry; returns its end. */
static int64_t merge_equal(ld_structure *s, float *values, const uint64_t *keys, int64_t n,
                           int64_t to)
{
    for (int64_t i = 0; i < n; to++) {
        uint32_t column = (uint32_t)(keys[i] >> 32);
        double sum = 0;
        for (; i < n && keys[i] >> 32 == column; i++) {
            uint32_t bits = (uint32_t)keys[i];
            float value;
            memcpy(&value, &bits, sizeof value);
            sum += value;
        }
        s->columns[to] = (int32_t)column;
        if (values)
            values[to] = (float)sum;
    }
    return to;
}

static ld_status sort_rows(ld_structure *s, float *values, uint64_t *keys, uint64_t *spare)
{
    int64_t first = 0, to = 0;
    for (int64_t r = 0; r < s->n_rows; r++) {
        int64_t end = s->offsets[r + 1], n = end - first;
        ld_status st = r % POLL == 0 ? ld_poll() : LD_OK;
        if (st != LD_OK)
            return st;
        for (int64_t i = 0; i < n; i++)
            keys[i] = pack(s->columns[first + i], values ? values + first + i : NULL);
        to = merge_equal(s, values, merge_sort(keys, spare, n), n, to);
        s->offsets[r + 1] = to;
        first = end;
    }
    s->nnz = to;
    return LD_OK;
}

ld_status ld_csr_from_entries(ld_csr **out, ld_structure *s, int32_t *rows, ld_tensor *values)
{
    ld_tensor *kept = NULL;
    float *data = values ? values->data : NULL;
    int64_t longest = 0;
    ld_status st = LD_NOMEM;
    uint64_t *keys = NULL;
    int32_t *next = ld_alloc_array(s->n_rows, sizeof *next, LD_MEM_SCRATCH);
    if (!next)
        goto done;
    memset(s->offsets, 0, (size_t)(s->n_rows + 1) * sizeof *s->offsets);
    for (int64_t i = 0; i < s->nnz; i++)
        s->offsets[rows[i] + 1]++;
    for (int64_t r = 0; r < s->n_rows; r++) {
        longest = s->offsets[r + 1] > longest ? s->offsets[r + 1] : longest;
        s->offsets[r + 1] += s->offsets[r];
    }
    gather_rows(s, rows, data, next);
    keys = ld_alloc_array(2 * longest, sizeof *keys, LD_MEM_SCRATCH);
    if (!keys)
        goto done;
    LD_TRY(sort_rows(s, data, keys, keys + longest));
    if (values)
        LD_TRY(ld_tensor_slice(&kept, values, 0, s->nnz));
    LD_TRY(ld_csr_new(out, s, kept, NULL, NULL));
done:
    ld_tensor_unref(kept);
    ld_free(next);
    ld_free(keys);
    return st;
}

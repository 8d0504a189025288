/* Brings entries without an order into rows, in place. Beside the entries themselves only a row
 * number for each is held, since graphs may take a good part of the memory.
 *
 * The entries are exchanged into ranges of rows by following cycles (American flag sort: McIlroy,
 * Bostic and McIlroy 1993, "Engineering radix sort"); the ranges then fit a cache, and each is
 * brought into rows, and the rows sorted by column, by itself and in parallel. Last, the gaps that
 * merged entries left are closed. */
#include <string.h>

#include "base/sort.h"
#include "graph/csr.h"
#include "memory/memory.h"
#include "system/threads.h"

enum {
    RANGES = 256,
    RANGE_ENTRIES = 1 << 12, /* in a range, on average, at least */
    DIGITS = 256,
    ON_STACK = 512,
};

/* Packs an entry into a key: the column, then the bits of the value. So the order of the input does
 * not matter even where entries are merged. */
static uint64_t pack(int32_t column, const float *value)
{
    uint32_t bits = 0;
    if (value)
        memcpy(&bits, value, sizeof bits);
    return (uint64_t)(uint32_t)column << 32 | bits;
}

/* --- one row ---------------------------------------------------------------------------------- */

static void sort_few(int32_t *columns, float *values, int64_t n)
{
    uint64_t keys[ON_STACK];
    for (int64_t i = 0; i < n; i++)
        keys[i] = pack(columns[i], values ? values + i : NULL);
    ld_sort_uint64(keys, n);
    for (int64_t i = 0; i < n; i++) {
        uint32_t bits = (uint32_t)keys[i];
        columns[i] = (int32_t)(keys[i] >> 32);
        if (values)
            memcpy(values + i, &bits, sizeof bits);
    }
}

static int digit_of(int32_t column, const float *value, int shift)
{
    return (int)(pack(column, value) >> shift & (DIGITS - 1));
}

/* Sorts the entries of a row by the digits of their keys from bit `shift` on. */
static void sort_row(int32_t *columns, float *values, int64_t n, int shift)
{
    int64_t next[DIGITS], ends[DIGITS] = {0}, first = 0;
    if (n <= ON_STACK) {
        sort_few(columns, values, n);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        ends[digit_of(columns[i], values ? values + i : NULL, shift)]++;
    for (int d = 0; d < DIGITS; d++) {
        next[d] = first;
        first = ends[d] += first;
    }
    for (int d = 0; d < DIGITS; d++) {
        for (; next[d] < ends[d]; next[d]++) {
            int32_t column = columns[next[d]];
            float value = values ? values[next[d]] : 0;
            for (int at; (at = digit_of(column, values ? &value : NULL, shift)) != d;) {
                int64_t to = next[at]++;
                int32_t other = columns[to];
                columns[to] = column;
                column = other;
                if (values) {
                    float other_value = values[to];
                    values[to] = value;
                    value = other_value;
                }
            }
            columns[next[d]] = column;
            if (values)
                values[next[d]] = value;
        }
    }
    bool last = shift == 0 || (!values && shift == 32);
    first = 0;
    for (int d = 0; d < DIGITS && !last; first = ends[d++])
        if (ends[d] - first > 1)
            sort_row(columns + first, values ? values + first : NULL, ends[d] - first, shift - 8);
}

static bool is_sorted(const int32_t *columns, int64_t n)
{
    for (int64_t i = 1; i < n; i++)
        if (columns[i] <= columns[i - 1])
            return false;
    return true;
}

/* Copies n sorted entries from `from` on to `to`, and merges those of one column; returns their
 * end. */
static int64_t merge_equal(int32_t *columns, float *values, int64_t from, int64_t n, int64_t to)
{
    for (int64_t i = from, end = from + n; i < end; to++) {
        int32_t column = columns[i];
        double sum = 0;
        for (; i < end && columns[i] == column; i++)
            sum += values ? values[i] : 0;
        columns[to] = column;
        if (values)
            values[to] = (float)sum;
    }
    return to;
}

/* --- ranges of rows --------------------------------------------------------------------------- */

typedef struct {
    ld_structure *s;
    int32_t *rows;
    float *values;
    int64_t *next; /* where the next entry of each row goes */
    int shift;     /* row >> shift is the range that it is in */
    int64_t n_ranges;
    int64_t starts[RANGES + 1];
    int64_t ends[RANGES]; /* the end of each range's entries once equal ones are merged */
} builder;

/* Moves the entries of the ranges (or rows, with shift 0) first .. last - 1 to where they belong:
 * range k begins at next[k] and ends at ends[k + 1]. An entry takes the place of one that has to go
 * elsewhere itself, until the cycle closes. */
static void exchange(const builder *b, int64_t *next, const int64_t *ends, int64_t first,
                     int64_t last, int shift)
{
    int32_t *rows = b->rows, *columns = b->s->columns;
    float *values = b->values;
    for (int64_t k = first; k < last; k++) {
        while (next[k] < ends[k + 1]) {
            int64_t i = next[k], to;
            int32_t row = rows[i], column = columns[i];
            float value = values ? values[i] : 0;
            while ((to = next[row >> shift]++) != i) {
                int32_t other = rows[to], other_column = columns[to];
                rows[to] = row;
                columns[to] = column;
                row = other;
                column = other_column;
                if (values) {
                    float other_value = values[to];
                    values[to] = value;
                    value = other_value;
                }
            }
            rows[i] = row;
            columns[i] = column;
            if (values)
                values[i] = value;
        }
    }
}

static ld_status gather_ranges(builder *b)
{
    int64_t next[RANGES];
    if (b->n_ranges <= 1) {
        b->starts[b->n_ranges] = b->s->nnz;
        return LD_OK;
    }
    for (int64_t i = 0; i < b->s->nnz; i++)
        b->starts[(b->rows[i] >> b->shift) + 1]++;
    for (int64_t k = 0; k < b->n_ranges; k++) {
        next[k] = b->starts[k];
        b->starts[k + 1] += b->starts[k];
    }
    for (int64_t k = 0; k < b->n_ranges; k++) {
        exchange(b, next, b->starts, k, k + 1, b->shift);
        LD_CHECK(ld_poll());
    }
    return LD_OK;
}

/* Brings the entries of a range into its rows and computes their offsets, with the gaps before the
 * range not yet closed. The first row's own offset is written by the range before. */
static void order_range(const builder *b, int64_t k, int64_t first, int64_t last)
{
    int64_t *offsets = b->s->offsets, at = b->starts[k];
    for (int64_t r = first; r < last; r++)
        offsets[r + 1] = 0;
    for (int64_t i = at; i < b->starts[k + 1]; i++)
        offsets[b->rows[i] + 1]++;
    for (int64_t r = first; r < last; r++) {
        b->next[r] = at;
        at = offsets[r + 1] += at;
    }
    exchange(b, b->next, offsets, first, last, 0);
}

/* Sorts each row of a range and merges equal entries, which leaves a gap behind the last row. *kept
 * gets the end of the entries left. */
static void sort_range(const builder *b, int64_t k, int64_t first, int64_t last, int64_t *kept)
{
    ld_structure *s = b->s;
    int64_t from = b->starts[k], to = from;
    int top = 32 + (s->n_cols > 1 ? (31 - __builtin_clz((unsigned)s->n_cols - 1)) / 8 * 8 : 0);
    for (int64_t r = first; r < last; r++) {
        int64_t end = s->offsets[r + 1];
        int32_t *columns = s->columns + from;
        if (is_sorted(columns, end - from)) {
            if (to < from)
                memmove(s->columns + to, columns, (size_t)(end - from) * sizeof *columns);
            if (to < from && b->values)
                memmove(b->values + to, b->values + from, (size_t)(end - from) * sizeof(float));
            to += end - from;
        } else {
            sort_row(columns, b->values ? b->values + from : NULL, end - from, top);
            to = merge_equal(s->columns, b->values, from, end - from, to);
        }
        s->offsets[r + 1] = to;
        from = end;
    }
    *kept = to;
}

static void build_ranges(void *context, int64_t begin, int64_t end)
{
    builder *b = context;
    for (int64_t k = begin; k < end; k++) {
        int64_t first = k << b->shift, last = (k + 1) << b->shift;
        last = last < b->s->n_rows ? last : b->s->n_rows;
        if (b->rows)
            order_range(b, k, first, last);
        sort_range(b, k, first, last, &b->ends[k]);
    }
}

static void close_gaps(builder *b)
{
    ld_structure *s = b->s;
    int64_t to = 0;
    for (int64_t k = 0; k < b->n_ranges; k++) {
        int64_t from = b->starts[k], n = b->ends[k] - from;
        if (to < from) {
            memmove(s->columns + to, s->columns + from, (size_t)n * sizeof *s->columns);
            if (b->values)
                memmove(b->values + to, b->values + from, (size_t)n * sizeof *b->values);
            for (int64_t r = k << b->shift; r < s->n_rows && r < (k + 1) << b->shift; r++)
                s->offsets[r + 1] -= from - to;
        }
        to += n;
    }
    s->offsets[0] = 0;
    s->nnz = to;
}

/* Chooses the number of rows in a range: with few entries there are few ranges, as each costs
 * time. */
static void choose_ranges(builder *b)
{
    const ld_structure *s = b->s;
    int64_t most = s->nnz / RANGE_ENTRIES + 1;
    most = most < RANGES ? most : RANGES;
    while (s->n_rows > most << b->shift)
        b->shift++;
    b->n_ranges = ((s->n_rows - 1) >> b->shift) + 1;
}

/* Makes the matrix, once all entries are in the range of their row. */
static ld_status finish(ld_csr **out, builder *b, ld_tensor *values)
{
    LD_OWN(ld_tensor) *kept = NULL;
    LD_CHECK(ld_parallel_for(b->n_ranges, 1, build_ranges, b));
    close_gaps(b);
    if (values)
        LD_CHECK(ld_tensor_slice(&kept, values, 0, b->s->nnz));
    return ld_csr_new(out, b->s, kept, NULL, NULL);
}

ld_status ld_csr_from_entries(ld_csr **out, ld_structure *s, int32_t *rows, ld_tensor *values)
{
    builder b = {.s = s, .rows = rows, .values = values ? values->data : NULL};
    LD_FREED int64_t *next = ld_alloc_array(s->n_rows, sizeof *next, LD_MEM_SCRATCH);
    if (!next)
        return LD_NOMEM;
    b.next = next;
    choose_ranges(&b);
    LD_CHECK(gather_ranges(&b));
    return finish(out, &b, values);
}

ld_status ld_csr_from_rows(ld_csr **out, ld_structure *s, ld_tensor *values)
{
    builder b = {.s = s, .values = values ? values->data : NULL};
    choose_ranges(&b);
    for (int64_t k = 0; k <= b.n_ranges; k++) {
        int64_t first = k << b.shift;
        b.starts[k] = s->offsets[first < s->n_rows ? first : s->n_rows];
    }
    return finish(out, &b, values);
}

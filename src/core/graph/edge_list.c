#include "graph/edge_list.h"

#include <inttypes.h>
#include <string.h>

#include "memory/memory.h"

enum { DIGIT_BITS = 16, DIGITS = 1 << DIGIT_BITS };

/* --- order ------------------------------------------------------------------------------------ */

static ld_status check_lengths(ld_index *const *keys, int64_t n_keys, int64_t least,
                               const char *what)
{
    if (n_keys < least)
        return ld_fail(LD_SHAPE, "%s: %" PRId64 " keys, at least %" PRId64 " expected", what,
                       n_keys, least);
    for (int64_t k = 1; k < n_keys; k++)
        if (keys[k]->size != keys[0]->size)
            return ld_fail(LD_SHAPE, "%s: keys of %" PRId64 " and %" PRId64 " elements", what,
                           keys[0]->size, keys[k]->size);
    return LD_OK;
}

/* Returns the digit, for the radix sort, of element i that begins at bit `shift`. Elements are at
 * least -1. */
static uint32_t digit(const ld_index *key, int32_t i, int shift)
{
    return ((uint32_t)key->data[i] + 1) >> shift & (DIGITS - 1);
}

/* Orders the positions in `from` by one digit of a key, stably, into `to`. */
static void order_by_digit(const ld_index *key, int shift, const int32_t *from, int32_t *to,
                           int64_t *next)
{
    memset(next, 0, (DIGITS + 1) * sizeof *next);
    for (int64_t i = 0; i < key->size; i++)
        next[digit(key, (int32_t)i, shift) + 1]++;
    for (int d = 0; d < DIGITS; d++)
        next[d + 1] += next[d];
    for (int64_t i = 0; i < key->size; i++)
        to[next[digit(key, from[i], shift)]++] = from[i];
}

/* The keys come last to first, the digits of each lowest first, and each pass is stable. */
ld_status ld_edge_order(ld_index **out, ld_index *const *keys, int64_t n_keys)
{
    LD_CHECK(check_lengths(keys, n_keys, 1, "edge_order"));
    int64_t n = keys[0]->size;
    LD_OWN(ld_index) *order = NULL, *other = NULL;
    LD_FREED int64_t *next = ld_alloc_array(DIGITS + 1, sizeof *next, LD_MEM_SCRATCH);
    if (!next)
        return LD_NOMEM;
    LD_CHECK(ld_index_range(&order, 0, n));
    LD_CHECK(ld_index_new(&other, n));
    for (int64_t k = n_keys - 1; k >= 0 && n > 0; k--) {
        int32_t most;
        LD_CHECK(ld_index_extreme(&most, keys[k], 1));
        for (int shift = 0; shift < 32 && ((uint32_t)most + 1) >> shift; shift += DIGIT_BITS) {
            LD_CHECK(ld_poll());
            order_by_digit(keys[k], shift, order->data, other->data, next);
            ld_index *ordered = other;
            other = order;
            order = ordered;
        }
    }
    *out = ld_take(&order);
    return LD_OK;
}

/* --- reverses --------------------------------------------------------------------------------- */

/* Compares edge i with its ends exchanged with edge j. */
static int compare_reversed(ld_index *const *keys, int64_t n_keys, int32_t i, int32_t j)
{
    for (int64_t k = 0; k < n_keys; k++) {
        int32_t a = keys[k < 2 ? 1 - k : k]->data[i], b = keys[k]->data[j];
        if (a != b)
            return a < b ? -1 : 1;
    }
    return 0;
}

static bool has_reverse(ld_index *const *keys, int64_t n_keys, const ld_index *order, int32_t i)
{
    int64_t low = 0, high = order->size;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        int found = compare_reversed(keys, n_keys, i, order->data[middle]);
        if (found == 0)
            return true;
        if (found < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return false;
}

ld_status ld_edge_one_way(ld_index **out, ld_index *const *keys, int64_t n_keys)
{
    LD_OWN(ld_index) *order = NULL, *found = NULL;
    LD_CHECK(check_lengths(keys, n_keys, 2, "edge_one_way"));
    LD_CHECK(ld_edge_order(&order, keys, n_keys));
    LD_CHECK(ld_index_new(&found, order->size));
    int64_t n = 0;
    for (int64_t i = 0; i < order->size; i++) {
        LD_CHECK(ld_poll_at(i));
        if (keys[0]->data[i] != keys[1]->data[i] && !has_reverse(keys, n_keys, order, (int32_t)i))
            found->data[n++] = (int32_t)i;
    }
    found->size = n;
    *out = ld_take(&found);
    return LD_OK;
}

/* --- matrices --------------------------------------------------------------------------------- */

ld_status ld_csr_from_list(ld_csr **out, ld_index **order, int64_t n_rows, int64_t n_cols,
                           ld_index *rows, ld_index *cols, const ld_tensor *values)
{
    LD_OWN(ld_structure) *s = NULL;
    LD_OWN(ld_tensor) *own = NULL;
    LD_OWN(ld_index) *found = NULL;
    ld_index *keys[] = {rows, cols};
    if (cols->size != rows->size || (values && (values->ndim != 1 || values->n_rows != rows->size)))
        return ld_fail(LD_SHAPE, "edge_matrix: %" PRId64 " rows, %" PRId64 " columns and %s values",
                       rows->size, cols->size, values ? ld_tensor_shape(values) : "no");
    LD_CHECK(ld_structure_check(n_rows, n_cols, rows->size));
    LD_CHECK(ld_index_check(rows, 0, n_rows, "edge_matrix: row"));
    LD_CHECK(ld_index_check(cols, 0, n_cols, "edge_matrix: column"));
    LD_CHECK(ld_edge_order(&found, keys, 2));
    LD_CHECK(ld_structure_new(&s, n_rows, n_cols, rows->size, false));
    memset(s->offsets, 0, (size_t)(n_rows + 1) * sizeof *s->offsets);
    for (int64_t e = 0; e < rows->size; e++) {
        s->columns[e] = cols->data[found->data[e]];
        s->offsets[rows->data[e] + 1]++;
    }
    for (int64_t r = 0; r < n_rows; r++)
        s->offsets[r + 1] += s->offsets[r];
    LD_CHECK(ld_tensor_pick(&own, values, found));
    LD_CHECK(ld_csr_new(out, s, own, NULL, NULL));
    *order = ld_take(&found);
    return LD_OK;
}

static bool is_ordered(const ld_structure *s)
{
    for (int64_t r = 0; r < s->n_rows; r++)
        for (int64_t e = s->offsets[r] + 1; e < s->offsets[r + 1]; e++)
            if (s->columns[e] < s->columns[e - 1])
                return false;
    return true;
}

ld_status ld_csr_ordered(ld_csr **out, ld_csr *a)
{
    if (!ld_structure_is_canonical(a->s) && is_ordered(a->s)) {
        *out = ld_csr_ref(a);
        return LD_OK;
    }
    return ld_csr_canonical(out, a);
}

/* Finds for each entry of row r of p its place among the entries of a, -1 for a self-loop that only
 * p has, in one pass: the columns of both rows ascend. */
static ld_status align_row(int32_t *at, const ld_structure *p, const ld_structure *a, int64_t r)
{
    int64_t j = a->offsets[r], end = a->offsets[r + 1];
    for (int64_t e = p->offsets[r]; e < p->offsets[r + 1]; e++) {
        int32_t c = p->columns[e];
        while (j < end && a->columns[j] < c)
            j++;
        if (j < end && a->columns[j] == c)
            at[e] = (int32_t)j++;
        else if (c == r)
            at[e] = -1;
        else
            return ld_fail(LD_VALUE,
                           "align: entry (%" PRId64 ", %" PRId64 ") is none of the graph's edges",
                           r + 1, (int64_t)c + 1);
    }
    return LD_OK;
}

ld_status ld_csr_align(ld_index **out, const ld_csr *p, const ld_csr *a)
{
    LD_OWN(ld_index) *found = NULL;
    if (p->s->n_rows != a->s->n_rows || p->s->n_cols != a->s->n_cols)
        return ld_fail(LD_SHAPE, "align: %" PRId64 " x %" PRId64 " and %" PRId64 " x %" PRId64,
                       p->s->n_rows, p->s->n_cols, a->s->n_rows, a->s->n_cols);
    if (!is_ordered(p->s) || !is_ordered(a->s))
        return ld_fail(LD_VALUE,
                       "align: rows whose columns ascend expected, as those of a slice may "
                       "not");
    LD_CHECK(ld_structure_check_positions(p->s, "align"));
    LD_CHECK(ld_structure_check_positions(a->s, "align"));
    LD_CHECK(ld_index_new(&found, p->s->nnz));
    for (int64_t r = 0; r < p->s->n_rows; r++) {
        LD_CHECK(ld_poll_at(r));
        LD_CHECK(align_row(found->data, p->s, a->s, r));
    }
    *out = ld_take(&found);
    return LD_OK;
}

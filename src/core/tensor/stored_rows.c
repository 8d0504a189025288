/* Of rows in several parts each is looked for in one part after the other, by a subtraction, or by
 * bisection among the ids of a part that has some. */
#include "tensor/stored_rows.h"

#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "tensor/share.h"

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
    for (int i = 0; i < x->n_parts; i++) {
        ld_index_unref(x->parts[i].ids);
        ld_rows_unref(x->parts[i].rows);
    }
    ld_free(x->parts);
    ld_free(x->bounds);
    ld_free(x);
}

/* --- parts -------------------------------------------------------------------------------------- */

static ld_status check_part(const ld_rows *x, const ld_rows_part *part)
{
    const ld_rows *rows = part->rows;
    const ld_index *ids = part->ids;
    if (rows->number != x->number || rows->n_cols != x->n_cols)
        return ld_fail(
            LD_SHAPE, "rows: a part has %" PRId64 " columns of %s, the whole %" PRId64 " of %s",
            rows->n_cols, ld_number_name(rows->number), x->n_cols, ld_number_name(x->number));
    if (!ids && (part->first < 0 || part->first > x->n_rows - rows->n_rows))
        return ld_fail(LD_RANGE, "rows: a part has rows %" PRId64 "..%" PRId64 " of %" PRId64,
                       part->first + 1, part->first + rows->n_rows, x->n_rows);
    if (ids && ids->size != rows->n_rows)
        return ld_fail(LD_SHAPE, "rows: a part has %" PRId64 " rows for %" PRId64 " ids",
                       rows->n_rows, ids->size);
    for (int64_t i = 1; ids && i < ids->size; i++)
        if (ids->data[i - 1] >= ids->data[i])
            return ld_fail(LD_VALUE, "rows: the ids of a part must ascend");
    return ids ? ld_index_check(ids, 0, x->n_rows, "rows: row") : LD_OK;
}

/* Gives x the bounds, a copy. */
static ld_status set_bounds(ld_rows *x, const int64_t *bounds, int n_owners)
{
    if (!(x->bounds = ld_alloc_array(n_owners + 1, sizeof *bounds, LD_MEM_TENSOR)))
        return LD_NOMEM;
    memcpy(x->bounds, bounds, ((size_t)n_owners + 1) * sizeof *bounds);
    x->n_owners = n_owners;
    return ld_share_check_bounds(bounds, n_owners, x->n_rows, "rows");
}

ld_status ld_rows_join(ld_rows **out, ld_number number, int64_t n_rows, int64_t n_cols,
                       const ld_rows_part *parts, int n_parts, const int64_t *bounds, int n_owners)
{
    ld_rows *x = NULL;
    ld_status st = ld_rows_of_block(&x, number, n_rows, n_cols, NULL);
    if (st != LD_OK)
        return st;
    if (!(x->parts = ld_alloc_array(n_parts + 1, sizeof *parts, LD_MEM_TENSOR))) {
        st = LD_NOMEM;
        goto done;
    }
    for (int i = 0; i < n_parts; i++) {
        LD_TRY(check_part(x, &parts[i]));
        x->parts[x->n_parts++] =
            (ld_rows_part){parts[i].first, parts[i].ids ? ld_index_ref(parts[i].ids) : NULL,
                           ld_rows_ref(parts[i].rows)};
    }
    if (bounds)
        LD_TRY(set_bounds(x, bounds, n_owners));
    *out = ld_rows_ref(x);
done:
    ld_rows_unref(x);
    return st;
}

/* The place of an id among ascending ones, or -1. */
static int64_t place_of(const ld_index *ids, int64_t id)
{
    int64_t low = 0, high = ids->size;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (ids->data[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < ids->size && ids->data[low] == id ? low : -1;
}

const void *ld_rows_at(const ld_rows *x, int64_t row)
{
    const void *found = NULL;
    if (!x->parts)
        return (const char *)x->data + row * x->n_cols * ld_number_size(x->number);
    for (int i = 0; i < x->n_parts && !found; i++) {
        const ld_rows_part *part = &x->parts[i];
        int64_t place = part->ids ? place_of(part->ids, row) : row - part->first;
        if (place >= 0 && place < part->rows->n_rows)
            found = ld_rows_at(part->rows, place);
    }
    return found;
}

int ld_rows_owner(const ld_rows *x, int64_t row)
{
    int low = 0, high = x->n_owners - 1;
    while (low < high) {
        int middle = (low + high) / 2;
        if (row < x->bounds[middle + 1])
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

ld_status ld_rows_missing(ld_index **out, const ld_rows *x, const ld_index *ids)
{
    int64_t n = 0;
    ld_index *found = NULL;
    ld_status st = ld_index_check(ids, 0, x->n_rows, "rows: row");
    if (st != LD_OK || (st = ld_index_new(&found, ids->size)) != LD_OK)
        return st;
    for (int64_t i = 0; i < ids->size; i++)
        if (!ld_rows_at(x, ids->data[i]))
            found->data[n++] = ids->data[i];
    st = ld_index_slice(out, found, 0, n);
    ld_index_unref(found);
    return st;
}

ld_status ld_rows_absent(const ld_rows *x, int64_t row)
{
    if (!x->bounds)
        return ld_fail(LD_STATE, "rows: row %" PRId64 " is in none of the parts", row + 1);
    return ld_fail(LD_STATE,
                   "rows: row %" PRId64 " is at rank %d, and this one has its own part alone",
                   row + 1, ld_rows_owner(x, row));
}

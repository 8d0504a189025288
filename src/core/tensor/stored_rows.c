/* Stored rows in memory, in files and in parts. A row is looked for in one part after the other
 * (row_parts.h), since parts are few. */
#include "tensor/stored_rows.h"

#include <inttypes.h>

#include "memory/memory.h"
#include "tensor/row_parts.h"

int64_t ld_number_size(ld_number number)
{
    return number == LD_FLOAT32 ? 4 : 2;
}

const char *ld_number_name(ld_number number)
{
    static const char *const names[] = {"float32", "float16", "bfloat16"};
    return names[number];
}

/* --- lifetime --------------------------------------------------------------------------------- */

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
    LD_CHECK(header_new(out, number, n_rows, n_cols));
    (*out)->mapping = ld_mapping_ref(mapping);
    (*out)->data = mapping->data;
    ld_mapping_advise(mapping, LD_ACCESS_RANDOM);
    return LD_OK;
}

ld_status ld_rows_of_block(ld_rows **out, ld_number number, int64_t n_rows, int64_t n_cols,
                           void *block)
{
    LD_FREED void *given = block;
    LD_CHECK(header_new(out, number, n_rows, n_cols));
    (*out)->data = ld_take(&given);
    return LD_OK;
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

/* --- parts ------------------------------------------------------------------------------------ */

static ld_status check_part(const ld_rows *x, const ld_rows_part *part)
{
    const ld_rows *rows = part->rows;
    if (rows->number != x->number || rows->n_cols != x->n_cols)
        return ld_fail(
            LD_SHAPE, "rows: a part has %" PRId64 " columns of %s, the whole %" PRId64 " of %s",
            rows->n_cols, ld_number_name(rows->number), x->n_cols, ld_number_name(x->number));
    return ld_part_check(part->first, part->ids, rows->n_rows, x->n_rows, "rows");
}

ld_status ld_rows_join(ld_rows **out, ld_number number, int64_t n_rows, int64_t n_cols,
                       const ld_rows_part *parts, int n_parts, const int64_t *bounds, int n_owners)
{
    LD_OWN(ld_rows) *x = NULL;
    LD_CHECK(ld_rows_of_block(&x, number, n_rows, n_cols, NULL));
    if (!(x->parts = ld_alloc_array(n_parts + 1, sizeof *parts, LD_MEM_TENSOR)))
        return LD_NOMEM;
    for (int i = 0; i < n_parts; i++) {
        LD_CHECK(check_part(x, &parts[i]));
        x->parts[x->n_parts++] =
            (ld_rows_part){parts[i].first, parts[i].ids ? ld_index_ref(parts[i].ids) : NULL,
                           ld_rows_ref(parts[i].rows)};
    }
    if (bounds)
        LD_CHECK(ld_part_bounds(&x->bounds, bounds, n_owners, n_rows, LD_MEM_TENSOR, "rows"));
    x->n_owners = n_owners;
    *out = ld_take(&x);
    return LD_OK;
}

const void *ld_rows_at(const ld_rows *x, int64_t row)
{
    const void *found = NULL;
    if (!x->parts)
        return (const char *)x->data + row * x->n_cols * ld_number_size(x->number);
    for (int i = 0; i < x->n_parts && !found; i++) {
        const ld_rows_part *part = &x->parts[i];
        int64_t place = ld_part_place(part->first, part->ids, part->rows->n_rows, row);
        if (place >= 0)
            found = ld_rows_at(part->rows, place);
    }
    return found;
}

int ld_rows_owner(const ld_rows *x, int64_t row)
{
    return ld_part_owner(x->bounds, x->n_owners, row);
}

ld_status ld_rows_missing(ld_index **out, const ld_rows *x, const ld_index *ids)
{
    int64_t n = 0;
    LD_OWN(ld_index) *found = NULL;
    LD_CHECK(ld_index_check(ids, 0, x->n_rows, "rows: row"));
    LD_CHECK(ld_index_new(&found, ids->size));
    for (int64_t i = 0; i < ids->size; i++)
        if (!ld_rows_at(x, ids->data[i]))
            found->data[n++] = ids->data[i];
    return ld_index_slice(out, found, 0, n);
}

ld_status ld_rows_absent(const ld_rows *x, int64_t row)
{
    return ld_part_absent("rows", x->bounds, x->n_owners, row);
}

/* Slices. Columns are renamed through a marker (base/marker.h), so the cost is that of the entries
 * read: nothing here is proportional to the number of nodes of the graph. */
#include <inttypes.h>
#include <string.h>

#include "base/marker.h"
#include "base/memory.h"
#include "graph/csr.h"

enum { AHEAD = 16 };

/* The structure and values of whole rows, with the columns still to be filled in. */
static ld_status copy_rows(ld_structure **structure, ld_tensor **values, ld_csr *a,
                           const ld_index *rows, int64_t n_cols)
{
    const ld_structure *p = a->s;
    ld_structure *s = NULL;
    ld_status st;
    LD_TRY(ld_index_check(rows, 0, p->n_rows, "slice: node"));
    LD_TRY(ld_structure_prefetch(p, rows));
    int64_t nnz = ld_structure_count(p, rows);
    LD_TRY(ld_structure_new(&s, rows->size, n_cols, nnz, p->origin != NULL));
    ld_structure_sliced(s, a);
    *structure = s;
    if (a->values)
        LD_TRY(ld_tensor_new(values, 1, nnz, 1));
    if (!p->origin &&
        !(s->origin_row = ld_alloc_array(rows->size, sizeof *s->origin_row, LD_MEM_MATRIX)))
        return LD_NOMEM;
    for (int64_t i = 0; i < rows->size; i++) {
        int64_t r = rows->data[i], from = p->offsets[r], to = s->offsets[i];
        size_t length = (size_t)(p->offsets[r + 1] - from);
        s->offsets[i + 1] = to + (int64_t)length;
        if (a->values)
            memcpy((*values)->data + to, a->values->data + from, length * sizeof(float));
        if (p->origin)
            memcpy(s->origin + to, p->origin + from, length * sizeof *s->origin);
        s->origin_row[i] = ld_structure_origin(p, r);
    }
done:
    return st;
}

/* Renames the columns of s to places in `touched`: those of `first`, where `what` begins the message
 * when they repeat, then the others in order of first touch. Marks are fetched some columns ahead:
 * each is a cache miss. */
static ld_status compact(ld_structure *s, ld_index **touched, const ld_index *first,
                         const char *what)
{
    ld_index *ids = NULL;
    ld_marker *renamed = NULL;
    ld_status st;
    int32_t n = 0;
    int64_t most = s->nnz + (first ? first->size : 0);
    LD_TRY(ld_index_new(&ids, most < s->n_cols ? most : s->n_cols));
    LD_TRY(ld_marker_take(&renamed, s->n_cols));
    for (; first && n < first->size; n++) {
        int32_t c = first->data[n];
        __builtin_prefetch(&renamed->marks[first->data[n + AHEAD < first->size ? n + AHEAD : n]]);
        if (ld_marker_get(renamed, c) >= 0) {
            st = ld_index_check_unique(first, what);
            goto done;
        }
        ld_marker_set(renamed, c, n);
        ids->data[n] = c;
    }
    for (int64_t e = 0; e < s->nnz; e++) {
        int32_t c = s->columns[e], name = ld_marker_get(renamed, c);
        if (e + AHEAD < s->nnz)
            __builtin_prefetch(&renamed->marks[s->columns[e + AHEAD]]);
        if (name < 0) {
            name = n++;
            ld_marker_set(renamed, c, name);
            ids->data[name] = c;
        }
        s->columns[e] = name;
    }
    s->n_cols = ids->size = n;
    atomic_init(&ids->distinct, true);
    *touched = ld_index_ref(ids);
done:
    ld_index_unref(ids);
    ld_marker_put(renamed);
    return st;
}

ld_status ld_csr_compact(ld_csr **out, ld_index **src, const ld_csr *a, ld_structure *s,
                         ld_tensor *values, const ld_index *rows, const ld_index *first,
                         const char *what)
{
    ld_tensor *row_scale = NULL, *col_scale = NULL;
    ld_index *touched = NULL;
    ld_status st;
    LD_TRY(compact(s, &touched, first, what));
    LD_TRY(ld_tensor_pick(&row_scale, a->row_scale, rows));
    LD_TRY(ld_tensor_pick(&col_scale, a->col_scale, touched));
    LD_TRY(ld_csr_new(out, s, values, row_scale, col_scale));
    *src = ld_index_ref(touched);
done:
    ld_tensor_unref(row_scale);
    ld_tensor_unref(col_scale);
    ld_index_unref(touched);
    return st;
}

static void copy_columns(ld_structure *s, const ld_structure *p, const ld_index *rows)
{
    for (int64_t i = 0; i < rows->size; i++)
        memcpy(s->columns + s->offsets[i], p->columns + p->offsets[rows->data[i]],
               (size_t)(s->offsets[i + 1] - s->offsets[i]) * sizeof *s->columns);
}

ld_status ld_csr_slice(ld_csr **out, ld_index **src, ld_csr *a, const ld_index *rows,
                       const ld_index *first)
{
    ld_structure *s = NULL;
    ld_tensor *values = NULL;
    ld_status st;
    LD_TRY(copy_rows(&s, &values, a, rows, a->s->n_cols));
    LD_TRY(ld_index_check_unique(rows, "slice: node"));
    if (first)
        LD_TRY(ld_index_check(first, 0, a->s->n_cols, "slice: first column"));
    copy_columns(s, a->s, rows);
    LD_TRY(ld_csr_compact(out, src, a, s, values, rows, first, "slice: first column"));
done:
    ld_structure_unref(s);
    ld_tensor_unref(values);
    return st;
}

ld_status ld_csr_rows(ld_csr **out, ld_csr *a, const ld_index *rows)
{
    ld_structure *s = NULL;
    ld_tensor *values = NULL, *row_scale = NULL;
    ld_status st;
    LD_TRY(copy_rows(&s, &values, a, rows, a->s->n_cols));
    copy_columns(s, a->s, rows);
    LD_TRY(ld_tensor_pick(&row_scale, a->row_scale, rows));
    LD_TRY(ld_csr_new(out, s, values, row_scale, a->col_scale));
done:
    ld_structure_unref(s);
    ld_tensor_unref(values);
    ld_tensor_unref(row_scale);
    return st;
}

ld_status ld_csr_positions(ld_index **out, const ld_csr *a, const ld_csr *part,
                           const ld_index *rows, const ld_index *cols)
{
    const ld_structure *s = part->s;
    ld_index *found = NULL;
    ld_marker *at = NULL;
    ld_status st;
    LD_TRY(ld_structure_check_positions(a->s, "positions"));
    LD_TRY(ld_index_new(&found, s->nnz));
    LD_TRY(ld_marker_take(&at, a->s->n_cols));
    for (int64_t i = 0; i < s->n_rows; i++) {
        int64_t r = rows ? rows->data[i] : i;
        for (int64_t e = a->s->offsets[r]; e < a->s->offsets[r + 1]; e++)
            ld_marker_set(at, a->s->columns[e], (int32_t)e);
        for (int64_t e = s->offsets[i]; e < s->offsets[i + 1]; e++) {
            int32_t c = s->columns[e];
            found->data[e] = ld_marker_get(at, cols ? cols->data[c] : c);
        }
    }
    *out = ld_index_ref(found);
done:
    ld_index_unref(found);
    ld_marker_put(at);
    return st;
}

/* Slices of matrices by rows and by entries. Columns are renamed through a marker (graph/marker.h),
 * so the cost is that of the entries read: nothing here is proportional to the number of nodes of
 * the graph. */
#include <inttypes.h>
#include <string.h>

#include "graph/csr.h"
#include "graph/marker.h"
#include "memory/memory.h"
#include "system/threads.h"

enum { AHEAD = 16, COPY_GRAIN = 256 /* rows */ };

/* Rows of a that are copied: their entries' columns, places and values, the last two where there
 * are any. */
typedef struct {
    const ld_structure *from;
    ld_structure *to;
    const ld_index *rows;
    const float *old_values;
    float *values;
} row_copy;

static void copy_entries(void *ctx, int64_t begin, int64_t end)
{
    const row_copy *p = ctx;
    for (int64_t i = begin; i < end; i++) {
        int64_t from = p->from->offsets[p->rows->data[i]], to = p->to->offsets[i];
        size_t length = (size_t)(p->to->offsets[i + 1] - to);
        memcpy(p->to->columns + to, p->from->columns + from, length * sizeof(int32_t));
        if (p->values)
            memcpy(p->values + to, p->old_values + from, length * sizeof(float));
        if (p->from->from.places)
            memcpy(p->to->from.places + to, p->from->from.places + from,
                   length * sizeof *p->to->from.places);
    }
}

/* Copies whole rows of a: their structure, with a's columns, and their values. */
static ld_status copy_rows(ld_structure **structure, ld_tensor **values, ld_csr *a,
                           const ld_index *rows)
{
    const ld_structure *p = a->s;
    LD_OWN(ld_structure) *s = NULL;
    row_copy copy = {.from = p, .rows = rows};
    LD_CHECK(ld_index_check(rows, 0, p->n_rows, "slice: node"));
    LD_CHECK(ld_structure_prefetch(p, rows));
    int64_t nnz = ld_structure_count(p, rows);
    LD_CHECK(ld_structure_new(&s, rows->size, p->n_cols, nnz, p->from.places != NULL));
    ld_structure_sliced(s, a);
    if (a->values) {
        LD_CHECK(ld_tensor_new(values, 1, nnz, 1));
        copy.old_values = a->values->data;
        copy.values = (*values)->data;
    }
    if (!p->from.places &&
        !(s->from.rows = ld_alloc_array(rows->size, sizeof *s->from.rows, LD_MEM_MATRIX)))
        return LD_NOMEM;
    for (int64_t i = 0; i < rows->size; i++) {
        int64_t r = rows->data[i];
        s->offsets[i + 1] = s->offsets[i] + p->offsets[r + 1] - p->offsets[r];
        s->from.rows[i] = ld_structure_origin(p, r);
    }
    copy.to = s;
    LD_CHECK(ld_parallel_for(rows->size, COPY_GRAIN, copy_entries, &copy));
    *structure = ld_take(&s);
    return LD_OK;
}

/* Renames the columns of s to places in `touched`: those of `first`, where `what` begins the
 * message when they repeat, then the others in order of first touch. Marks are fetched some columns
 * ahead: each is a cache miss. */
static ld_status compact(ld_structure *s, ld_index **touched, const ld_index *first,
                         const char *what)
{
    LD_OWN(ld_index) *ids = NULL;
    LD_OWN(ld_marker) *renamed = NULL;
    int32_t n = 0;
    int64_t most = s->nnz + (first ? first->size : 0);
    LD_CHECK(ld_index_new(&ids, most < s->n_cols ? most : s->n_cols));
    LD_CHECK(ld_marker_take(&renamed, s->n_cols));
    for (; first && n < first->size; n++) {
        int32_t c = first->data[n];
        __builtin_prefetch(&renamed->marks[first->data[n + AHEAD < first->size ? n + AHEAD : n]]);
        if (ld_marker_get(renamed, c) >= 0)
            return ld_index_check_unique(first, what);
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
    *touched = ld_take(&ids);
    return LD_OK;
}

ld_status ld_csr_compact(ld_csr **out, ld_index **src, const ld_csr *a, ld_structure *s,
                         ld_tensor *values, const ld_index *rows, const ld_index *first,
                         const char *what)
{
    LD_OWN(ld_tensor) *row_scale = NULL, *col_scale = NULL;
    LD_OWN(ld_index) *touched = NULL;
    LD_CHECK(compact(s, &touched, first, what));
    LD_CHECK(ld_tensor_pick(&row_scale, a->row_scale, rows));
    LD_CHECK(ld_tensor_pick(&col_scale, a->col_scale, touched));
    LD_CHECK(ld_csr_new(out, s, values, row_scale, col_scale));
    *src = ld_take(&touched);
    return LD_OK;
}

ld_status ld_csr_slice(ld_csr **out, ld_index **src, ld_csr *a, const ld_index *rows,
                       const ld_index *first)
{
    LD_OWN(ld_structure) *s = NULL;
    LD_OWN(ld_tensor) *values = NULL;
    LD_CHECK(copy_rows(&s, &values, a, rows));
    LD_CHECK(ld_index_check_unique(rows, "slice: node"));
    if (first)
        LD_CHECK(ld_index_check(first, 0, a->s->n_cols, "slice: first column"));
    return ld_csr_compact(out, src, a, s, values, rows, first, "slice: first column");
}

ld_status ld_csr_rows(ld_csr **out, ld_csr *a, const ld_index *rows)
{
    LD_OWN(ld_structure) *s = NULL;
    LD_OWN(ld_tensor) *values = NULL, *row_scale = NULL;
    LD_CHECK(copy_rows(&s, &values, a, rows));
    LD_CHECK(ld_tensor_pick(&row_scale, a->row_scale, rows));
    return ld_csr_new(out, s, values, row_scale, a->col_scale);
}

ld_status ld_csr_positions(ld_index **out, const ld_csr *a, const ld_csr *part,
                           const ld_index *rows, const ld_index *cols)
{
    const ld_structure *s = part->s;
    LD_OWN(ld_index) *found = NULL;
    LD_OWN(ld_marker) *at = NULL;
    LD_CHECK(ld_structure_check_positions(a->s, "positions"));
    LD_CHECK(ld_index_new(&found, s->nnz));
    LD_CHECK(ld_marker_take(&at, a->s->n_cols));
    for (int64_t i = 0; i < s->n_rows; i++) {
        int64_t r = rows ? rows->data[i] : i;
        for (int64_t e = a->s->offsets[r + 1] - 1; e >= a->s->offsets[r]; e--)
            ld_marker_set(at, a->s->columns[e], (int32_t)e); /* the first of parallel entries */
        for (int64_t e = s->offsets[i]; e < s->offsets[i + 1]; e++) {
            int32_t c = cols ? cols->data[s->columns[e]] : s->columns[e];
            int32_t own = found->data[e] = ld_marker_get(at, c);
            if (own >= 0 && own + 1 < a->s->offsets[r + 1] && a->s->columns[own + 1] == c)
                ld_marker_set(at, c, own + 1);
        }
    }
    *out = ld_take(&found);
    return LD_OK;
}

/* --- entries ---------------------------------------------------------------------------------- */

static ld_status check_ascending(const ld_index *positions)
{
    for (int64_t i = 1; i < positions->size; i++)
        if (positions->data[i] <= positions->data[i - 1])
            return ld_fail(LD_VALUE,
                           "pick_entries: position %" PRId64 ", the %" PRId64
                           "th, does not lie after %" PRId64 " before it; ascending ones expected",
                           (int64_t)positions->data[i] + 1, i + 1,
                           (int64_t)positions->data[i - 1] + 1);
    return LD_OK;
}

ld_status ld_csr_pick_entries(ld_csr **out, ld_csr *a, const ld_index *positions)
{
    const ld_structure *p = a->s;
    LD_OWN(ld_structure) *s = NULL;
    LD_OWN(ld_tensor) *values = NULL;
    int64_t n = 0;
    LD_CHECK(ld_index_check(positions, 0, p->nnz, "pick_entries: position"));
    LD_CHECK(check_ascending(positions));
    LD_CHECK(ld_structure_new(&s, p->n_rows, p->n_cols, positions->size, true));
    ld_structure_sliced(s, a);
    for (int64_t r = 0; r < p->n_rows; r++) {
        s->from.rows[r] = ld_structure_origin(p, r);
        for (; n < positions->size && positions->data[n] < p->offsets[r + 1]; n++) {
            int32_t at = positions->data[n];
            s->columns[n] = p->columns[at];
            s->from.places[n] = ld_structure_place(p, r, at);
        }
        s->offsets[r + 1] = n;
    }
    LD_CHECK(ld_tensor_pick(&values, a->values, positions));
    return ld_csr_new(out, s, values, a->row_scale, a->col_scale);
}

/* Slices with given columns. The entries of a[rows, cols] are found either in the rows or, through
 * the transpose, in the columns where these have far fewer entries to look at: what is found there
 * must be sorted, and its place in the row searched. Both ways look for marked ids in the lists of a
 * structure; they give the same bits. */
#include <string.h>

#include "base/filter.h"
#include "base/marker.h"
#include "base/memory.h"
#include "graph/csr.h"

enum {
    BLOCK = 512,
    AHEAD = 8,
    SHORT = 16,
    COLUMN_COST = 4, /* of an entry of a column, in entries of rows */
};

/* A set of distinct ids with their places in `ids`. */
typedef struct {
    ld_filter *filter;
    ld_marker *places;
} id_set;

/* An entry of a[rows, cols]: its row there, its place in that row of a, its column there. */
typedef struct {
    int32_t row, at, col;
} match;

typedef struct {
    ld_csr *a;
    const ld_index *rows; /* NULL: all */
    const ld_index *cols;
    int64_t n_rows;
    match *matches; /* by rows, in a's order */
    int64_t n;
} search;

static ld_status set_new(id_set *set, const ld_index *ids, int64_t n_ids)
{
    ld_status st = ld_marker_take(&set->places, n_ids);
    if (st != LD_OK)
        return st;
    if (!(set->filter = ld_calloc_array(1, sizeof *set->filter, LD_MEM_SCRATCH)))
        return LD_NOMEM;
    for (int64_t i = 0; i < ids->size; i++) {
        ld_filter_add(set->filter, ids->data[i]);
        ld_marker_set(set->places, ids->data[i], (int32_t)i);
    }
    return LD_OK;
}

static void set_clear(id_set *set)
{
    ld_marker_put(set->places);
    ld_free(set->filter);
}

/* Those of ids[0 .. n-1], n <= BLOCK, that are in the set: where they are, and their places. */
static int find_members(int32_t *at, int32_t *place, const int32_t *ids, int n, const id_set *set)
{
    int maybe = 0, found = 0;
    for (int i = 0; i < n; i++) {
        at[maybe] = i;
        maybe += ld_filter_maybe(set->filter, ids[i]);
    }
    for (int i = 0; i < maybe; i++) {
        place[found] = ld_marker_get(set->places, ids[at[i]]);
        at[found] = at[i];
        found += place[found] >= 0;
    }
    return found;
}

static int64_t row_id(const search *q, int64_t i)
{
    return q->rows ? q->rows->data[i] : i;
}

/* The members among columns from .. end-1 of a short row, one by one: most rows have none. */
static void search_short_row(search *q, int64_t i, int64_t from, int64_t end, const id_set *set)
{
    const int32_t *columns = q->a->s->columns;
    for (int64_t e = from; e < end; e++) {
        if (!ld_filter_maybe(set->filter, columns[e]))
            continue;
        int32_t place = ld_marker_get(set->places, columns[e]);
        if (place >= 0)
            q->matches[q->n++] = (match){(int32_t)i, (int32_t)(e - from), place};
    }
}

static ld_status search_rows(search *q)
{
    const ld_structure *p = q->a->s;
    int32_t at[BLOCK], place[BLOCK];
    id_set set = {0};
    ld_status st;
    LD_TRY(set_new(&set, q->cols, p->n_cols));
    for (int64_t i = 0; i < q->n_rows; i++) {
        int64_t from = p->offsets[row_id(q, i)], end = p->offsets[row_id(q, i) + 1];
        if (i + AHEAD < q->n_rows)
            __builtin_prefetch(&p->columns[p->offsets[row_id(q, i + AHEAD)]]);
        if (end - from <= SHORT) {
            search_short_row(q, i, from, end, &set);
            continue;
        }
        for (int64_t e = from; e < end; e += BLOCK) {
            int n = end - e < BLOCK ? (int)(end - e) : BLOCK;
            n = find_members(at, place, p->columns + e, n, &set);
            for (int j = 0; j < n; j++)
                q->matches[q->n++] = (match){(int32_t)i, (int32_t)(e - from) + at[j], place[j]};
        }
    }
done:
    set_clear(&set);
    return st;
}

/* The place of the entry in column c of a row that is sorted and has one. */
static int32_t place_in_row(const ld_structure *p, int64_t r, int32_t c)
{
    const int32_t *row = p->columns + p->offsets[r], *from = row;
    for (int64_t n = p->offsets[r + 1] - p->offsets[r]; n > 1; n -= n / 2)
        from += from[n / 2] <= c ? n / 2 : 0;
    return (int32_t)(from - row);
}

/* The same for entry t of by_cols, which is in column c of p. */
static int32_t place_of(const ld_structure *p, const ld_structure *by_cols, int64_t t, int32_t c)
{
    int32_t r = by_cols->columns[t];
    return by_cols->source ? (int32_t)(by_cols->source[t] - p->offsets[r]) : place_in_row(p, r, c);
}

/* Sorts the matches by row, stably. */
static ld_status sort_by_row(search *q)
{
    ld_status st = LD_NOMEM;
    match *sorted = ld_alloc_array(q->n, sizeof *sorted, LD_MEM_SCRATCH);
    int64_t *next = ld_calloc_array(q->n_rows + 1, sizeof *next, LD_MEM_SCRATCH);
    if (!sorted || !next)
        goto done;
    for (int64_t i = 0; i < q->n; i++)
        next[q->matches[i].row + 1]++;
    for (int64_t r = 0; r < q->n_rows; r++)
        next[r + 1] += next[r];
    for (int64_t i = 0; i < q->n; i++)
        sorted[next[q->matches[i].row]++] = q->matches[i];
    memcpy(q->matches, sorted, (size_t)q->n * sizeof *sorted);
    st = LD_OK;
done:
    ld_free(sorted);
    ld_free(next);
    return st;
}

/* The columns are taken in ascending order, as their entries lie in the rows. */
static ld_status search_cols(search *q, const ld_structure *by_cols)
{
    const ld_structure *p = q->a->s;
    int32_t at[BLOCK], place[BLOCK];
    ld_index *ascending = NULL;
    ld_marker *col_places = NULL;
    id_set set = {0};
    ld_status st;
    LD_TRY(set_new(&set, q->rows, p->n_rows));
    LD_TRY(ld_marker_take(&col_places, p->n_cols));
    for (int64_t j = 0; j < q->cols->size; j++)
        ld_marker_set(col_places, q->cols->data[j], (int32_t)j);
    LD_TRY(ld_index_sort(&ascending, q->cols));
    for (int64_t i = 0; i < ascending->size; i++) {
        int32_t c = ascending->data[i], col = ld_marker_get(col_places, c);
        int64_t end = by_cols->offsets[c + 1];
        if (i + AHEAD < ascending->size)
            __builtin_prefetch(&by_cols->columns[by_cols->offsets[ascending->data[i + AHEAD]]]);
        for (int64_t e = by_cols->offsets[c]; e < end; e += BLOCK) {
            int n = end - e < BLOCK ? (int)(end - e) : BLOCK;
            n = find_members(at, place, by_cols->columns + e, n, &set);
            for (int j = 0; j < n; j++) {
                int32_t at_row = place_of(p, by_cols, e + at[j], c);
                q->matches[q->n++] = (match){place[j], at_row, col};
            }
        }
    }
    LD_TRY(sort_by_row(q));
done:
    set_clear(&set);
    ld_marker_put(col_places);
    ld_index_unref(ascending);
    return st;
}

/* Fills in q->matches. */
static ld_status find_matches(search *q)
{
    const ld_structure *p = q->a->s, *by_cols = NULL;
    if (q->rows)
        ld_structure_by_cols(&by_cols, q->a->s, false);
    int64_t in_rows = q->rows ? ld_structure_count(p, q->rows) : p->nnz;
    int64_t in_cols = by_cols ? ld_structure_count(by_cols, q->cols) : INT64_MAX;
    int64_t most = in_rows < in_cols ? in_rows : in_cols;
    q->matches = ld_alloc_array(most, sizeof *q->matches, LD_MEM_SCRATCH);
    if (!q->matches)
        return LD_NOMEM;
    return by_cols && in_cols < in_rows / COLUMN_COST ? search_cols(q, by_cols) : search_rows(q);
}

static ld_status make(ld_csr **out, const search *q)
{
    ld_csr *a = q->a;
    const ld_structure *p = a->s;
    ld_structure *s = NULL;
    ld_tensor *values = NULL, *row_scale = NULL, *col_scale = NULL;
    ld_status st;
    LD_TRY(ld_structure_new(&s, q->n_rows, q->cols->size, q->n, true));
    ld_structure_sliced(s, a);
    if (a->values)
        LD_TRY(ld_tensor_new(&values, 1, q->n, 1));
    for (int64_t i = 0, n = 0; i < q->n_rows; i++) {
        int64_t from = p->offsets[row_id(q, i)];
        s->origin_row[i] = ld_structure_origin(p, row_id(q, i));
        for (; n < q->n && q->matches[n].row == i; n++) {
            int32_t at = q->matches[n].at;
            s->columns[n] = q->matches[n].col;
            s->origin[n] = p->origin ? p->origin[from + at] : at;
            if (values)
                values->data[n] = a->values->data[from + at];
        }
        s->offsets[i + 1] = n;
    }
    if (q->rows)
        LD_TRY(ld_tensor_pick(&row_scale, a->row_scale, q->rows));
    else
        row_scale = ld_tensor_ref(a->row_scale);
    LD_TRY(ld_tensor_pick(&col_scale, a->col_scale, q->cols));
    LD_TRY(ld_csr_new(out, s, values, row_scale, col_scale));
done:
    ld_structure_unref(s);
    ld_tensor_unref(values);
    ld_tensor_unref(row_scale);
    ld_tensor_unref(col_scale);
    return st;
}

static ld_status restrict_cols(ld_csr **out, ld_csr *a, const ld_index *rows, const ld_index *cols,
                               const char *what)
{
    search q = {.a = a, .rows = rows, .cols = cols, .n_rows = rows ? rows->size : a->s->n_rows};
    ld_status st;
    LD_TRY(ld_index_check(cols, 0, a->s->n_cols, what));
    LD_TRY(ld_index_check_unique(cols, what));
    LD_TRY(find_matches(&q));
    LD_TRY(make(out, &q));
done:
    ld_free(q.matches);
    return st;
}

ld_status ld_csr_slice_cols(ld_csr **out, ld_csr *a, const ld_index *rows, const ld_index *cols)
{
    ld_status st;
    LD_TRY(ld_index_check(rows, 0, a->s->n_rows, "slice: node"));
    LD_TRY(ld_index_check_unique(rows, "slice: node"));
    LD_TRY(restrict_cols(out, a, rows, cols, "slice: column"));
    if (rows == cols) /* an induced subgraph */
        (*out)->s->symmetric = a->s->symmetric;
done:
    return st;
}

ld_status ld_csr_pick_cols(ld_csr **out, ld_csr *a, const ld_index *pick)
{
    return restrict_cols(out, a, NULL, pick, "pick_cols: position");
}

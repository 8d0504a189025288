/* Slices of matrices by given columns. The entries of a[rows, cols] are found in the rows, in
 * parallel, or through the transpose in the columns, where these have far fewer entries to look at.
 * Entries found in columns must then be sorted, and their place in the row searched. Both ways look
 * for marked ids in the lists of a structure, and give the same bits. */
#include <string.h>

#include "graph/csr.h"
#include "graph/marker.h"
#include "kernel/filter.h"
#include "memory/memory.h"
#include "system/threads.h"

enum {
    AHEAD = 512,     /* entries that memory is asked for before they are read, in long rows */
    ROWS_AHEAD = 8,  /* rows whose first entry it is asked for, where rows are short */
    LINE = 16,       /* entries of a cache line */
    SHORT = 16,      /* entries of a row that are looked at one by one */
    LONG = 64,       /* the mean from which on rows are long */
    PENDING = 512,   /* candidates that are looked up together */
    WORK = 1 << 15,  /* entries in a chunk of rows, which a thread takes at a time */
    COLUMN_COST = 4, /* an entry of a column costs as much as this many of rows */
};

/* An entry of a[rows, cols]: its row there, its place in that row of a, its column there. */
typedef struct {
    int32_t row, at, col;
} match;

/* A set of distinct ids, which is {0} before it is made and cleared after a failure as well. */
typedef struct {
    ld_filter *filter; /* quickly says of most ids that they are no members */
    ld_marker *places; /* where each member is in the Index that they came from */
} id_set;

/* Makes the set of `ids`, all below n_ids. */
static ld_status set_new(id_set *set, const ld_index *ids, int64_t n_ids)
{
    LD_CHECK(ld_marker_take(&set->places, n_ids));
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

/* A list of matches, by rows and in a's order within them. */
typedef struct {
    match *matches;
    int64_t n, room;
} match_list;

typedef struct {
    ld_csr *a;
    const ld_index *rows; /* NULL: all */
    const ld_index *cols;
    int64_t n_rows, grain; /* rows of a chunk */
    bool long_rows;        /* rows have LONG entries on average */
    id_set set;            /* the columns, or the rows when columns are searched */
    match_list *lists;     /* one for each chunk of rows */
    ld_loop_failure failure;
} search;

static int64_t n_lists(const search *q)
{
    return (q->n_rows + q->grain - 1) / q->grain;
}

/* Makes room for n more matches. */
static ld_status reserve(match_list *list, int64_t n)
{
    return ld_reserve(&list->matches, &list->room, list->n, n, sizeof *list->matches,
                      LD_MEM_SCRATCH);
}

static int64_t row_id(const search *q, int64_t i)
{
    return q->rows ? q->rows->data[i] : i;
}

/* A place in a walk through the entries of the rows from `at` to `end` - 1, among given rows or
 * all, which runs ahead of the search. */
typedef struct {
    const ld_structure *s;
    const int32_t *rows; /* NULL: all */
    int64_t at, end;
    int64_t done; /* entries of row `at` */
} walk;

/* Asks memory for the next n entries. Rows lie anywhere, so the processor would only see by itself
 * that it is in the middle of a long one. */
static void ask_for(walk *w, int64_t n)
{
    while (n > 0 && w->at < w->end) {
        int64_t r = w->rows ? w->rows[w->at] : w->at;
        int64_t from = w->s->offsets[r] + w->done, left = w->s->offsets[r + 1] - from;
        int64_t size = left < n ? left : n;
        for (int64_t e = from; e < from + size; e += LINE)
            __builtin_prefetch(&w->s->columns[e]);
        n -= size;
        w->done = size < left ? w->done + size : 0;
        w->at += size == left;
    }
}

/* Entries that the filter let through: their columns may be members, and are not yet renamed. */
typedef struct {
    match matches[PENDING + LD_FILTER_BLOCK];
    int n;
} candidates;

/* Moves the candidates that are members to the list, with their places. Many are done together:
 * each look is a cache miss, and they need not wait for each other. */
static ld_status keep_members(match_list *list, candidates *c, const id_set *set)
{
    int kept = 0;
    for (int i = 0; i < c->n; i++) {
        match m = c->matches[i];
        m.col = ld_marker_get(set->places, m.col);
        c->matches[kept] = m;
        kept += m.col >= 0;
    }
    c->n = 0;
    ld_status st = reserve(list, kept);
    if (st == LD_OK && kept > 0)
        memcpy(list->matches + list->n, c->matches, (size_t)kept * sizeof *c->matches);
    list->n += st == LD_OK ? kept : 0;
    return st;
}

/* Searches n entries of row i from e on; the row begins at `first`. */
static void search_block(candidates *c, const search *q, int64_t i, int64_t first, int64_t e, int n)
{
    const int32_t *columns = q->a->s->columns + e;
    int32_t at[LD_FILTER_BLOCK];
    n = ld_filter_scan(at, columns, n, q->set.filter);
    for (int j = 0; j < n; j++)
        c->matches[c->n++] = (match){(int32_t)i, (int32_t)(e - first) + at[j], columns[at[j]]};
}

/* Searches a short row entry by entry, since most short rows have no member. */
static void search_short_row(candidates *c, const search *q, int64_t i, int64_t first, int64_t end)
{
    const int32_t *columns = q->a->s->columns;
    for (int64_t e = first; e < end; e++)
        if (ld_filter_maybe(q->set.filter, columns[e]))
            c->matches[c->n++] = (match){(int32_t)i, (int32_t)(e - first), columns[e]};
}

static ld_status search_row(match_list *list, candidates *c, const search *q, int64_t i,
                            walk *ahead)
{
    const ld_structure *p = q->a->s;
    int64_t first = p->offsets[row_id(q, i)], end = p->offsets[row_id(q, i) + 1];
    ld_status st = LD_OK;
    for (int64_t e = first; st == LD_OK && e < end; e += LD_FILTER_BLOCK) {
        int n = end - e < LD_FILTER_BLOCK ? (int)(end - e) : LD_FILTER_BLOCK;
        ask_for(ahead, n);
        if (end - first <= SHORT)
            search_short_row(c, q, i, first, end);
        else
            search_block(c, q, i, first, e, n);
        if (c->n >= PENDING)
            st = keep_members(list, c, &q->set);
    }
    return st;
}

static void search_chunk(void *ctx, int64_t begin, int64_t end)
{
    search *q = ctx;
    const ld_structure *p = q->a->s;
    match_list *list = &q->lists[begin / q->grain];
    walk ahead = {p, q->rows ? q->rows->data : NULL, begin, q->long_rows ? end : begin, 0};
    candidates c;
    ld_status st = LD_OK;
    c.n = 0;
    ask_for(&ahead, AHEAD);
    for (int64_t i = begin; st == LD_OK && i < end; i++) {
        if (!q->long_rows && i + ROWS_AHEAD < end)
            __builtin_prefetch(&p->columns[p->offsets[row_id(q, i + ROWS_AHEAD)]]);
        st = search_row(list, &c, q, i, &ahead);
    }
    if (st == LD_OK)
        st = keep_members(list, &c, &q->set);
    ld_loop_note(&q->failure, st);
}

static ld_status search_rows(search *q)
{
    LD_CHECK(set_new(&q->set, q->cols, q->a->s->n_cols));
    return ld_loop_result(&q->failure, ld_parallel_for(q->n_rows, q->grain, search_chunk, q));
}

/* Returns the place in its row of p of entry t of by_cols, which is in column c of p. Rows are
 * searched without a branch, which would be guessed wrong half the time. */
static int32_t place_of(const ld_structure *p, const ld_structure *by_cols, int64_t t, int32_t c)
{
    int32_t r = by_cols->columns[t];
    const int32_t *row = p->columns + p->offsets[r], *from = row;
    if (by_cols->source)
        return (int32_t)(by_cols->source[t] - p->offsets[r]);
    for (int64_t n = p->offsets[r + 1] - p->offsets[r]; n > 1; n -= n / 2)
        from += from[n / 2] <= c ? n / 2 : 0;
    return (int32_t)(from - row);
}

/* Sorts the matches by row, stably. */
static ld_status sort_by_row(match_list *list, int64_t n_rows)
{
    LD_FREED match *sorted = ld_alloc_array(list->n, sizeof *sorted, LD_MEM_SCRATCH);
    LD_FREED int64_t *next = ld_calloc_array(n_rows + 1, sizeof *next, LD_MEM_SCRATCH);
    if (!sorted || !next)
        return LD_NOMEM;
    for (int64_t i = 0; i < list->n; i++)
        next[list->matches[i].row + 1]++;
    for (int64_t r = 0; r < n_rows; r++)
        next[r + 1] += next[r];
    for (int64_t i = 0; i < list->n; i++)
        sorted[next[list->matches[i].row]++] = list->matches[i];
    if (list->n > 0)
        memcpy(list->matches, sorted, (size_t)list->n * sizeof *sorted);
    return LD_OK;
}

/* Searches the columns, in ascending order, so that a row's matches come as its entries lie. */
static ld_status search_cols(search *q, const ld_structure *by_cols)
{
    const ld_structure *p = q->a->s;
    int32_t at[LD_FILTER_BLOCK];
    LD_OWN(ld_index) *ascending = NULL;
    LD_OWN(ld_marker) *col_places = NULL;
    match_list *list = &q->lists[0];
    LD_CHECK(set_new(&q->set, q->rows, p->n_rows));
    LD_CHECK(ld_marker_take(&col_places, p->n_cols));
    for (int64_t j = 0; j < q->cols->size; j++)
        ld_marker_set(col_places, q->cols->data[j], (int32_t)j);
    LD_CHECK(ld_index_sort(&ascending, q->cols));
    walk ahead = {by_cols, ascending->data, 0, ascending->size, 0};
    ask_for(&ahead, AHEAD);
    for (int64_t i = 0; i < ascending->size; i++) {
        int32_t c = ascending->data[i], col = ld_marker_get(col_places, c);
        int64_t end = by_cols->offsets[c + 1];
        for (int64_t e = by_cols->offsets[c]; e < end; e += LD_FILTER_BLOCK) {
            int n = end - e < LD_FILTER_BLOCK ? (int)(end - e) : LD_FILTER_BLOCK;
            ask_for(&ahead, n);
            n = ld_filter_scan(at, by_cols->columns + e, n, q->set.filter);
            LD_CHECK(reserve(list, n));
            for (int j = 0; j < n; j++) {
                int32_t row = ld_marker_get(q->set.places, by_cols->columns[e + at[j]]);
                if (row >= 0)
                    list->matches[list->n++] =
                        (match){row, place_of(p, by_cols, e + at[j], c), col};
            }
        }
    }
    return sort_by_row(list, q->n_rows);
}

/* Finds all matches, in the cheaper way, and fills in q->lists. */
static ld_status find_matches(search *q)
{
    const ld_structure *p = q->a->s, *by_cols = NULL;
    if (q->rows)
        ld_structure_by_cols(&by_cols, q->a->s, false);
    if (by_cols)
        LD_CHECK(ld_structure_prefetch(by_cols, q->cols));
    int64_t in_rows = q->rows ? ld_structure_count(p, q->rows) : p->nnz;
    int64_t in_cols = by_cols ? ld_structure_count(by_cols, q->cols) : INT64_MAX;
    bool columns = by_cols && in_cols < in_rows / COLUMN_COST;
    int64_t chunks = columns ? 1 : in_rows / WORK + 1;
    q->grain = q->n_rows / chunks + 1;
    q->long_rows = in_rows / LONG >= q->n_rows;
    if (!(q->lists = ld_calloc_array(n_lists(q), sizeof *q->lists, LD_MEM_SCRATCH)))
        return LD_NOMEM;
    return columns ? search_cols(q, by_cols) : search_rows(q);
}

/* Fills in the rows of chunk k from its list of matches. */
static void fill_rows(ld_structure *s, ld_tensor *values, const search *q, int64_t k)
{
    const ld_structure *p = q->a->s;
    const match_list *list = &q->lists[k];
    int64_t end = (k + 1) * q->grain < q->n_rows ? (k + 1) * q->grain : q->n_rows;
    int64_t first = s->offsets[k * q->grain], n = 0;
    for (int64_t i = k * q->grain; i < end; i++) {
        int64_t from = p->offsets[row_id(q, i)];
        s->from.rows[i] = ld_structure_origin(p, row_id(q, i));
        for (; n < list->n && list->matches[n].row == i; n++) {
            int32_t at = list->matches[n].at;
            s->columns[first + n] = list->matches[n].col;
            s->from.places[first + n] = p->from.places ? p->from.places[from + at] : at;
            if (values)
                values->data[first + n] = q->a->values->data[from + at];
        }
        s->offsets[i + 1] = first + n;
    }
}

static ld_status make(ld_csr **out, const search *q)
{
    ld_csr *a = q->a;
    LD_OWN(ld_structure) *s = NULL;
    LD_OWN(ld_tensor) *values = NULL, *row_scale = NULL, *col_scale = NULL;
    int64_t nnz = 0;
    for (int64_t k = 0; k < n_lists(q); k++)
        nnz += q->lists[k].n;
    LD_CHECK(ld_structure_new(&s, q->n_rows, q->cols->size, nnz, true));
    ld_structure_sliced(s, a);
    if (a->values)
        LD_CHECK(ld_tensor_new(&values, 1, nnz, 1));
    for (int64_t k = 0; k < n_lists(q); k++)
        fill_rows(s, values, q, k);
    if (q->rows)
        LD_CHECK(ld_tensor_pick(&row_scale, a->row_scale, q->rows));
    else
        row_scale = ld_tensor_ref(a->row_scale);
    LD_CHECK(ld_tensor_pick(&col_scale, a->col_scale, q->cols));
    return ld_csr_new(out, s, values, row_scale, col_scale);
}

static void search_clear(search *q)
{
    set_clear(&q->set);
    for (int64_t k = 0; q->lists && k < n_lists(q); k++)
        ld_free(q->lists[k].matches);
    ld_free(q->lists);
}

static ld_status restrict_cols(ld_csr **out, ld_csr *a, const ld_index *rows, const ld_index *cols,
                               const char *what)
{
    LD_CLEANED(search_clear)
    search q = {.a = a, .rows = rows, .cols = cols, .n_rows = rows ? rows->size : a->s->n_rows};
    LD_CHECK(ld_index_check(cols, 0, a->s->n_cols, what));
    LD_CHECK(ld_index_check_unique(cols, what));
    LD_CHECK(find_matches(&q));
    return make(out, &q);
}

ld_status ld_csr_slice_cols(ld_csr **out, ld_csr *a, const ld_index *rows, const ld_index *cols)
{
    LD_CHECK(ld_index_check(rows, 0, a->s->n_rows, "slice: node"));
    LD_CHECK(ld_index_check_unique(rows, "slice: node"));
    LD_CHECK(restrict_cols(out, a, rows, cols, "slice: column"));
    if (rows == cols) /* an induced subgraph */
        (*out)->s->symmetric = a->s->symmetric;
    return LD_OK;
}

ld_status ld_csr_pick_cols(ld_csr **out, ld_csr *a, const ld_index *pick)
{
    return restrict_cols(out, a, NULL, pick, "pick_cols: position");
}

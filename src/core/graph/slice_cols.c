/* Slices with given columns. The entries of a[rows, cols] are found either in the rows, in parallel,
 * or, through the transpose, in the columns where these have far fewer entries to look at: what is
 * found there must be sorted, and its place in the row searched. Both ways look for marked ids in the
 * lists of a structure; they give the same bits. */
#include <string.h>

#include "base/marker.h"
#include "base/memory.h"
#include "base/threads.h"
#include "graph/csr.h"
#include "graph/id_set.h"

enum {
    AHEAD = 512,     /* entries that are asked for before they are read, where rows are long */
    ROWS_AHEAD = 8,  /* rows whose first entry is, where they are not */
    LINE = 16,       /* entries of a cache line */
    SHORT = 16,      /* entries of a row that are looked at one by one */
    LONG = 64,       /* the mean from which on rows are long */
    PENDING = 512,   /* candidates that are looked up together */
    WORK = 1 << 15,  /* entries that are worth a chunk of rows */
    COLUMN_COST = 4, /* of an entry of a column, in entries of rows */
};

/* An entry of a[rows, cols]: its row there, its place in that row of a, its column there. */
typedef struct {
    int32_t row, at, col;
} match;

/* Matches by rows, in a's order. */
typedef struct {
    match *matches;
    int64_t n, room;
} match_list;

typedef struct {
    ld_csr *a;
    const ld_index *rows; /* NULL: all */
    const ld_index *cols;
    int64_t n_rows, grain; /* rows of a chunk */
    bool long_rows;        /* LONG on the average */
    ld_id_set set;         /* of columns, or of rows when columns are searched */
    match_list *lists;     /* one for each chunk of rows */
    ld_loop_failure failure;
} search;

static int64_t n_lists(const search *q)
{
    return (q->n_rows + q->grain - 1) / q->grain;
}

/* Room for n more matches. */
static ld_status reserve(match_list *list, int64_t n)
{
    if (list->n + n <= list->room)
        return LD_OK;
    int64_t room = 2 * (list->n + n);
    match *matches = ld_alloc_array(room, sizeof *matches, LD_MEM_SCRATCH);
    if (!matches)
        return LD_NOMEM;
    if (list->n > 0)
        memcpy(matches, list->matches, (size_t)list->n * sizeof *matches);
    ld_free(list->matches);
    list->matches = matches;
    list->room = room;
    return LD_OK;
}

static int64_t row_id(const search *q, int64_t i)
{
    return q->rows ? q->rows->data[i] : i;
}

/* A walk through the entries of rows at .. end-1 of those that are given, or of all. */
typedef struct {
    const ld_structure *s;
    const int32_t *rows; /* NULL: all */
    int64_t at, end;
    int64_t done; /* entries of row `at` */
} walk;

/* Asks for the next n entries. Rows lie anywhere, and a processor sees by itself only that it is in the
 * middle of a long one. */
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

/* Entries whose columns, not yet places, may be members. */
typedef struct {
    match matches[PENDING + LD_ID_SET_BLOCK];
    int n;
} candidates;

/* Moves those that are members to the list, with their places. That is done for many together: each
 * look is a cache miss, and they need not wait for each other. */
static ld_status keep_members(match_list *list, candidates *c, const ld_id_set *set)
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

/* n entries from e on of row i, which begins at `first`. */
static void search_block(candidates *c, const search *q, int64_t i, int64_t first, int64_t e, int n)
{
    const int32_t *columns = q->a->s->columns + e;
    int32_t at[LD_ID_SET_BLOCK];
    n = ld_id_set_maybe(at, columns, n, &q->set);
    for (int j = 0; j < n; j++)
        c->matches[c->n++] = (match){(int32_t)i, (int32_t)(e - first) + at[j], columns[at[j]]};
}

/* The same of a short row, one by one: most have none. */
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
    for (int64_t e = first; st == LD_OK && e < end; e += LD_ID_SET_BLOCK) {
        int n = end - e < LD_ID_SET_BLOCK ? (int)(end - e) : LD_ID_SET_BLOCK;
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
    ld_status st;
    LD_TRY(ld_id_set_new(&q->set, q->cols, q->a->s->n_cols));
    st = ld_loop_result(&q->failure, ld_parallel_for(q->n_rows, q->grain, search_chunk, q));
done:
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
static ld_status sort_by_row(match_list *list, int64_t n_rows)
{
    ld_status st = LD_NOMEM;
    match *sorted = ld_alloc_array(list->n, sizeof *sorted, LD_MEM_SCRATCH);
    int64_t *next = ld_calloc_array(n_rows + 1, sizeof *next, LD_MEM_SCRATCH);
    if (!sorted || !next)
        goto done;
    for (int64_t i = 0; i < list->n; i++)
        next[list->matches[i].row + 1]++;
    for (int64_t r = 0; r < n_rows; r++)
        next[r + 1] += next[r];
    for (int64_t i = 0; i < list->n; i++)
        sorted[next[list->matches[i].row]++] = list->matches[i];
    if (list->n > 0)
        memcpy(list->matches, sorted, (size_t)list->n * sizeof *sorted);
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
    int32_t at[LD_ID_SET_BLOCK];
    ld_index *ascending = NULL;
    ld_marker *col_places = NULL;
    match_list *list = &q->lists[0];
    ld_status st;
    LD_TRY(ld_id_set_new(&q->set, q->rows, p->n_rows));
    LD_TRY(ld_marker_take(&col_places, p->n_cols));
    for (int64_t j = 0; j < q->cols->size; j++)
        ld_marker_set(col_places, q->cols->data[j], (int32_t)j);
    LD_TRY(ld_index_sort(&ascending, q->cols));
    walk ahead = {by_cols, ascending->data, 0, ascending->size, 0};
    ask_for(&ahead, AHEAD);
    for (int64_t i = 0; i < ascending->size; i++) {
        int32_t c = ascending->data[i], col = ld_marker_get(col_places, c);
        int64_t end = by_cols->offsets[c + 1];
        for (int64_t e = by_cols->offsets[c]; e < end; e += LD_ID_SET_BLOCK) {
            int n = end - e < LD_ID_SET_BLOCK ? (int)(end - e) : LD_ID_SET_BLOCK;
            ask_for(&ahead, n);
            n = ld_id_set_maybe(at, by_cols->columns + e, n, &q->set);
            LD_TRY(reserve(list, n));
            for (int j = 0; j < n; j++) {
                int32_t row = ld_marker_get(q->set.places, by_cols->columns[e + at[j]]);
                if (row >= 0)
                    list->matches[list->n++] =
                        (match){row, place_of(p, by_cols, e + at[j], c), col};
            }
        }
    }
    LD_TRY(sort_by_row(list, q->n_rows));
done:
    ld_marker_put(col_places);
    ld_index_unref(ascending);
    return st;
}

/* Fills in q->lists. */
static ld_status find_matches(search *q)
{
    const ld_structure *p = q->a->s, *by_cols = NULL;
    ld_status st = LD_OK;
    if (q->rows)
        ld_structure_by_cols(&by_cols, q->a->s, false);
    if (by_cols && (st = ld_structure_prefetch(by_cols, q->cols)) != LD_OK)
        return st;
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

/* The rows of chunk k, whose matches follow each other. */
static void fill_rows(ld_structure *s, ld_tensor *values, const search *q, int64_t k)
{
    const ld_structure *p = q->a->s;
    const match_list *list = &q->lists[k];
    int64_t end = (k + 1) * q->grain < q->n_rows ? (k + 1) * q->grain : q->n_rows;
    int64_t first = s->offsets[k * q->grain], n = 0;
    for (int64_t i = k * q->grain; i < end; i++) {
        int64_t from = p->offsets[row_id(q, i)];
        s->origin_row[i] = ld_structure_origin(p, row_id(q, i));
        for (; n < list->n && list->matches[n].row == i; n++) {
            int32_t at = list->matches[n].at;
            s->columns[first + n] = list->matches[n].col;
            s->origin[first + n] = p->origin ? p->origin[from + at] : at;
            if (values)
                values->data[first + n] = q->a->values->data[from + at];
        }
        s->offsets[i + 1] = first + n;
    }
}

static ld_status make(ld_csr **out, const search *q)
{
    ld_csr *a = q->a;
    ld_structure *s = NULL;
    ld_tensor *values = NULL, *row_scale = NULL, *col_scale = NULL;
    int64_t nnz = 0;
    ld_status st;
    for (int64_t k = 0; k < n_lists(q); k++)
        nnz += q->lists[k].n;
    LD_TRY(ld_structure_new(&s, q->n_rows, q->cols->size, nnz, true));
    ld_structure_sliced(s, a);
    if (a->values)
        LD_TRY(ld_tensor_new(&values, 1, nnz, 1));
    for (int64_t k = 0; k < n_lists(q); k++)
        fill_rows(s, values, q, k);
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

static void search_clear(search *q)
{
    ld_id_set_clear(&q->set);
    for (int64_t k = 0; q->lists && k < n_lists(q); k++)
        ld_free(q->lists[k].matches);
    ld_free(q->lists);
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
    search_clear(&q);
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

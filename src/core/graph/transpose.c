/* Transposes and symmetry. A transpose is one counting sort of the entries by column; the structure's
 * is made once and kept with it.
 *
 * Threads share the columns out: each reads all entries, in order, and minds those of its own columns.
 * Nearly all of the time goes into waiting for the places that these lead to, which lie anywhere, so
 * such a place is asked for some entries ahead. */
#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "graph/csr.h"

enum { AHEAD = 16, GROUP = 64, FEW_ENTRIES = 1 << 18, RANGES = 8, POLLED_ROWS = 1024 };

/* How many columns a thread takes at a time; all entries are read again for every such range. */
static int64_t columns_at_once(const ld_structure *s)
{
    return s->nnz < FEW_ENTRIES ? s->n_cols : s->n_cols / RANGES + 1;
}

static inline bool within(int32_t column, int64_t begin, int64_t end)
{
    return column >= begin && column < end;
}

typedef struct {
    ld_structure *t;
    const ld_structure *s;
} transposition;

static void count_columns(void *ctx, int64_t begin, int64_t end)
{
    const transposition *p = ctx;
    const int32_t *columns = p->s->columns;
    for (int64_t e = 0; e < p->s->nnz; e++)
        if (within(columns[e], begin, end))
            p->t->offsets[columns[e] + 1]++;
}

/* t->offsets[c] is where column c's next entry goes. */
static inline void place(ld_structure *t, int64_t r, int64_t e, int32_t c)
{
    int64_t at = t->offsets[c]++;
    t->columns[at] = (int32_t)r;
    t->source[at] = (int32_t)e;
}

static void fill_columns(void *ctx, int64_t begin, int64_t end)
{
    const ld_structure *s = ((transposition *)ctx)->s;
    ld_structure *t = ((transposition *)ctx)->t;
    for (int64_t r = 0; r < s->n_rows; r++) {
        if (r % POLLED_ROWS == 0 && ld_cancelled())
            return;
        for (int64_t e = s->offsets[r]; e < s->offsets[r + 1]; e++) {
            int32_t c = s->columns[e], later = s->columns[e + AHEAD < s->nnz ? e + AHEAD : e];
            if (within(later, begin, end)) {
                __builtin_prefetch(&t->columns[t->offsets[later]], 1);
                __builtin_prefetch(&t->source[t->offsets[later]], 1);
            }
            if (within(c, begin, end))
                place(t, r, e, c);
        }
    }
}

/* The same for the few entries of a mini-batch, which lie in the cache. */
static void fill_few(ld_structure *t, const ld_structure *s)
{
    for (int64_t r = 0; r < s->n_rows; r++)
        for (int64_t e = s->offsets[r]; e < s->offsets[r + 1]; e++)
            place(t, r, e, s->columns[e]);
}

/* Fills in t, whose arrays have room for s. */
static ld_status fill_transpose(ld_structure *t, const ld_structure *s)
{
    transposition p = {t, s};
    int64_t grain = columns_at_once(s);
    ld_status st;
    memset(t->offsets, 0, (size_t)(t->n_rows + 1) * sizeof *t->offsets);
    LD_TRY(ld_parallel_for(s->n_cols, grain, count_columns, &p));
    for (int64_t r = 0; r < t->n_rows; r++)
        t->offsets[r + 1] += t->offsets[r];
    if (s->nnz < FEW_ENTRIES)
        fill_few(t, s);
    else
        LD_TRY(ld_parallel_for(s->n_cols, grain, fill_columns, &p));
    LD_TRY(ld_poll());
    memmove(t->offsets + 1, t->offsets, (size_t)t->n_rows * sizeof *t->offsets);
    t->offsets[0] = 0;
done:
    return st;
}

static ld_status transpose_structure(ld_structure **out, const ld_structure *s)
{
    ld_structure *t;
    ld_status st = ld_structure_check_positions(s, "transpose");
    if (st == LD_OK)
        st = ld_structure_new(&t, s->n_cols, s->n_rows, s->nnz, false);
    if (st != LD_OK)
        return st;
    t->symmetric = s->symmetric;
    t->source = ld_alloc_array(s->nnz, sizeof *t->source, LD_MEM_MATRIX);
    st = t->source ? fill_transpose(t, s) : LD_NOMEM;
    if (st == LD_OK)
        *out = t;
    else
        ld_structure_unref(t);
    return st;
}

ld_status ld_structure_transpose(ld_structure **out, ld_structure *s)
{
    ld_structure *t = atomic_load(&s->transpose);
    ld_status st = LD_OK;
    if (!t) {
        if ((st = ld_hold(&s->transposing)) != LD_OK)
            return st;
        t = atomic_load(&s->transpose); /* made by another thread in the meantime? */
        if (!t && (st = transpose_structure(&t, s)) == LD_OK)
            atomic_store(&s->transpose, t);
        ld_unhold(&s->transposing);
    }
    *out = t;
    return st;
}

/* The values of a in the order of its transpose's entries, or NULL when a has none. */
static ld_status transpose_values(ld_tensor **out, const ld_csr *a, const ld_structure *t)
{
    *out = NULL;
    if (!a->values)
        return LD_OK;
    ld_status st = ld_tensor_new(out, 1, t->nnz, 1);
    for (int64_t e = 0; st == LD_OK && e < t->nnz; e++) {
        (*out)->data[e] = a->values->data[t->source[e]];
        st = ld_poll_at(e);
    }
    return st;
}

ld_status ld_csr_transpose(ld_csr **out, ld_csr *a)
{
    ld_structure *t = NULL;
    ld_tensor *values = NULL;
    ld_status st;
    LD_TRY(ld_structure_transpose(&t, a->s));
    LD_TRY(transpose_values(&values, a, t));
    LD_TRY(ld_csr_new(out, t, values, a->col_scale, a->row_scale));
done:
    ld_tensor_unref(values);
    return st;
}

/* What ld_csr_value gives for entry e of row r, taken from the transpose: the scales come in the
 * other order, and products of floats depend on it. */
static float transposed_value(const ld_csr *a, int64_t r, int64_t e)
{
    float v = a->values ? a->values->data[e] : 1.0f;
    if (a->col_scale)
        v *= a->col_scale->data[a->s->columns[e]];
    if (a->row_scale)
        v *= a->row_scale->data[r];
    return v;
}

typedef struct {
    const ld_csr *a;
    int64_t *next;                 /* of each row: its next entry right of the diagonal */
    atomic_bool structure, values; /* that they are symmetric, as far as it is known */
} comparison;

/* The first of the entries first .. end - 1 of a sorted row whose column is `column` or higher. */
static int64_t entry_from(const ld_structure *s, int64_t first, int64_t end, int64_t column)
{
    while (first < end) {
        int64_t middle = first + (end - first) / 2;
        if (s->columns[middle] < column)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

/* Whether entry e = (r, c), left of the diagonal, is like the next of row c right of it. */
static void compare(comparison *p, int64_t r, int64_t e)
{
    const ld_structure *s = p->a->s;
    int32_t c = s->columns[e];
    int64_t mirrored = p->next[c]++;
    if (mirrored >= s->offsets[c + 1] || s->columns[mirrored] != r)
        p->structure = false;
    else if (ld_csr_value(p->a, r, e) != transposed_value(p->a, c, mirrored) ||
             ld_csr_value(p->a, c, mirrored) != transposed_value(p->a, r, e))
        p->values = false;
}

/* Entries that wait for memory together: a row has few in a range of columns. */
typedef struct {
    int64_t rows[GROUP], entries[GROUP];
    int n;
} waiting;

static void compare_group(comparison *p, waiting *w)
{
    const int32_t *columns = p->a->s->columns;
    for (int i = 0; i < w->n; i++)
        __builtin_prefetch(&columns[p->next[columns[w->entries[i]]]]);
    for (int i = 0; i < w->n; i++)
        compare(p, w->rows[i], w->entries[i]);
    w->n = 0;
}

/* Rows are visited in ascending order, so the entries that mirror those right of the diagonal in row
 * c come up in the order in which its columns are sorted. */
static void compare_columns(void *ctx, int64_t begin, int64_t end)
{
    comparison *p = ctx;
    const ld_structure *s = p->a->s;
    waiting w = {.n = 0};
    for (int64_t c = begin; c < end; c++)
        p->next[c] = entry_from(s, s->offsets[c], s->offsets[c + 1], c + 1);
    for (int64_t r = begin + 1; r < s->n_rows && p->structure; r++) {
        if (r % POLLED_ROWS == 0 && ld_cancelled())
            return;
        int64_t e = entry_from(s, s->offsets[r], s->offsets[r + 1], begin);
        int64_t last = entry_from(s, e, s->offsets[r + 1], r < end ? r : end);
        for (; e < last; e++) {
            __builtin_prefetch(&p->next[s->columns[e]], 1);
            w.rows[w.n] = r;
            w.entries[w.n++] = e;
            if (w.n == GROUP)
                compare_group(p, &w);
        }
    }
    compare_group(p, &w);
    for (int64_t c = begin; c < end && p->structure; c++)
        if (p->next[c] < s->offsets[c + 1])
            p->structure = false;
}

/* Whether the scales of a are the same for rows and columns. */
static bool same_scales(const ld_csr *a)
{
    return a->row_scale == a->col_scale ||
           (a->row_scale && a->col_scale && ld_tensor_equal(a->row_scale, a->col_scale));
}

ld_status ld_csr_is_symmetric(bool *out, ld_csr *given)
{
    comparison p = {.structure = true, .values = true};
    ld_csr *a = NULL;
    ld_status st;
    *out = given->s->symmetric && !given->values && same_scales(given);
    if (*out || given->s->n_rows != given->s->n_cols)
        return LD_OK;
    LD_TRY(ld_csr_canonical(&a, given));
    const ld_structure *s = a->s;
    p.a = a;
    if (!(p.next = ld_alloc_array(s->n_rows, sizeof *p.next, LD_MEM_SCRATCH))) {
        st = LD_NOMEM;
        goto done;
    }
    LD_TRY(ld_parallel_for(s->n_cols, columns_at_once(s), compare_columns, &p));
    LD_TRY(ld_poll());
    if (p.structure)
        a->s->symmetric = true;
    *out = p.structure && p.values;
done:
    ld_free(p.next);
    ld_csr_unref(a);
    return st;
}

/* Finds out whether s equals its transpose; s->symmetric says so then. */
static ld_status find_symmetry(ld_structure *s)
{
    ld_csr *pattern = NULL;
    bool symmetric;
    ld_status st;
    LD_TRY(ld_csr_new(&pattern, s, NULL, NULL, NULL));
    LD_TRY(ld_csr_is_symmetric(&symmetric, pattern));
done:
    ld_csr_unref(pattern);
    return st;
}

ld_status ld_structure_by_cols(const ld_structure **out, ld_structure *s, bool make)
{
    ld_structure *t = atomic_load(&s->transpose);
    ld_status st = LD_OK;
    *out = NULL;
    if (s->origin_row || s->row_ids) /* a slice, or rows of a whole that is elsewhere */
        return st;
    if (make && !t && !s->symmetric)
        LD_TRY(find_symmetry(s));
    if (make && !t && !s->symmetric && ld_structure_has_positions(s))
        LD_TRY(ld_structure_transpose(&t, s));
    *out = s->symmetric ? s : t;
done:
    return st;
}

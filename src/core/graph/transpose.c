/* Makes transposes, and finds out if matrices are symmetric. A transpose is one counting sort of
 * the entries by column; that of a structure is made once and kept with it.
 *
 * Threads share the columns out: each reads all entries, in order, and handles those of its own
 * columns. Nearly all of the time goes into waiting for the places that these lead to, which lie
 * anywhere, so memory is asked for such a place some entries ahead. */
#include <inttypes.h>
#include <string.h>

#include "base/search.h"
#include "graph/csr.h"
#include "graph/edge_list.h"
#include "memory/memory.h"
#include "system/threads.h"

enum { AHEAD = 16, GROUP = 64, FEW_ENTRIES = 1 << 18, RANGES = 8, POLLED_ROWS = 1024 };

/* Returns how many columns a thread takes at a time; all entries are read again for every such
 * range. */
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

/* Puts an entry into t, where t->offsets[c] is the place of column c's next entry. */
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

/* Fills t with the few entries of a mini-batch, which lie in the cache. */
static void fill_few(ld_structure *t, const ld_structure *s)
{
    for (int64_t r = 0; r < s->n_rows; r++)
        for (int64_t e = s->offsets[r]; e < s->offsets[r + 1]; e++)
            place(t, r, e, s->columns[e]);
}

/* Fills in t, whose arrays have room for the entries of s. */
static ld_status fill_transpose(ld_structure *t, const ld_structure *s)
{
    transposition p = {t, s};
    int64_t grain = columns_at_once(s);
    memset(t->offsets, 0, (size_t)(t->n_rows + 1) * sizeof *t->offsets);
    LD_CHECK(ld_parallel_for(s->n_cols, grain, count_columns, &p));
    for (int64_t r = 0; r < t->n_rows; r++)
        t->offsets[r + 1] += t->offsets[r];
    if (s->nnz < FEW_ENTRIES)
        fill_few(t, s);
    else
        LD_CHECK(ld_parallel_for(s->n_cols, grain, fill_columns, &p));
    LD_CHECK(ld_poll());
    memmove(t->offsets + 1, t->offsets, (size_t)t->n_rows * sizeof *t->offsets);
    t->offsets[0] = 0;
    return LD_OK;
}

static ld_status transpose_structure(ld_structure **out, const ld_structure *s)
{
    LD_OWN(ld_structure) *t = NULL;
    LD_CHECK(ld_structure_check_positions(s, "transpose"));
    LD_CHECK(ld_structure_new(&t, s->n_cols, s->n_rows, s->nnz, false));
    t->symmetric = s->symmetric;
    if (!(t->source = ld_alloc_array(s->nnz, sizeof *t->source, LD_MEM_MATRIX)))
        return LD_NOMEM;
    LD_CHECK(fill_transpose(t, s));
    *out = ld_take(&t);
    return LD_OK;
}

ld_status ld_structure_transpose(ld_structure **out, ld_structure *s)
{
    ld_structure *t = atomic_load(&s->kept.transpose);
    ld_status st = LD_OK;
    if (!t) {
        LD_CHECK(ld_hold(&s->kept.transposing));
        t = atomic_load(&s->kept.transpose); /* made by another thread in the meantime? */
        if (!t && (st = transpose_structure(&t, s)) == LD_OK)
            atomic_store(&s->kept.transpose, t);
        ld_unhold(&s->kept.transposing);
    }
    *out = t;
    return st;
}

/* Gives the values of a in the order of its transpose's entries, or NULL when a has none. */
static ld_status transpose_values(ld_tensor **out, const ld_csr *a, const ld_structure *t)
{
    *out = NULL;
    if (!a->values)
        return LD_OK;
    LD_CHECK(ld_tensor_new(out, 1, t->nnz, 1));
    for (int64_t e = 0; e < t->nnz; e++) {
        (*out)->data[e] = a->values->data[t->source[e]];
        LD_CHECK(ld_poll_at(e));
    }
    return LD_OK;
}

ld_status ld_csr_transpose(ld_csr **out, ld_csr *a)
{
    ld_structure *t = NULL;
    LD_OWN(ld_tensor) *values = NULL;
    LD_CHECK(ld_structure_transpose(&t, a->s));
    LD_CHECK(transpose_values(&values, a, t));
    return ld_csr_new(out, t, values, a->col_scale, a->row_scale);
}

/* Returns the value of entry e of row r as the transpose has it: the scales come in the other order
 * than in ld_csr_value, and products of floats depend on the order. */
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
    int64_t *next;                 /* the next entry of each row right of the diagonal */
    atomic_bool structure, values; /* true until an entry shows that they are not symmetric */
} comparison;

/* Compares entry e = (r, c), left of the diagonal, with the next entry of row c right of it. */
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

/* A group of entries to be compared, which wait for memory together. A row has few of them in a
 * range of columns, so a group takes several rows. */
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

/* Compares the entries in columns begin .. end-1 with their mirrors. Rows are visited in ascending
 * order, so the mirrors, which are in rows begin .. end-1, come up in the order in which these are
 * sorted. */
static void compare_columns(void *ctx, int64_t begin, int64_t end)
{
    comparison *p = ctx;
    const ld_structure *s = p->a->s;
    waiting w = {.n = 0};
    for (int64_t c = begin; c < end; c++)
        p->next[c] = ld_search_int32(s->columns, s->offsets[c], s->offsets[c + 1], c + 1);
    for (int64_t r = begin + 1; r < s->n_rows && p->structure; r++) {
        if (r % POLLED_ROWS == 0 && ld_cancelled())
            return;
        int64_t e = ld_search_int32(s->columns, s->offsets[r], s->offsets[r + 1], begin);
        int64_t last = ld_search_int32(s->columns, e, s->offsets[r + 1], r < end ? r : end);
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

/* True when the scales of a are the same for rows and columns. */
static bool same_scales(const ld_csr *a)
{
    return a->row_scale == a->col_scale ||
           (a->row_scale && a->col_scale && ld_tensor_equal(a->row_scale, a->col_scale));
}

ld_status ld_csr_is_symmetric(bool *out, ld_csr *given)
{
    comparison p = {.structure = true, .values = true};
    LD_OWN(ld_csr) *a = NULL;
    LD_FREED int64_t *next = NULL;
    *out = given->s->symmetric && !given->values && same_scales(given);
    if (*out || given->s->n_rows != given->s->n_cols)
        return LD_OK;
    LD_CHECK(ld_csr_ordered(&a, given));
    const ld_structure *s = a->s;
    if (!(next = ld_alloc_array(s->n_rows, sizeof *next, LD_MEM_SCRATCH)))
        return LD_NOMEM;
    p.a = a;
    p.next = next;
    LD_CHECK(ld_parallel_for(s->n_cols, columns_at_once(s), compare_columns, &p));
    LD_CHECK(ld_poll());
    if (p.structure && a->s->canonical) /* the mirror image of a parallel entry is not known */
        a->s->symmetric = true;
    *out = p.structure && p.values;
    return LD_OK;
}

/* Finds out whether s equals its transpose; s->symmetric says so then. */
static ld_status find_symmetry(ld_structure *s)
{
    LD_OWN(ld_csr) *pattern = NULL;
    bool symmetric;
    LD_CHECK(ld_csr_new(&pattern, s, NULL, NULL, NULL));
    return ld_csr_is_symmetric(&symmetric, pattern);
}

ld_status ld_structure_by_cols(const ld_structure **out, ld_structure *s, bool make)
{
    ld_structure *t = atomic_load(&s->kept.transpose);
    *out = NULL;
    if (s->from.rows || s->from.row_ids) /* a slice, or rows of a whole that is elsewhere */
        return LD_OK;
    if (make && !t && !s->symmetric)
        LD_CHECK(find_symmetry(s));
    if (make && !t && !s->symmetric && ld_structure_has_positions(s))
        LD_CHECK(ld_structure_transpose(&t, s));
    *out = s->symmetric ? s : t;
    return LD_OK;
}

/* Draws negatives. Row r has m = n_cols - (entries, and its diagonal where that is taken for one)
 * columns to draw from. As columns ascend in a row, column j of those that are missing is found by
 * binary search, so a uniform draw needs one random number and is exact. In proportion to p a
 * column is drawn from all until it is a missing one; after TRIES draws it is one of the missing by
 * their cumulated p, which has the same distribution. Draw i has the positions i (TRIES + 1) .. of
 * the sub-stream. */
#include "sample/negatives.h"

#include <inttypes.h>

#include "base/search.h"
#include "memory/memory.h"
#include "system/threads.h"

enum { TRIES = 63, GRAIN = 64 };

/* The columns that may not be drawn for row r: those of its entries, and r itself when `loop` is
 * set. */
typedef struct {
    const ld_structure *s;
    int64_t row, begin, end;
    bool loop; /* the diagonal counts as an entry, though there is none on it */
} ld_taken;

static bool in_row(const ld_structure *s, int64_t row, int64_t column)
{
    int64_t end = s->offsets[row + 1];
    int64_t e = ld_search_int32(s->columns, s->offsets[row], end, column);
    return e < end && s->columns[e] == column;
}

static ld_taken taken_of(const ld_structure *s, int64_t row, bool loops)
{
    bool excluded = !loops && s->n_rows == s->n_cols;
    return (ld_taken){s, row, s->offsets[row], s->offsets[row + 1],
                      excluded && !in_row(s, row, row)};
}

static bool is_taken(const ld_taken *t, int64_t column)
{
    return (t->loop && column == t->row) || in_row(t->s, t->row, column);
}

static int64_t count_missing(const ld_taken *t)
{
    return t->s->n_cols - (t->end - t->begin) - t->loop;
}

/* Returns column number j, from 0, of those without an entry. */
static int64_t without_entry(const ld_taken *t, int64_t j)
{
    int64_t low = t->begin, high = t->end;
    while (low < high) { /* the first entry with more than j missing columns before it */
        int64_t middle = low + (high - low) / 2;
        if (t->s->columns[middle] - (middle - t->begin) > j)
            high = middle;
        else
            low = middle + 1;
    }
    return j + (low - t->begin);
}

static int64_t missing(const ld_taken *t, int64_t j)
{
    int64_t column = without_entry(t, j);
    return t->loop && column >= t->row ? without_entry(t, j + 1) : column;
}

/* Returns the missing column that `u`, uniform in (0, 1), falls on by the cumulated p of all of
 * them; -1 where none has a positive p. */
static int64_t by_cumulated(const ld_taken *t, const ld_tensor *p, double u)
{
    double total = 0, sum = 0;
    int64_t last = -1;
    for (int64_t c = 0; c < p->n_rows; c++)
        if (p->data[c] > 0 && !is_taken(t, c))
            total += (double)p->data[c];
    for (int64_t c = 0; c < p->n_rows && sum <= u * total; c++)
        if (p->data[c] > 0 && !is_taken(t, c)) {
            sum += (double)p->data[c];
            last = c;
        }
    return last;
}

static int64_t weighted(const ld_taken *t, const ld_alias *p, ld_stream stream, uint64_t position)
{
    for (uint64_t i = 0; i < TRIES; i++) {
        int64_t column = ld_alias_draw(p, stream, position + i);
        if (!is_taken(t, column))
            return column;
    }
    return by_cumulated(t, p->p, ld_uniform_of_bits(ld_random_bits(stream, position + TRIES)));
}

typedef struct {
    const ld_structure *s;
    const ld_index *rows;
    int64_t k;
    ld_negative_options options;
    ld_stream stream;
    int32_t *out;
    ld_loop_failure failure;
} ld_drawing;

static void draw_rows(void *ctx, int64_t begin, int64_t end)
{
    ld_drawing *d = ctx;
    for (int64_t i = begin; i < end; i++) {
        int64_t row = d->rows->data[i];
        ld_taken t = taken_of(d->s, row, d->options.loops);
        int64_t count = count_missing(&t);
        for (int64_t j = i * d->k; j < (i + 1) * d->k; j++) {
            uint64_t position = (uint64_t)j * (TRIES + 1);
            int64_t column = -1;
            if (count > 0)
                column = d->options.p ? weighted(&t, d->options.p, d->stream, position)
                                      : missing(&t, (int64_t)ld_random_below(d->stream, position,
                                                                             (uint64_t)count));
            if (column < 0) {
                ld_loop_note(&d->failure,
                             ld_fail(LD_VALUE,
                                     "negatives: row %" PRId64 " has an entry in every column%s",
                                     row + 1, d->options.p ? " of positive probability" : ""));
                return;
            }
            d->out[j] = (int32_t)column;
        }
    }
}

ld_status ld_negatives(ld_index **out, ld_csr *a, const ld_index *rows, int64_t k,
                       ld_negative_options o, ld_rng *rng)
{
    LD_OWN(ld_csr) *sorted = NULL;
    LD_OWN(ld_index) *x = NULL;
    LD_CHECK(ld_index_check(rows, 0, a->s->n_rows, "negatives: row"));
    if (k < 0 || (rows->size > 0 && k > INT32_MAX / rows->size))
        return ld_fail(LD_VALUE,
                       "negatives: %" PRId64 " for each of %" PRId64
                       " rows, expected 0 to 2^31 - 1 "
                       "in all",
                       k, rows->size);
    if (o.p && o.p->p->n_rows != a->s->n_cols)
        return ld_fail(LD_VALUE, "negatives: %" PRId64 " probabilities for %" PRId64 " columns",
                       o.p->p->n_rows, a->s->n_cols);
    LD_CHECK(ld_csr_canonical(&sorted, a));
    LD_CHECK(ld_index_new(&x, rows->size * k));
    ld_drawing d = {sorted->s, rows, k, o, ld_rng_next(rng), x->data, {0}};
    LD_CHECK(ld_loop_result(&d.failure, ld_parallel_for(rows->size, GRAIN, draw_rows, &d)));
    *out = ld_take(&x);
    return LD_OK;
}

/* --- pairs ------------------------------------------------------------------------------------ */

/* Counts the missing columns of all rows before each one, and of all. */
static ld_status cumulate_missing(int64_t **out, const ld_structure *s, bool loops)
{
    int64_t *before = ld_alloc_array(s->n_rows + 1, sizeof *before, LD_MEM_SCRATCH);
    if (!before)
        return LD_NOMEM;
    before[0] = 0;
    for (int64_t r = 0; r < s->n_rows; r++) {
        ld_taken t = taken_of(s, r, loops);
        before[r + 1] = before[r] + count_missing(&t);
    }
    *out = before;
    return LD_OK;
}

typedef struct {
    const ld_structure *s;
    int64_t *before; /* from cumulate_missing, or NULL as long as nobody has needed it */
    bool loops;
    ld_stream stream;
    int32_t *from, *to; /* a `from` of -1 is one that was rejected TRIES times */
} ld_pairs;

static void draw_pairs(void *ctx, int64_t begin, int64_t end)
{
    const ld_pairs *d = ctx;
    const ld_structure *s = d->s;
    uint64_t cells = (uint64_t)s->n_rows * (uint64_t)s->n_cols;
    for (int64_t i = begin; i < end; i++) {
        uint64_t position = (uint64_t)i * (TRIES + 1);
        d->from[i] = -1;
        for (uint64_t n = 0; n < TRIES && d->from[i] < 0; n++) {
            uint64_t cell = ld_random_below(d->stream, position + n, cells);
            int64_t row = (int64_t)(cell / (uint64_t)s->n_cols);
            int64_t column = (int64_t)(cell % (uint64_t)s->n_cols);
            ld_taken t = taken_of(s, row, d->loops);
            if (!is_taken(&t, column)) {
                d->from[i] = (int32_t)row;
                d->to[i] = (int32_t)column;
            }
        }
    }
}

/* Draws the pairs that draw_pairs has left, by the number of the pair among all that are
 * missing. */
static ld_status draw_left(ld_pairs *d, int64_t k)
{
    const ld_structure *s = d->s;
    for (int64_t i = 0; i < k; i++) {
        if (d->from[i] >= 0)
            continue;
        if (!d->before)
            LD_CHECK(cumulate_missing(&d->before, s, d->loops));
        int64_t all = d->before[s->n_rows];
        if (all == 0)
            return ld_fail(LD_VALUE, "non_edges: every pair is an entry");
        int64_t j =
            (int64_t)ld_random_below(d->stream, (uint64_t)i * (TRIES + 1) + TRIES, (uint64_t)all);
        int64_t row = ld_search_int64(d->before, 0, s->n_rows + 1, j + 1) - 1;
        ld_taken t = taken_of(s, row, d->loops);
        d->from[i] = (int32_t)row;
        d->to[i] = (int32_t)missing(&t, j - d->before[row]);
    }
    return LD_OK;
}

ld_status ld_non_edges(ld_index **from, ld_index **to, ld_csr *a, int64_t k, bool loops,
                       ld_rng *rng)
{
    LD_OWN(ld_csr) *sorted = NULL;
    LD_OWN(ld_index) *x = NULL;
    LD_OWN(ld_index) *y = NULL;
    if (k < 0 || k > INT32_MAX)
        return ld_fail(LD_VALUE, "non_edges: k must be 0 to %d, got %" PRId64, INT32_MAX, k);
    if (k > 0 && (a->s->n_rows == 0 || a->s->n_cols == 0))
        return ld_fail(LD_VALUE, "non_edges: there are no pairs");
    LD_CHECK(ld_csr_canonical(&sorted, a));
    LD_CHECK(ld_index_new(&x, k));
    LD_CHECK(ld_index_new(&y, k));
    ld_pairs d = {sorted->s, NULL, loops, ld_rng_next(rng), x->data, y->data};
    LD_CHECK(ld_parallel_for(k, GRAIN, draw_pairs, &d));
    ld_status st = draw_left(&d, k);
    ld_free(d.before);
    LD_CHECK(st);
    *from = ld_take(&x);
    *to = ld_take(&y);
    return LD_OK;
}

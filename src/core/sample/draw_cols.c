/* Layer-wise sampling in one call, by a scan of all entries of the rows or, where it costs less, in
 * two stages.
 *
 * The first stage draws a row v with probability r_v / R, where r_v is its mass and R that of all
 * the given rows, the second a column u of it with probability |a_vu|^power / r_v. Summed over v
 * that is p_u exactly. A column that was drawn before is thrown away and drawn again, which is
 * successive sampling without replacement, in draw order. p is then summed for the chosen columns
 * alone, over the block that is made of them anyway; its divisor R is known.
 *
 * Where the support is small, or a few columns or those that are certain hold nearly all the mass,
 * most draws would be thrown away. The rest is then drawn by the scan, from p without the columns
 * drawn so far.
 *
 * Measured in turns on 100,000 nodes, two stages take twice as long as the scan with 2 entries of
 * the rows for every draw, as long with 12 to 20, a third to a half with 100, and a fourteenth with
 * 6,400. The size from which they are taken is part of what a seed means: draws differ between both
 * ways, though their distribution does not. */
#include "sample/draw_cols.h"

#include "base/search.h"
#include "graph/marker.h"
#include "graph/row_mass.h"
#include "memory/memory.h"

enum {
    WORTH = 4,  /* with more entries of the rows than this for a draw, two stages pay */
    LONG = 16,  /* with more than this for a column, a transpose pays, too */
    GROUP = 32, /* draws that are made together */
};

/* A call, and its draws in two stages. */
typedef struct {
    ld_csr *a;
    const ld_index *rows;
    int64_t k;
    ld_draw_options o;
    const ld_index *certain; /* columns that are not drawn, or NULL: `always`, but not with unite */
    int64_t n_certain;
    ld_rng rng;
    const ld_row_mass *mass;
    double total;     /* the mass of the rows */
    int64_t positive; /* how many of their entries have a positive mass */
    ld_index *cols;   /* the certain columns, the drawn ones, each once, then what unite adds */
    ld_index *drawn;  /* places in `cols`, in draw order */
    int64_t n_distinct;
} draw;

static void draw_clear(draw *d)
{
    ld_index_unref(d->cols);
    ld_index_unref(d->drawn);
}

/* Returns a bound of the number of columns with any mass. Weights without bias need one bound for
 * both endings, all draws in two stages or a scan for the last ones: which ending comes depends on
 * the draws. */
static int64_t support_bound(const draw *d)
{
    return d->positive < d->a->s->n_cols ? d->positive : d->a->s->n_cols;
}

/* --- the scan --------------------------------------------------------------------------------- */

/* Draws by a scan, after the draws in `drawn`, if there are any. */
static ld_status scan(ld_csr **out, ld_index **src, ld_tensor **w, draw *d)
{
    ld_choice_options o = d->o.choice;
    ld_choice_begun begun = {0};
    LD_OWN(ld_csr) *u = NULL;
    LD_OWN(ld_tensor) *p = NULL;
    LD_OWN(ld_index) *near = NULL, *always = NULL, *ids = NULL, *draws = NULL, *pick = NULL;
    LD_CHECK(ld_csr_slice(&u, &near, d->a, d->rows, o.always));
    LD_CHECK(ld_csr_col_sums(&p, u, d->o.power));
    if (o.always)
        LD_CHECK(ld_index_range(&always, 0, o.always->size));
    o.always = always;
    if (d->drawn) {
        LD_CHECK(ld_index_gather(&ids, d->cols, d->drawn));
        LD_CHECK(ld_index_find(&draws, near, ids, LD_ABSENT_ERROR));
        begun.draws = draws;
        begun.bound = support_bound(d);
    }
    LD_CHECK(ld_choice_continue(&pick, w, p, d->k, o, begun, &d->rng));
    LD_CHECK(ld_index_gather(src, near, pick));
    return ld_csr_pick_cols(out, u, pick);
}

/* --- two stages ------------------------------------------------------------------------------- */

/* Decides whether draws in two stages are possible and cost less than a scan; fills in the masses
 * if so. */
static ld_status consider(bool *worth, draw *d)
{
    const ld_structure *s = d->a->s, *by_cols;
    *worth = false;
    if (d->o.way == LD_DRAW_SCAN || d->o.choice.draw > LD_CHOICE_WR || d->k <= 0)
        return LD_OK;
    int64_t entries = ld_structure_count(s, d->rows);
    int64_t always = d->o.choice.always ? d->o.choice.always->size : 0;
    /* Where rows are short, most draws fall on the certain columns. */
    bool dear = entries / WORTH < d->k + 4 * d->n_certain || s->n_cols / 2 < d->k;
    if (d->k >= s->n_cols || (d->o.way == LD_DRAW_BY_COST && dear))
        return LD_OK;
    LD_CHECK(ld_csr_row_mass(&d->mass, d->a, d->o.power));
    for (int64_t i = 0; d->mass && i < d->rows->size; i++) {
        d->total += d->mass->rows[d->rows->data[i]];
        d->positive += d->mass->positive[d->rows->data[i]];
    }
    *worth = d->total > 0;
    if (*worth && entries / LONG >= d->k + always) /* to make the block by columns */
        LD_CHECK(ld_structure_by_cols(&by_cols, d->a->s, true));
    return LD_OK;
}

/* Makes n <= GROUP draws, from number `first` on, and gives their columns. They wait for memory
 * together, not one after the other. */
static void draw_group(int32_t *columns, const draw *d, const double *sums, ld_stream stream,
                       int64_t first, int64_t n)
{
    int64_t rows[GROUP];
    double fractions[GROUP];
    for (int64_t j = 0; j < n; j++) {
        uint32_t bits[4];
        ld_philox(bits, stream, LD_CHOICE_STAGES + (uint64_t)(first + j));
        double of_rows = (double)(((uint64_t)bits[1] << 32 | bits[0]) >> 11) * 0x1p-53;
        fractions[j] = (double)(((uint64_t)bits[3] << 32 | bits[2]) >> 11) * 0x1p-53;
        rows[j] = d->rows->data[ld_search_sums(sums, d->rows->size, of_rows * d->total)];
        ld_row_mass_prefetch(d->mass, d->a, rows[j], fractions[j]);
    }
    for (int64_t j = 0; j < n; j++)
        columns[j] = d->a->s->columns[ld_row_mass_find(d->mass, d->a, rows[j], fractions[j])];
}

/* Draws columns until there are k or too many were thrown away. `places` has the places of the
 * columns in `cols`, `sums` the running sums of the rows' masses. */
static ld_status draw_some(draw *d, ld_marker *places, const double *sums)
{
    bool repeats = d->o.choice.draw == LD_CHOICE_WR;
    int32_t *drawn = d->drawn->data, columns[GROUP];
    int64_t n = 0, size;
    ld_rng rng = d->rng;
    ld_stream stream = ld_rng_next(&rng);
    for (int64_t i = 0; n < d->k && ld_worth_redrawing(n, i - n); i += size) {
        LD_CHECK(ld_poll());
        size = d->k - n < GROUP ? d->k - n : GROUP;
        draw_group(columns, d, sums, stream, i, size);
        for (int64_t j = 0; j < size; j++)
            __builtin_prefetch(&places->marks[columns[j]]);
        for (int64_t j = 0; j < size; j++) {
            int32_t place = ld_marker_get(places, columns[j]);
            if (place < 0) {
                place = (int32_t)d->cols->size++;
                ld_marker_set(places, columns[j], place);
                d->cols->data[place] = columns[j];
            } else if (!repeats || place < d->n_certain) {
                continue;
            }
            drawn[n++] = place;
        }
    }
    d->drawn->size = n;
    return LD_OK;
}

/* Fills in `cols` and `drawn`. With unite, the columns of `always` that were not drawn follow. */
static ld_status draw_columns(draw *d)
{
    const ld_index *always = d->o.choice.always;
    int64_t n_always = always ? always->size : 0;
    LD_OWN(ld_marker) *places = NULL;
    LD_FREED double *sums = NULL;
    double sum = 0;
    LD_CHECK(ld_marker_take(&places, d->a->s->n_cols));
    LD_CHECK(ld_index_new(&d->cols, n_always + d->k));
    LD_CHECK(ld_index_new(&d->drawn, d->k));
    if (!(sums = ld_alloc_array(d->rows->size, sizeof *sums, LD_MEM_SCRATCH)))
        return LD_NOMEM;
    for (int64_t i = 0; i < d->rows->size; i++)
        sums[i] = sum += d->mass->rows[d->rows->data[i]];
    d->cols->size = d->n_certain;
    for (int64_t i = 0; i < d->n_certain; i++) {
        ld_marker_set(places, d->certain->data[i], (int32_t)i);
        d->cols->data[i] = d->certain->data[i];
    }
    LD_CHECK(draw_some(d, places, sums));
    d->n_distinct = d->cols->size - d->n_certain;
    for (int64_t i = 0; i < n_always; i++)
        if (ld_marker_get(places, always->data[i]) < 0)
            d->cols->data[d->cols->size++] = always->data[i];
    return LD_OK;
}

/* Returns the mass outside of the certain columns, from the block of all columns. *whole becomes
 * true when the columns drawn are all that have any. */
static double mass_left(bool *whole, const draw *d, const ld_csr *block)
{
    const ld_structure *s = block->s;
    int64_t others = d->positive;
    double left = d->total;
    for (int64_t r = 0; r < s->n_rows; r++) {
        for (int64_t e = s->offsets[r]; e < s->offsets[r + 1]; e++) {
            double v = ld_csr_value(block, r, e);
            others -= v != 0 && s->columns[e] < d->n_certain + d->n_distinct;
            if (s->columns[e] < d->n_certain)
                left -= d->o.power == 2 ? v * v : v;
        }
    }
    *whole = others == 0;
    return left;
}

static ld_status draw_in_two_stages(ld_csr **out, ld_index **src, ld_tensor **w, draw *d)
{
    ld_choice_options o = d->o.choice;
    LD_OWN(ld_csr) *block = NULL;
    LD_OWN(ld_tensor) *p = NULL;
    LD_OWN(ld_index) *always = NULL, *pick = NULL;
    ld_mass left = {0, support_bound(d)};
    bool whole;
    LD_CHECK(draw_columns(d));
    if (d->drawn->size < d->k) {
        return scan(out, src, w, d);
    }
    LD_CHECK(ld_csr_slice_cols(&block, d->a, d->rows, d->cols));
    left.total = mass_left(&whole, d, block);
    if (whole && o.draw == LD_CHOICE_WOR) { /* all are taken, in whatever order they were drawn */
        return scan(out, src, w, d);
    }
    LD_CHECK(ld_csr_col_sums(&p, block, d->o.power));
    if (o.always)
        LD_CHECK(ld_index_find(&always, d->cols, o.always, LD_ABSENT_ERROR));
    o.always = always;
    ld_choice_begun begun = {d->drawn, &left, left.support};
    LD_CHECK(ld_choice_continue(&pick, w, p, d->k, o, begun, &d->rng));
    *out = ld_take(&block);
    *src = ld_index_ref(d->cols); /* `pick` is 0, 1, ...: they are in its order */
    return LD_OK;
}

ld_status ld_draw_cols(ld_csr **out, ld_index **src, ld_tensor **w, ld_csr *a, const ld_index *rows,
                       int64_t k, ld_draw_options o, ld_rng *rng)
{
    const ld_index *always = o.choice.always;
    LD_CLEANED(draw_clear) draw d = {.a = a, .rows = rows, .k = k, .o = o, .rng = *rng};
    bool two_stages;
    ld_rng_next(rng);
    LD_CHECK(ld_index_check(rows, 0, a->s->n_rows, "draw_cols: node"));
    LD_CHECK(ld_index_check_unique(rows, "draw_cols: node"));
    if (always) {
        LD_CHECK(ld_index_check(always, 0, a->s->n_cols, "draw_cols: always: column"));
        LD_CHECK(ld_index_check_unique(always, "draw_cols: always: column"));
    }
    if (always && !o.choice.unite) {
        d.certain = always;
        d.n_certain = always->size;
    }
    LD_CHECK(ld_structure_prefetch(a->s, rows));
    LD_CHECK(consider(&two_stages, &d));
    return two_stages ? draw_in_two_stages(out, src, w, &d) : scan(out, src, w, &d);
}

/* The kernels of kernel/spmm.h against the loops of spmm_plain.h, bit by bit. */
#include <inttypes.h>
#include <stdio.h>

#include "check.h"
#include "kernel/spmm.h"
#include "spmm_plain.h"

static const struct {
    int64_t n_rows, n_cols, degree;
} SHAPES[] = {{0, 0, 1},   {0, 5, 1},    {5, 0, 1},     {1, 1, 1},    {3, 7, 2},
              {64, 64, 5}, {65, 33, 20}, {129, 300, 9}, {99, 4200, 5}};
static const int64_t WIDTHS[] = {0, 1, 3, 8, 13, 17, 31, 33, 64, 100, 129};
static const int PARTS[] = {0, WITH_VALUES, WITH_COL_SCALE, WITH_VALUES | WITH_ROW_SCALE,
                            WITH_VALUES | WITH_ROW_SCALE | WITH_COL_SCALE | WITH_SOURCE};

enum { N_SHAPES = 8 /* and one that is large */, N_WIDTHS = 11, N_PARTS = 5 };

/* One product: a matrix, x, a bias or NULL, what y holds before, and what it should hold then. */
typedef struct {
    sparse s;
    int64_t k;
    float *x, *before, *bias, *want;
    bool accumulate;
    const char *text; /* for messages */
} example;

/* Returns what y should be, by the plain loops. */
static float *wanted(const example *e, const int32_t *meets)
{
    float *y = copy_floats(e->before, e->s.a.n_rows * e->k);
    ld_spmm_plain(y, &e->s.a, meets, e->x, e->k, e->accumulate, e->bias);
    return y;
}

static example example_new(int shape, int64_t k, int what, numbers kind, bool accumulate,
                           bool biased)
{
    static char text[160];
    example e = {.k = k, .accumulate = accumulate, .text = text};
    e.s = sparse_new(SHAPES[shape].n_rows, SHAPES[shape].n_cols, SHAPES[shape].degree, what, kind);
    e.x = new_floats(e.s.a.n_cols * k, kind);
    e.before = new_floats(e.s.a.n_rows * k, kind);
    e.bias = biased ? new_floats(k, kind) : NULL;
    snprintf(text, sizeof text, "%" PRId64 " x %" PRId64 ", k = %" PRId64 ", parts %d, %s%s%s",
             e.s.a.n_rows, e.s.a.n_cols, k, what, kind == SPECIAL ? "special numbers" : "",
             accumulate ? ", accumulate" : "", biased ? ", bias" : "");
    e.want = wanted(&e, e.s.columns);
    return e;
}

static void check_rows(const example *e)
{
    int64_t n = e->s.a.n_rows * e->k;
    int32_t *meets = new_block(e->s.nnz, sizeof *meets);
    for (int64_t i = 0; i < e->s.nnz; i++) /* many entries meet one row of x */
        meets[i] = e->s.columns[i] / 2;
    for (int i = 0; i < 2; i++) {
        const int32_t *of = i == 0 ? e->s.columns : meets;
        float *y = copy_floats(e->before, n), *want = i == 0 ? e->want : wanted(e, meets);
        ld_status st = ld_spmm_by_rows(y, &e->s.a, of, e->x, e->k, e->accumulate, e->bias);
        check(st == LD_OK && same_floats(y, want, n), "by rows, %s", e->text);
    }
}

static void check_blocks(const example *e)
{
    for (int shift = 2; shift <= 14; shift += 6) {
        int64_t n = e->s.a.n_rows * e->k, made = -1;
        float *y = copy_floats(e->before, n);
        ld_status st =
            ld_spmm_by_blocks(&made, y, &e->s.a, shift, e->x, e->k, e->accumulate, e->bias);
        check(st == LD_OK && made == e->s.a.n_rows && same_floats(y, e->want, n),
              "by blocks of 2^%d, %s", shift, e->text);
    }
}

static void check_windows(const example *e)
{
    for (int64_t window = 1; window <= 1000; window *= 10) {
        int64_t n = e->s.a.n_rows * e->k;
        float *y = copy_floats(e->before, n);
        ld_status st =
            ld_spmm_by_windows(y, &e->s.a, e->x, e->k, e->bias, 1001 / window, window, NULL, NULL);
        check(st == LD_OK && same_floats(y, e->want, n), "by windows of %" PRId64 ", %s", window,
              e->text);
    }
}

/* Checks the product that is computed by windows of x, each of them an array of its own. */
static void check_each_window(const example *e)
{
    for (int64_t window = 1; window <= 100 && e->s.a.n_cols > 0; window *= 10) {
        int64_t n = e->s.a.n_rows * e->k;
        float *y = copy_floats(e->before, n);
        for (int64_t first = 0, rows; first < e->s.a.n_cols; first += rows) {
            rows = e->s.a.n_cols - first < window ? e->s.a.n_cols - first : window;
            float *x = copy_floats(e->x + first * e->k, rows * e->k);
            ld_status st = ld_spmm_of_window(y, &e->s.a, x, first, rows, e->k, e->bias);
            check(st == LD_OK, "a window of %" PRId64 ", %s", window, e->text);
        }
        check(same_floats(y, e->want, n), "windows of %" PRId64 " by themselves, %s", window,
              e->text);
    }
}

static void check_precise(const example *e)
{
    int64_t n = e->s.a.n_rows * e->k;
    float *y = copy_floats(e->before, n), *want = copy_floats(e->before, n);
    ld_spmm_double_plain(want, &e->s.a, e->x, e->k);
    ld_status st = ld_spmm_in_double(y, &e->s.a, e->x, e->k);
    check(st == LD_OK && same_floats(y, want, n), "in double, %s", e->text);
}

/* The transpose: x has the rows of `before`, and y those of x. */
static void check_columns(const example *e)
{
    int64_t n = e->s.a.n_cols * e->k;
    ld_factors a = e->s.a;
    float *y = copy_floats(e->x, n), *want = copy_floats(e->x, n);
    float *sums = new_block(n, sizeof *sums);
    a.source = NULL;
    ld_spmm_t_plain(want, sums, &a, e->before, e->k, e->accumulate);
    ld_status st = ld_spmm_by_columns(y, &a, e->before, e->k, e->accumulate);
    check(st == LD_OK && same_floats(y, want, n), "by columns, %s", e->text);
}

static void check_heads(const example *e)
{
    static const int64_t HEADS[] = {1, 2, 3, 4, 7, 8, 16, 65};
    for (int i = 0; i < (int)(sizeof HEADS / sizeof *HEADS) && HEADS[i] <= e->k; i++) {
        int64_t heads = HEADS[i], width = e->k / heads, k = heads * width, n = e->s.a.n_rows * k;
        float *w = new_floats(e->s.nnz * heads, ORDINARY);
        float *y = copy_floats(e->before, n), *want = copy_floats(e->before, n);
        ld_spmm_heads_plain(want, &e->s.a, w, e->x, heads, width, e->accumulate);
        ld_status st = ld_spmm_of_heads(y, &e->s.a, w, e->x, heads, width, e->accumulate);
        check(st == LD_OK && same_floats(y, want, n), "%" PRId64 " heads, %s", heads, e->text);
        float *dots = copy_floats(w, e->s.nnz * heads), *others = copy_floats(w, e->s.nnz * heads);
        ld_sddmm_plain(others, &e->s.a, e->before, e->x, heads, width, e->accumulate);
        st = ld_sddmm_of_heads(dots, &e->s.a, e->before, e->x, heads, width, e->accumulate);
        check(st == LD_OK && same_floats(dots, others, e->s.nnz * heads),
              "dots of %" PRId64 " heads, %s", heads, e->text);
    }
}

static void check_shape(int shape, int64_t k, int what, numbers kind)
{
    for (int way = 0; way < 4; way++) {
        bool accumulate = way & 1, biased = way & 2;
        example any = example_new(shape, k, what, kind, accumulate, biased);
        check_rows(&any);
        if (!biased) { /* these have no bias */
            check_precise(&any);
            check_columns(&any);
            check_heads(&any);
        }
        example sorted = example_new(shape, k, what | ASCENDING, kind, accumulate, biased);
        check_blocks(&sorted);
        if (!accumulate) {
            check_windows(&sorted);
            check_each_window(&sorted);
        }
        free_blocks();
    }
}

/* A matrix and an x that no core's cache holds, whose rows are asked for ahead. */
static void check_far(void)
{
    static const int64_t widths[] = {64, 65, 128};
    for (int i = 0; i < (int)(sizeof widths / sizeof *widths); i++) {
        example e =
            example_new(N_SHAPES, widths[i], WITH_VALUES | WITH_SOURCE, SPECIAL, false, false);
        check_rows(&e);
        check_heads(&e);
        free_blocks();
    }
}

/* Where a row is not sorted, the product by blocks says how many rows it has computed, and these
 * are right. */
static void check_unsorted(void)
{
    enum { ROWS = 3000, COLUMNS = 50, K = 33 };
    sparse s = sparse_new(ROWS, COLUMNS, 9, WITH_VALUES | ASCENDING, ORDINARY);
    float *x = new_floats(COLUMNS * K, ORDINARY), *y = new_floats(ROWS * K, ORDINARY);
    float *want = copy_floats(y, ROWS * K);
    int64_t made = -1, r = ROWS - 1;
    while (s.offsets[r + 1] - s.offsets[r] < 2)
        r--;
    s.columns[s.offsets[r] + 1] = s.columns[s.offsets[r]]; /* one column twice */
    ld_spmm_plain(want, &s.a, s.columns, x, K, false, NULL);
    ld_status st = ld_spmm_by_blocks(&made, y, &s.a, 4, x, K, false, NULL);
    check(st == LD_OK && made >= 0 && made <= r && same_floats(y, want, made * K), "unsorted rows");
}

void test(void)
{
    for (int shape = 0; shape < N_SHAPES; shape++)
        for (int width = 0; width < N_WIDTHS; width++)
            for (int part = 0; part < N_PARTS; part++)
                check_shape(shape, WIDTHS[width], PARTS[part], part % 2 ? ORDINARY : SPECIAL);
    check_far();
    check_unsorted();
}

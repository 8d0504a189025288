/* Computes the factors c of LABOR's Poisson draws, one for each row.
 *
 * A row's sum of 1 / min(1, c pi_u) must meet a target, and falls as c grows. Without the cap at 1
 * the sum is (sum of 1 / pi_u) / c, which is never larger; so the c for which the uncapped sum
 * meets the target is at most the right one, and entries that it caps are capped in the end, too.
 * Each of them then counts as 1, and c is solved again for the others. So c approaches the right
 * one from below (Newton's method), and is right when no further entry is capped: after a few
 * passes over the row, at most one for each entry. */
#include <float.h>
#include <inttypes.h>
#include <math.h>

#include "sample/rows.h"
#include "system/threads.h"

enum { GRAIN = 256 };

typedef struct {
    const ld_csr *a;
    const ld_index *rows, *always;
    int64_t k;
    const ld_tensor *pi;
    float *c;
} factors;

/* The entries of a row, without the one that is taken for certain. */
typedef struct {
    const int32_t *columns;
    int64_t n, kept; /* position of the certain one, or -1 */
    int64_t degree;
} entries;

static entries entries_of(const factors *f, int64_t row)
{
    const ld_structure *s = f->a->s;
    int64_t from = s->offsets[row], kept = f->always ? f->always->data[row] : -1;
    return (entries){.columns = s->columns + from,
                     .n = s->offsets[row + 1] - from,
                     .kept = kept,
                     .degree = s->offsets[row + 1] - from - (kept >= 0)};
}

/* Returns the sum of 1 / pi_u over the entries with c pi_u < 1. *capped gets the number of the
 * others. */
static double uncapped(int64_t *capped, const factors *f, entries row, double c)
{
    double sum = 0.0;
    *capped = 0;
    for (int64_t j = 0; j < row.n; j++) {
        double pi = f->pi->data[row.columns[j]];
        if (j == row.kept)
            continue;
        if (c * pi < 1.0)
            sum += 1.0 / pi;
        else
            ++*capped;
    }
    return sum;
}

static double solve(const factors *f, entries row)
{
    double target = (double)row.degree * (double)row.degree / (double)f->k;
    int64_t capped, now;
    double c, sum = uncapped(&now, f, row, 0.0);
    do {
        capped = now;
        c = sum / (target - (double)capped);
        sum = uncapped(&now, f, row, c);
    } while (now > capped);
    return c;
}

/* Returns the least c that keeps all entries for certain, in spite of rounding. */
static float take_all(const factors *f, entries row)
{
    float least = FLT_MAX;
    for (int64_t j = 0; j < row.n; j++)
        if (j != row.kept)
            least = fminf(least, f->pi->data[row.columns[j]]);
    return nextafterf(1.0f / least, FLT_MAX);
}

static void solve_rows(void *ctx, int64_t begin, int64_t end)
{
    const factors *f = ctx;
    for (int64_t i = begin; i < end; i++) {
        entries row = entries_of(f, f->rows->data[i]);
        if (row.degree == 0 || (!f->pi && f->k >= row.degree))
            f->c[i] = 1.0f;
        else if (!f->pi)
            f->c[i] = (float)((double)f->k / (double)row.degree);
        else
            f->c[i] = f->k >= row.degree ? take_all(f, row) : (float)solve(f, row);
    }
}

static ld_status check_pi(const factors *f)
{
    for (int64_t i = 0; i < f->rows->size; i++) {
        entries row = entries_of(f, f->rows->data[i]);
        for (int64_t j = 0; j < row.n; j++) {
            float pi = f->pi->data[row.columns[j]];
            if (j != row.kept && !(pi >= FLT_MIN && pi <= FLT_MAX))
                return ld_fail(LD_VALUE,
                               "poisson_factors: pi must be positive and finite, got %g for column "
                               "%" PRId32 " (row %" PRId32 ")",
                               isnan(pi) ? (double)NAN : pi, row.columns[j] + 1,
                               f->rows->data[i] + 1);
        }
    }
    return LD_OK;
}

ld_status ld_poisson_factors(ld_tensor **c, const ld_csr *a, const ld_index *rows, int64_t k,
                             const ld_tensor *pi, const ld_index *always)
{
    factors f = {.a = a, .rows = rows, .always = always, .k = k, .pi = pi};
    LD_OWN(ld_tensor) *made = NULL;
    if (k < 1 || k > INT32_MAX)
        return ld_fail(LD_VALUE, "poisson_factors: k must be 1 to %d, got %" PRId64, INT32_MAX, k);
    LD_CHECK(ld_index_check(rows, 0, a->s->n_rows, "poisson_factors: node"));
    if (pi && (pi->ndim != 1 || pi->n_rows != a->s->n_cols))
        return ld_fail(LD_SHAPE,
                       "poisson_factors: pi must be a vector of %" PRId64 ", one for every column, "
                       "got %s",
                       a->s->n_cols, ld_tensor_shape(pi));
    LD_CHECK(ld_check_always("poisson_factors", a->s, rows, always));
    if (pi)
        LD_CHECK(check_pi(&f));
    LD_CHECK(ld_tensor_new(&made, 1, rows->size, 1));
    f.c = made->data;
    LD_CHECK(ld_parallel_for(rows->size, GRAIN, solve_rows, &f));
    *c = ld_take(&made);
    return LD_OK;
}

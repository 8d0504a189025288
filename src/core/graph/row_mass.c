/* The masses of the entries of rows, summed once and kept, so that entries can be drawn by their
 * mass.
 *
 * A running sum is kept behind every RUN entries of a row; the entry is found by a binary search
 * among these and then by adding up again, in the same order and thus to the same bits. Row r's
 * sums begin at place offsets[r] / RUN + r, which leaves room for all and needs no table of its
 * own. */
#include "graph/row_mass.h"

#include <float.h>

#include "base/search.h"
#include "memory/memory.h"
#include "system/threads.h"

enum { RUN = 32, GRAIN = 1024, AHEAD = 16 };

static double mass_of(const ld_csr *a, int power, int64_t r, int64_t e)
{
    double v = ld_csr_value(a, r, e);
    return power == 2 ? v * v : v;
}

static double *runs_of(const ld_row_mass *m, const ld_structure *s, int64_t r)
{
    return m->runs + s->offsets[r] / RUN + r;
}

typedef struct {
    ld_row_mass *m;
    const ld_csr *a;
    atomic_bool refused;
} summing;

/* Asks memory for the scale of the column of entry e, which lies anywhere. */
static void ask_for_scale(const ld_csr *a, int64_t e)
{
    if (a->col_scale && e < a->s->nnz)
        __builtin_prefetch(&a->col_scale->data[a->s->columns[e]]);
}

static void sum_rows(void *ctx, int64_t begin, int64_t end)
{
    summing *job = ctx;
    ld_row_mass *m = job->m;
    const ld_structure *s = job->a->s;
    bool good = true;
    for (int64_t r = begin; r < end; r++) {
        int64_t first = s->offsets[r], d = s->offsets[r + 1] - first;
        int32_t positive = 0;
        double sum = 0;
        for (int64_t i = 0; i < d; i++) {
            ask_for_scale(job->a, first + i + AHEAD);
            double mass = mass_of(job->a, m->power, r, first + i);
            good &= mass == 0 || (mass >= FLT_MIN && mass <= FLT_MAX);
            positive += mass > 0;
            sum += mass;
            if (m->runs && i % RUN == RUN - 1)
                runs_of(m, s, r)[i / RUN] = sum;
        }
        m->rows[r] = sum;
        m->positive[r] = positive;
    }
    if (!good)
        atomic_store_explicit(&job->refused, true, memory_order_relaxed);
}

/* Makes room for the masses of all rows, and for running sums where entries of a row may differ. */
static ld_row_mass *masses_new(const ld_csr *a, int power)
{
    const ld_structure *s = a->s;
    int64_t n_runs = a->values || a->col_scale ? s->nnz / RUN + s->n_rows : 0;
    size_t doubles = (size_t)(s->n_rows + n_runs) * sizeof(double);
    ld_row_mass *m =
        ld_alloc(sizeof *m + doubles + (size_t)s->n_rows * sizeof(int32_t), LD_MEM_MATRIX);
    if (!m)
        return NULL;
    double *rows = (double *)(m + 1);
    *m = (ld_row_mass){.power = power,
                       .rows = rows,
                       .positive = (int32_t *)(rows + s->n_rows + n_runs),
                       .runs = a->values || a->col_scale ? rows + s->n_rows : NULL};
    return m;
}

/* Makes a block without masses, which says that the matrix has none. */
static ld_row_mass *none_new(int power)
{
    ld_row_mass *m = ld_alloc(sizeof *m, LD_MEM_MATRIX);
    if (m)
        *m = (ld_row_mass){.power = power};
    return m;
}

static ld_status sum(ld_row_mass **out, ld_csr *a, int power)
{
    summing job = {.a = a};
    ld_status st = LD_OK;
    atomic_init(&job.refused, ld_csr_freeze(a) != LD_OK);
    if (!atomic_load(&job.refused)) {
        if (!(job.m = masses_new(a, power)))
            return LD_NOMEM;
        ld_structure_advise(a->s, LD_ACCESS_SEQUENTIAL);
        st = ld_parallel_for(a->s->n_rows, GRAIN, sum_rows, &job);
        ld_structure_advise(a->s, LD_ACCESS_RANDOM);
    }
    if (st == LD_OK && atomic_load(&job.refused)) {
        ld_free(job.m);
        job.m = none_new(power);
        st = job.m ? LD_OK : LD_NOMEM;
    }
    if (st == LD_OK)
        *out = job.m;
    else
        ld_free(job.m);
    return st;
}

ld_status ld_csr_row_mass(const ld_row_mass **out, ld_csr *a, int power)
{
    ld_row_mass *m = atomic_load(&a->kept.row_mass[power - 1]);
    ld_status st = LD_OK;
    if (!m) {
        /* Only one thread sums: workers that begin together wait for the first, since large graphs
         * take long. */
        LD_CHECK(ld_hold(&a->kept.summing));
        m = atomic_load(&a->kept.row_mass[power - 1]);
        if (!m && (st = sum(&m, a, power)) == LD_OK)
            atomic_store(&a->kept.row_mass[power - 1], m);
        ld_unhold(&a->kept.summing);
    }
    *out = st == LD_OK && m->rows ? m : NULL;
    return st;
}

int64_t ld_row_mass_find(const ld_row_mass *m, const ld_csr *a, int64_t r, double fraction)
{
    const ld_structure *s = a->s;
    int64_t first = s->offsets[r], d = s->offsets[r + 1] - first;
    if (!m->runs)
        return first + (int64_t)(fraction * (double)d);
    const double *runs = runs_of(m, s, r);
    double target = fraction * m->rows[r]; /* below the mass: the fraction lacks at least 2^-53 */
    int64_t run = ld_search_sums(runs, (d + RUN - 1) / RUN, target), e = first + run * RUN;
    double total = (run > 0 ? runs[run - 1] : 0.0) + mass_of(a, m->power, r, e);
    while (total <= target)
        total += mass_of(a, m->power, r, ++e);
    return e;
}

void ld_row_mass_prefetch(const ld_row_mass *m, const ld_csr *a, int64_t r, double fraction)
{
    const ld_structure *s = a->s;
    int64_t first = s->offsets[r], d = s->offsets[r + 1] - first;
    if (m->runs)
        __builtin_prefetch(runs_of(m, s, r));
    __builtin_prefetch(&s->columns[first + (int64_t)(fraction * (double)d)]); /* or near it */
}

/* The kernels that draw (keys.h, row_draw.h, poisson_keep.h) against those of draw_plain.h: the
 * same entries with the same weights. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "draw_plain.h"
#include "memory/memory.h"
#include "sample/alias.h"

enum { MOST = 2000, N_SIZES = 11 };

static const int64_t SIZES[N_SIZES] = {1, 2, 3, 15, 17, 63, 64, 65, 511, 513, MOST};

/* Probabilities of which some are zero and some denormal; the first is neither. */
static float *new_probabilities(int64_t n, int64_t *support, double *total)
{
    float *p = new_floats(n, ORDINARY);
    *support = 0;
    *total = 0;
    for (int64_t i = 0; i < n; i++) {
        p[i] = fabsf(p[i]) + 0x1p-20f;
        if (i > 0 && next_bits() % 5 == 0)
            p[i] *= next_bits() % 3 == 0 ? 0x1p-130f : 0.0f;
        *support += p[i] > 0;
        *total += p[i];
    }
    return p;
}

static ld_row_rng new_rng(void)
{
    return (ld_row_rng){{next_bits(), next_bits()}, next_bits() << 30};
}

static bool same_draws(const ld_row_draw *got, int64_t n_got, const ld_row_draw *want, int64_t n)
{
    return n_got == n && memcmp(got, want, (size_t)n * sizeof *got) == 0;
}

static ld_row_draw got[2 * MOST], want[2 * MOST];

static void test_uniform(int64_t d, int64_t k)
{
    static uint64_t words[MOST / 64 + 1];
    ld_row_rng rng = new_rng();
    for (int count = 0; count < 2; count++) {
        int64_t n = ld_row_uniform(got, d, k, rng, count, words);
        int64_t wanted = ld_row_uniform_plain(want, d, k, rng, count);
        check(wanted == k && same_draws(got, n, want, wanted), "uniform %" PRId64 " of %" PRId64, k,
              d);
    }
}

static void test_repeated(int64_t d, int64_t k, const float *p, double total)
{
    ld_row_rng rng = new_rng();
    for (int count = 0; count < 2; count++) {
        int64_t n = ld_row_repeated(got, d, k, rng, count, p, total);
        int64_t wanted = ld_row_repeated_plain(want, d, k, rng, count, p, total);
        check(same_draws(got, n, want, wanted), "%" PRId64 " %s draws of %" PRId64, k,
              p ? "weighted" : "uniform", d);
    }
}

/* Rounding may lift a target to the total. It then means the last node of the row that has a
 * probability, whatever lies behind the row; here half of all targets are so large. */
static void test_targets_above_the_sum(void)
{
    static const float p[] = {1, 2, 0, 0, 5, 5};
    int64_t n = ld_row_repeated(got, 4, MOST, new_rng(), true, p, 6);
    check(n == 2 && ld_row_draw_at(got[0]) == 0 && ld_row_draw_at(got[1]) == 1,
          "draws of two nodes give %" PRId64, n);
}

static int by_value(const void *a, const void *b)
{
    double x = ((const ld_draw *)a)->value, y = ((const ld_draw *)b)->value;
    return (x > y) - (x < y);
}

/* The k smallest keys, their order, and what is left. */
static void test_keys(int64_t n, int64_t k, const float *p, const ld_stream *stream)
{
    ld_draw *all = new_block(n, sizeof *all), *draws = new_block(k, sizeof *draws);
    double rest, left = 0;
    bool same = true;
    for (int64_t i = 0; i < n; i++)
        all[i] = (ld_draw){ld_key_plain(p, i, stream, 7), (int32_t)i};
    qsort(all, (size_t)n, sizeof *all, by_value);
    for (int64_t i = k; i < n; i++)
        left += p[all[i].at];
    ld_status st = ld_smallest_keys(draws, &rest, p, n, k, stream, 7);
    for (int64_t i = 0; i < k; i++)
        same = same && draws[i].value == all[i].value && draws[i].at == all[i].at;
    check(st == LD_OK && same && fabs(rest - left) <= 1e-9 * (left + 1),
          "%" PRId64 " keys of %" PRId64, k, n);
}

static void test_debias(int64_t n, int64_t k, int64_t support, const float *p, ld_stream stream)
{
    ld_draw draws[64], others[64];
    double rest;
    bool same = ld_smallest_keys(draws, &rest, p, n, k, &stream, 0) == LD_OK;
    memcpy(others, draws, (size_t)k * sizeof *draws);
    ld_debias(draws, k, support, p, rest);
    ld_debias_plain(others, k, support, p, rest);
    for (int64_t i = 0; i < k; i++)
        same = same && fabs(draws[i].value - others[i].value) <= 1e-9 * fabs(others[i].value);
    check(same, "debiased weights of %" PRId64 " of %" PRId64, k, support);
}

/* Successive draws: the smallest keys, ascending, with their weights. */
static void test_successive(int64_t d, int64_t k, int64_t support, const float *p, double total)
{
    ld_row_rng rng = new_rng();
    ld_draw *keys = new_block(k, sizeof *keys);
    int64_t drawn, n = 0;
    ld_status st = ld_row_successive(got, &drawn, d, k, rng, p, total, support, false, false, keys);
    double last = -1;
    if (k < support) {
        double rest;
        st = st == LD_OK ? ld_smallest_keys(keys, &rest, p, d, k, &rng.stream, rng.first) : st;
        last = k > 0 ? keys[k - 1].value : -1;
    }
    for (int64_t at = 0; at < d; at++) {
        if (!(p[at] > 0))
            continue;
        if (k >= support)
            want[n++] = ld_row_draw_of(at, 1.0);
        else if (ld_key_plain(p, at, &rng.stream, rng.first) <= last)
            want[n++] = ld_row_draw_of(at, total / ((double)k * p[at]));
    }
    check(st == LD_OK && same_draws(got, drawn, want, n),
          "%" PRId64 " successive draws of %" PRId64, k, d);
}

/* Poisson draws with random numbers by entry, by column and given ones, for the latter two also by
 * levels. */
static void test_poisson(int64_t n, double c, bool with_pi)
{
    enum { COLUMNS = 300 };
    int64_t support;
    double total;
    int32_t columns[MOST];
    float *pi = new_probabilities(COLUMNS, &support, &total), *r = new_floats(COLUMNS, ORDINARY);
    for (int64_t j = 0; j < n; j++)
        columns[j] = (int32_t)(next_bits() % COLUMNS);
    for (int64_t u = 0; u < COLUMNS; u++)
        r[u] = fabsf(r[u]);
    for (int kind = 0; kind < 3; kind++) {
        ld_poisson_rule rule = {.pi = with_pi ? pi : NULL,
                                .r = kind == 2 ? r : NULL,
                                .shared = kind == 1,
                                .stream = {3, next_bits()}};
        int64_t wanted = ld_poisson_keep_plain(want, &rule, columns, n, c, 5, 11);
        int64_t kept = ld_poisson_keep(got, &rule, columns, n, c, 5, 11);
        check(same_draws(got, kept, want, wanted), "Poisson of %" PRId64 ", c = %g, kind %d", n, c,
              kind);
        check(ld_poisson_levels(&rule, COLUMNS, COLUMNS + 1) == LD_OK, "levels");
        kept = ld_poisson_keep(got, &rule, columns, n, c, 5, 11);
        check(same_draws(got, kept, want, wanted) && (rule.levels != NULL) == (kind > 0),
              "Poisson by levels of %" PRId64 ", c = %g, kind %d", n, c, kind);
        check(n == 0 || ld_poisson_keep(got, &rule, columns, n, (double)NAN, 5, 11) == -1,
              "c is NaN");
        check(n == 0 || ld_poisson_keep(got, &rule, columns, n, -1.0, 5, 11) == -1, "c is below 0");
        ld_free(rule.levels);
    }
}

/* Draws of a group are those one by one, and of each element as many as there should be. */
static void test_alias(int64_t n)
{
    enum { DRAWS = 1 << 14 };
    int64_t support, counts[MOST] = {0};
    double total, furthest = 0;
    float *p = new_probabilities(n, &support, &total);
    ld_tensor *vector = NULL;
    ld_alias *table = NULL;
    ld_stream stream = {7, next_bits()};
    bool same = ld_tensor_new(&vector, 1, n, 1) == LD_OK;
    memcpy(vector->data, p, (size_t)n * sizeof *p);
    same = same && ld_alias_new(&table, vector) == LD_OK;
    for (int64_t first = 0; same && first < DRAWS; first += LD_ALIAS_GROUP) {
        int32_t drawn[LD_ALIAS_GROUP];
        int64_t size = first % 3 == 0 ? LD_ALIAS_GROUP : 1 + first % LD_ALIAS_GROUP;
        ld_alias_draw_group(drawn, table, stream, (uint64_t)first, size);
        for (int64_t i = 0; i < LD_ALIAS_GROUP; i++) {
            int32_t at = ld_alias_draw(table, stream, (uint64_t)(first + i));
            same = same && p[at] > 0 && (i >= size || drawn[i] == at);
            counts[at]++;
        }
    }
    for (int64_t i = 0; i < n; i++) { /* in standard deviations */
        double mean = DRAWS * p[i] / total;
        furthest = fmax(furthest, mean > 0 ? fabs((double)counts[i] - mean) / sqrt(mean + 1) : 0);
    }
    check(same && furthest < 6, "alias draws of %" PRId64 ", %g standard deviations off", n,
          furthest);
    ld_alias_unref(table);
    ld_tensor_unref(vector);
}

static void test_numbers(int64_t n)
{
    static double u[MOST];
    ld_stream stream = {5, next_bits()};
    bool same = true;
    ld_fill_uniform(u, stream, UINT64_MAX - 3, n); /* positions wrap around */
    for (int64_t i = 0; i < n; i++)
        same = same && u[i] == ld_random_uniform(stream, UINT64_MAX - 3 + (uint64_t)i);
    check(same, "%" PRId64 " uniform numbers", n);
}

static void test_size(int64_t d)
{
    int64_t support;
    double total;
    float *p = new_probabilities(d, &support, &total);
    ld_stream stream = {11, next_bits()};
    check(ld_row_all(got, d) == d && ld_row_draw_at(got[d - 1]) == d - 1 &&
              ld_row_draw_weight(got[d - 1]) == 1.0f,
          "all %" PRId64, d);
    for (int64_t k = 1; k < 2 * d && k < MOST; k = 3 * k + k % 2) {
        if (k < d)
            test_uniform(d, k);
        if (k * d < 20000) {
            test_repeated(d, k, NULL, 0);
            test_repeated(d, k, p, total);
        }
        test_successive(d, k, support, p, total);
        if (k <= support)
            test_keys(d, k, p, &stream);
        if (k <= support)
            test_keys(d, k, p, NULL);
        if (k < support && k <= 64)
            test_debias(d, k, support, p, stream);
    }
    test_keys(d, 0, p, &stream);
}

void test(void)
{
    test_targets_above_the_sum();
    for (int i = 0; i < N_SIZES; i++) {
        test_size(SIZES[i]);
        test_numbers(SIZES[i]);
        if (SIZES[i] <= 65)
            test_alias(SIZES[i]);
    }
    for (int64_t n = 0; n <= 1025; n = 2 * n + 1)
        for (double c = 0; c < 5; c = 2 * c + 0.07)
            for (int with_pi = 0; with_pi < 2; with_pi++)
                test_poisson(n, c, with_pi);
}

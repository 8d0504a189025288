/* Draws of k positions: systematic and pivotal ones must pick what plain loops of their definitions
 * pick, and every rule must pick k positions with probabilities above 0, whatever these are. */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "check.h"
#include "kernel/fixed_size.h"

/* Takes the position that each of the points u, u + 1, ... falls on. */
static void plain_systematic(int32_t *pick, const double *pi, int64_t n, int64_t k, double u)
{
    for (int64_t m = 0; m < k; m++) {
        double sum = 0;
        int64_t i = 0;
        while (i < n && (sum += pi[i]) <= u + (double)m)
            i++;
        pick[m] = (int32_t)i;
    }
}

/* Keeps the probabilities of all positions, and lets the first two that are neither 0 nor 1 meet. */
static void plain_pivotal(int32_t *pick, const double *pi, int64_t n, ld_stream stream)
{
    double *p = new_block(n, sizeof *p);
    int64_t left = -1, count = 0;
    memcpy(p, pi, (size_t)n * sizeof *p);
    for (int64_t i = 0; i < n; i++) {
        double u = ld_random_uniform(stream, (uint64_t)i);
        if (p[i] <= 0 || p[i] >= 1)
            continue;
        if (left < 0) {
            left = i;
            continue;
        }
        double sum = p[left] + p[i];
        bool first_wins = sum < 1 ? u * sum < p[left] : u * (2 - sum) < 1 - p[i];
        int64_t winner = first_wins ? left : i, loser = first_wins ? i : left;
        p[winner] = sum < 1 ? sum : 1;
        p[loser] = sum < 1 ? 0 : sum - 1;
        left = sum < 1 ? winner : loser;
    }
    for (int64_t i = 0; i < n; i++)
        if (p[i] > 0.5)
            pick[count++] = (int32_t)i;
}

/* n probabilities that sum to k: `certain` ones, every fifth 0, and the others as they come. */
static double *new_probabilities(int64_t n, int64_t k, int64_t certain)
{
    double *pi = new_block(n, sizeof *pi), sum = 0, most = 0;
    for (int64_t i = certain; i < n; i++) {
        pi[i] = i % 5 == 4 ? 0 : 1 + (double)(next_bits() % 1000) / 500;
        sum += pi[i];
        most = pi[i] > most ? pi[i] : most;
    }
    for (int64_t i = 0; i < n; i++)
        pi[i] = i < certain ? 1 : pi[i] * (double)(k - certain) / sum;
    check(most * (double)(k - certain) < sum, "probabilities of at most 1");
    return pi;
}

static void check_draws(int64_t n, int64_t k, int64_t certain)
{
    double *pi = new_probabilities(n, k, certain);
    int32_t *pick = new_block(k, sizeof *pick), *want = new_block(k, 4);
    for (uint64_t id = 0; id < 20; id++) {
        ld_stream stream = {7, id};
        ld_systematic(pick, pi, n, k, stream);
        plain_systematic(want, pi, n, k, ld_random_uniform(stream, 0));
        check(memcmp(pick, want, (size_t)k * sizeof *pick) == 0,
              "systematic, %" PRId64 " of %" PRId64, k, n);
        ld_pivotal(pick, pi, n, k, stream);
        plain_pivotal(want, pi, n, stream);
        check(memcmp(pick, want, (size_t)k * sizeof *pick) == 0, "pivotal, %" PRId64 " of %" PRId64,
              k, n);
        bool good = ld_sampford(pick, pi, n, k, stream) == LD_OK;
        for (int64_t j = 0; j < k; j++)
            good &= pi[pick[j]] > 0 && pick[j] < n && (j == 0 || pick[j - 1] < pick[j]);
        for (int64_t i = 0; i < certain; i++)
            good &= pick[i] == i;
        check(good, "sampford, %" PRId64 " of %" PRId64, k, n);
    }
}

void test(void)
{
    check_draws(3, 1, 0);
    check_draws(9, 3, 0);
    check_draws(12, 5, 2);
    check_draws(12, 2, 2);
    check_draws(1024, 5, 0);
    check_draws(1025, 300, 10);
    check_draws(5000, 40, 3);
}

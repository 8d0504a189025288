/* Systematic and pivotal draws are one pass over the positions. A Sampford draw is tried in one of two
 * ways until it succeeds, both of which give exactly its distribution:
 *
 *     way          what is tried                                  succeeds with probability
 *     successive   one position in proportion to pi, and k - 1    about exp(-k^2 / 2 times the sum of
 *                  by pi / (1 - pi), with replacement; all must   the squares of the shares)
 *                  be different (Sampford's own)
 *     Poisson      one position by pi (1 - pi), and each other    about sqrt(m / n), or 1 / sqrt(2 pi d),
 *                  on its own by its pi; k must be there          d being the sum of pi (1 - pi)
 *
 * In the second way m positions at one end, where the first one is not, are left to the last. What the
 * others lack to k is tried with the probability that just so many of the m are drawn, which is known,
 * over the largest one; these are then drawn until they are so many, which is soon, as they are few.
 *
 * The way is chosen by what is expected to cost less, which follows from pi alone. The second: given the
 * one position i, a set s has the probability of pi_i (1 - pi_i) times the product of pi over the others
 * in s and of 1 - pi over those outside, which is in proportion to (1 - pi_i) times the product of
 * pi / (1 - pi) over s. Summed over i in s it is Sampford's. */
#include "kernel/fixed_size.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/search.h"
#include "base/sort.h"
#include "kernel/keys.h"
#include "memory/memory.h"

enum { BLOCK = 1024, MOST_LEFT = 4096 };

/* Numbers of positions that are less probable are never drawn: nobody could tell. */
static const double NEVER = 1e-30;

/* The cost of looking up a draw by its number, and of a position's own number, in nanoseconds. */
static const double LOOK_UP = 40, OWN_NUMBER = 2;

/* --- systematic --------------------------------------------------------------------------------- */

/* Adds the last positions that are not among the `count` of pick, until there are k: rounding alone can
 * make them lack. */
static void fill_up(int32_t *pick, int64_t count, const double *pi, int64_t n, int64_t k)
{
    int64_t last = count - 1, given = count;
    for (int64_t i = n - 1; i >= 0 && count < k; i--) {
        if (last >= 0 && pick[last] == i)
            last--;
        else if (pi[i] > 0)
            pick[count++] = (int32_t)i;
    }
    if (count > given)
        ld_sort_int32(pick, count);
}

ld_status ld_systematic(int32_t *pick, const double *pi, int64_t n, int64_t k, ld_stream stream)
{
    const double u = ld_random_uniform(stream, 0);
    double sum = 0;
    int64_t count = 0;
    for (int64_t i = 0; i < n && count < k; i++) {
        sum += pi[i];
        if (sum > u + (double)count)
            pick[count++] = (int32_t)i;
    }
    fill_up(pick, count, pi, n, k);
    return LD_OK;
}

/* --- pivotal ------------------------------------------------------------------------------------ */

/* The position that is neither in nor out yet, and its probability; -1 for none. */
typedef struct {
    int64_t at;
    double p;
} pivot;

/* Lets position i of probability p meet the pivot, by the uniform number u. Returns the position that is
 * in for certain now, or -1. */
static int64_t meet(pivot *left, int64_t i, double p, double u)
{
    const double sum = left->p + p;
    if (left->at < 0) {
        *left = (pivot){i, p};
        return -1;
    }
    if (sum < 1) { /* one is out, and the other has the probability of both */
        left->at = u * sum >= left->p ? i : left->at;
        left->p = sum;
        return -1;
    }
    int64_t in = i; /* one is in, and the other has what is above 1 */
    if (u * (2 - sum) < 1 - p) {
        in = left->at;
        left->at = i;
    }
    left->p = sum - 1;
    return in;
}

ld_status ld_pivotal(int32_t *pick, const double *pi, int64_t n, int64_t k, ld_stream stream)
{
    double u[BLOCK];
    pivot left = {-1, 0};
    int64_t count = 0;
    for (int64_t first = 0; first < n; first += BLOCK) {
        const int64_t size = n - first < BLOCK ? n - first : BLOCK;
        ld_fill_uniform(u, stream, (uint64_t)first, size);
        for (int64_t i = first; i < first + size && count < k; i++) {
            int64_t in = pi[i] >= 1 ? i : pi[i] > 0 ? meet(&left, i, pi[i], u[i - first]) : -1;
            if (in >= 0)
                pick[count++] = (int32_t)in;
        }
        LD_CHECK(ld_poll());
    }
    if (count < k && left.at >= 0)
        pick[count++] = (int32_t)left.at;
    ld_sort_int32(pick, count);
    fill_up(pick, count, pi, n, k);
    return LD_OK;
}

/* --- Sampford ----------------------------------------------------------------------------------- */

typedef struct {
    int32_t *pick; /* room for k */
    const double *pi;
    int64_t n, k; /* of the positions that are not certain */
    ld_stream stream;
    double *first, *rest; /* running sums that the first position and, in turn, the others go by */
    int32_t *tried;    /* of each position the try that drew it last, or the positions of a try */
    int64_t m;         /* positions at either end that the Poisson way leaves to the last */
    double *chance[2]; /* that so many, 0 .. m, of the first m are drawn, and of the last m */
    double most;       /* the largest of these */
} sampford;

static int64_t look_up(const double *sums, int64_t n, double u)
{
    return ld_search_sums(sums, n, u * sums[n - 1]);
}

/* One try of successive draws. Returns whether all k are different. */
static bool try_successive(const sampford *s, int32_t number)
{
    const uint64_t at = (uint64_t)number * (uint64_t)s->k;
    for (int64_t j = 0; j < s->k; j++) {
        double u = ld_random_uniform(s->stream, at + (uint64_t)j);
        int64_t i = look_up(j == 0 ? s->first : s->rest, s->n, u);
        if (s->tried[i] == number)
            return false;
        s->tried[i] = number;
        s->pick[j] = (int32_t)i;
    }
    return true;
}

/* Fills in the chances that 0 .. m of the positions from `first` on are drawn. */
static void fill_chances(sampford *s, double *chance, int64_t first)
{
    int64_t low = 0, high = 0; /* of those that are not 0 */
    memset(chance, 0, (size_t)(s->m + 1) * sizeof *chance);
    chance[0] = 1;
    for (int64_t i = first; i < first + s->m; i++) {
        const double pi = s->pi[i];
        high++;
        for (int64_t t = high; t > low; t--)
            chance[t] = (1 - pi) * chance[t] + pi * chance[t - 1];
        chance[low] *= 1 - pi;
        for (; chance[low] < NEVER; low++)
            chance[low] = 0;
        for (; chance[high] < NEVER; high--)
            chance[high] = 0;
    }
    for (int64_t t = low; t <= high; t++)
        s->most = fmax(s->most, chance[t]);
}

/* Draws positions begin .. end - 1 on their own, and `chosen` among them for certain, by the numbers
 * from `at` on, behind `count` ones in `tried`, until there are more than k. Returns how many there
 * are then. */
static int64_t draw_alone(const sampford *s, int64_t count, int64_t begin, int64_t end,
                          int64_t chosen, uint64_t at)
{
    double u[BLOCK];
    for (int64_t first = begin; first < end && count <= s->k; first += BLOCK) {
        const int64_t size = end - first < BLOCK ? end - first : BLOCK;
        ld_fill_uniform(u, s->stream, at + (uint64_t)(first - begin), size);
        for (int64_t i = first; i < first + size;
             i++) { /* without a branch that none could guess */
            s->tried[count] = (int32_t)i;
            count += (i == chosen) | (u[i - first] < s->pi[i]);
        }
    }
    return count;
}

/* One try of a first position, and all others on their own. Returns whether they are k. */
static ld_status try_poisson(bool *done, const sampford *s, int32_t number)
{
    const uint64_t own = (uint64_t)s->n + 2, at = (uint64_t)number * own;
    const int64_t n = s->n, m = s->m;
    const int64_t chosen = look_up(s->first, n, ld_random_uniform(s->stream, at + own - 2));
    const bool last = chosen < n - m; /* whether the last m are left, or the first */
    const int64_t left = last ? n - m : 0;
    const int64_t begin = last ? 0 : m;
    const int64_t count = draw_alone(s, 0, begin, begin + n - m, chosen, at);
    const int64_t lack = s->k - count;
    const double u = ld_random_uniform(s->stream, at + own - 1);
    *done = lack >= 0 && lack <= m && u * s->most < s->chance[last][lack];
    if (!*done)
        return LD_OK;
    for (uint64_t from = at + own; draw_alone(s, count, left, left + m, -1, from) != s->k;
         from += (uint64_t)m)
        LD_CHECK(ld_poll());
    memcpy(s->pick, s->tried, (size_t)s->k * sizeof *s->pick);
    return LD_OK;
}

/* Fills in the running sums of the way that costs less, and returns whether it is the successive one.
 * The sum by which the Poisson way draws its first position is also one that the choice goes by. */
static bool prepare(sampford *s)
{
    double odds = 0, squares = 0, spread = 0;
    for (int64_t i = 0; i < s->n; i++) {
        double ratio = s->pi[i] / (1 - s->pi[i]);
        odds += ratio;
        squares += ratio * ratio;
        s->first[i] = spread += s->pi[i] * (1 - s->pi[i]);
        s->rest[i] = odds;
    }
    const double k = (double)s->k, n = (double)s->n;
    double tries = exp(fmin(k * (k - 1) / 2 * squares / (odds * odds), 100));
    double of_left = 2 * M_PI * spread * (double)s->m / n + 1;
    double of_all = sqrt((2 * M_PI * spread + 1) / of_left) * n + 10 * sqrt(of_left) * (double)s->m;
    bool successive = LOOK_UP * k * tries < OWN_NUMBER * of_all;
    for (int64_t i = 0; successive && i < s->n; i++)
        s->first[i] = s->pi[i] + (i > 0 ? s->first[i - 1] : 0);
    return successive;
}

static ld_status draw_sampford(sampford *s)
{
    bool done = s->k == 0;
    bool successive = !done && prepare(s);
    for (int end = 0; !done && !successive && end < 2; end++)
        fill_chances(s, s->chance[end], end == 0 ? 0 : s->n - s->m);
    memset(s->tried, 0xff, (size_t)s->n * sizeof *s->tried);
    for (int32_t number = 0; !done; number++) {
        LD_CHECK(ld_poll());
        if (successive)
            done = try_successive(s, number);
        else
            LD_CHECK(try_poisson(&done, s, number));
    }
    return LD_OK;
}

ld_status ld_sampford(int32_t *pick, const double *pi, int64_t n, int64_t k, ld_stream stream)
{
    LD_FREED double *open = ld_alloc_array(3 * n + 2 * MOST_LEFT + 2, sizeof *open, LD_MEM_SCRATCH);
    LD_FREED int32_t *ids = ld_alloc_array(2 * n + 1, sizeof *ids, LD_MEM_SCRATCH);
    if (!open || !ids)
        return LD_NOMEM;
    sampford s = {.pick = pick,
                  .pi = open,
                  .k = k,
                  .stream = stream,
                  .first = open + n,
                  .rest = open + 2 * n,
                  .tried = ids + n,
                  .chance = {open + 3 * n, open + 3 * n + MOST_LEFT + 1}};
    int64_t certain = 0;
    for (int64_t i = 0; i < n; i++) {
        s.k -= pi[i] >= 1;
        if (pi[i] > 0 && pi[i] < 1) {
            ids[s.n] = (int32_t)i;
            open[s.n++] = pi[i];
        }
    }
    if (s.k > s.n) /* rounding */
        s.k = s.n;
    s.m = (int64_t)fmin(fmin((double)s.n / 4, 6 * sqrt((double)s.n)), MOST_LEFT);
    LD_CHECK(draw_sampford(&s));
    for (int64_t j = 0; j < s.k; j++)
        pick[j] = ids[pick[j]];
    certain = s.k;
    for (int64_t i = 0; i < n && certain < k; i++)
        if (pi[i] >= 1)
            pick[certain++] = (int32_t)i;
    ld_sort_int32(pick, certain);
    fill_up(pick, certain, pi, n, k);
    return LD_OK;
}

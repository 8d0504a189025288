/* Chooses the way in which positions are drawn, and computes their weights. Everything random is a
 * function of (sub-stream, position).
 *
 *     draw      way                          from                              costs
 *     wor, wr   alias table (alias.c)        a table is given                  k
 *     wr        alias table, made here       no table                          n + k
 *     wor       running sums                 k <= support / 2, n <= 2^22       n + k log n
 *     wor       keys (kernel/keys.c)         the rest of the draws             n + k log k
 *     poisson   each position on its own     its factor takes some passes      n
 *     others    kernel/fixed_size.c          the same factor                   n, see there
 *
 * Without replacement positions are drawn one after the other, and again where they were drawn
 * before; keys serve where most of the support is wanted, where a few positions hold nearly all of
 * the mass, or where running sums would take more than 32 MiB. Measured in turns, in one thread of
 * a Zen 5, running sums are 6 times as fast as keys for n = 2,000, 4 times for n = 2,000,000 and k
 * = 512, and 1.5 times for k = n / 4; a table that is there is 2 times to 250 times as fast as they
 * are. */
#include "sample/choice.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/search.h"
#include "graph/marker.h"
#include "kernel/fixed_size.h"
#include "kernel/keys.h"
#include "memory/memory.h"

enum {
    BLOCK = 1024,
    REJECTED = INT32_MAX,
    MOST_SUMS = 1 << 22, /* at most so many running sums are made for a choice: 32 MiB */
};

/* A choice in progress: its input and its draws. */
typedef struct {
    const float *p;
    int64_t n, k;
    ld_mass mass;
    ld_stream stream;
    const ld_index *rejected; /* positions that must not be drawn, though p has mass there */
    ld_choice_begun begun;
    ld_draw *draws;
    int64_t count;
} choice;

static void choice_clear(choice *c)
{
    ld_free(c->draws);
}

/* --- the draws -------------------------------------------------------------------------------- */

/* Takes all positions of positive probability, with weight 1. */
static void take_all(choice *c)
{
    for (int64_t i = 0; i < c->n; i++)
        if (c->p[i] > 0.0f)
            c->draws[c->count++] = (ld_draw){1.0, (int32_t)i};
}

/* A source that positions are drawn from: a table, or the running sums of n probabilities. */
typedef struct {
    const ld_alias *table;
    const double *sums;
    int64_t n;
} source;

/* Makes draws number position .. position + count - 1 of the stream, count <= LD_ALIAS_GROUP. */
static void draw_group(int32_t *out, const source *from, ld_stream stream, uint64_t position,
                       int64_t count)
{
    double u[LD_ALIAS_GROUP];
    if (from->table) {
        ld_alias_draw_group(out, from->table, stream, position, count);
        return;
    }
    ld_fill_uniform(u, stream, position, count);
    for (int64_t i = 0; i < count; i++)
        out[i] = (int32_t)ld_search_sums(from->sums, from->n, u[i] * from->sums[from->n - 1]);
}

/* Gives a marker in which the positions that must not be drawn are marked; the caller gives it
 * back. */
static ld_status mark_rejected(ld_marker **drawn, const choice *c)
{
    LD_CHECK(ld_marker_take(drawn, c->n));
    for (int64_t i = 0; c->rejected && i < c->rejected->size; i++)
        ld_marker_set(*drawn, c->rejected->data[i], REJECTED);
    return LD_OK;
}

/* Draws until there are k positions, and draws again where a position was drawn before or is
 * rejected. That is the rule of successive draws: given those before, the next is in proportion to
 * p among the rest. Where most draws would have to be repeated, this ends with fewer than k. */
static ld_status draw_again(choice *c, const source *from)
{
    int32_t group[LD_ALIAS_GROUP];
    int64_t n, tries = 0, before = c->count;
    LD_OWN(ld_marker) *drawn = NULL;
    LD_CHECK(mark_rejected(&drawn, c));
    for (; c->count < c->k; tries += n) {
        int64_t own = c->count - before;
        if (!ld_worth_redrawing(own, tries - own))
            break;
        n = c->k - c->count < LD_ALIAS_GROUP ? c->k - c->count : LD_ALIAS_GROUP;
        draw_group(group, from, c->stream, (uint64_t)tries, n);
        for (int64_t i = 0; i < n; i++)
            __builtin_prefetch(&drawn->marks[group[i]]);
        for (int64_t i = 0; i < n; i++) {
            if (ld_marker_get(drawn, group[i]) >= 0)
                continue;
            ld_marker_set(drawn, group[i], (int32_t)c->count);
            c->draws[c->count++] = (ld_draw){0.0, group[i]};
        }
        LD_CHECK(ld_poll());
    }
    return LD_OK;
}

/* Copies p, with zeros for the positions that were drawn or are rejected. */
static ld_status probabilities_left(float **out, const choice *c)
{
    float *left = ld_alloc_array(c->n, sizeof *left, LD_MEM_SCRATCH);
    if (!left)
        return LD_NOMEM;
    memcpy(left, c->p, (size_t)c->n * sizeof *left);
    for (int64_t i = 0; i < c->count; i++)
        left[c->draws[i].at] = 0.0f;
    for (int64_t i = 0; c->rejected && i < c->rejected->size; i++)
        left[c->rejected->data[i]] = 0.0f;
    *out = left;
    return LD_OK;
}

/* Draws from the running sums of p without the positions drawn so far. */
static ld_status draw_by_sums(choice *c)
{
    LD_FREED float *left = NULL;
    LD_FREED double *sums = NULL;
    double sum = 0.0;
    if (c->count > 0)
        LD_CHECK(probabilities_left(&left, c));
    if (!(sums = ld_alloc_array(c->n, sizeof *sums, LD_MEM_SCRATCH)))
        return LD_NOMEM;
    for (int64_t i = 0; i < c->n; i++)
        sums[i] = sum += left ? left[i] : c->p[i];
    return draw_again(c, &(source){.sums = sums, .n = c->n});
}

/* Takes the draws that were made elsewhere, and draws more until there are k. *rest gets the mass
 * of the positions that were not drawn. */
static ld_status draw_successively(choice *c, const ld_alias *table, double *rest)
{
    LD_FREED float *left = NULL;
    for (int64_t i = 0; c->begun.draws && i < c->begun.draws->size; i++)
        c->draws[c->count++] = (ld_draw){0.0, c->begun.draws->data[i]};
    if (table)
        LD_CHECK(draw_again(c, &(source){.table = table}));
    else if (c->count < c->k && c->k <= c->mass.support / 2 && c->n <= MOST_SUMS)
        LD_CHECK(draw_by_sums(c));
    *rest = c->mass.total;
    for (int64_t i = 0; i < c->count; i++)
        *rest -= c->p[c->draws[i].at];
    *rest = fmax(*rest, 0.0); /* rounding may make it negative */
    if (c->count == c->k)
        return LD_OK;
    if (c->count > 0 || c->rejected)
        LD_CHECK(probabilities_left(&left, c));
    LD_CHECK(ld_smallest_keys(c->draws + c->count, rest, left ? left : c->p, c->n, c->k - c->count,
                              &c->stream, LD_CHOICE_KEYS));
    c->count = c->k;
    return LD_OK;
}

static ld_status draw_without_replacement(choice *c, const ld_alias *table, bool unbiased)
{
    double rest;
    if (c->k >= c->mass.support) {
        take_all(c);
        return LD_OK;
    }
    LD_CHECK(draw_successively(c, table, &rest));
    if (unbiased)
        ld_debias(c->draws, c->k, c->begun.bound > 0 ? c->begun.bound : c->mass.support, c->p,
                  rest);
    for (int64_t i = 0; !unbiased && i < c->count; i++)
        c->draws[i].value = c->mass.total / ((double)c->k * c->p[c->draws[i].at]);
    return LD_OK;
}

/* Counts n draws with replacement. Returns how many of them were not rejected. */
static int64_t count_draws(choice *c, ld_marker *drawn, const int32_t *at, int64_t n)
{
    int64_t accepted = 0;
    for (int64_t i = 0; i < n; i++) {
        int32_t place = ld_marker_get(drawn, at[i]);
        accepted += place != REJECTED;
        if (place < 0) {
            ld_marker_set(drawn, at[i], (int32_t)c->count);
            c->draws[c->count++] = (ld_draw){1.0, at[i]};
        } else if (place != REJECTED) {
            c->draws[place].value++;
        }
    }
    return accepted;
}

static ld_status draw_with_replacement(choice *c, const ld_alias *table)
{
    int32_t group[LD_ALIAS_GROUP];
    int64_t n, done = 0;
    LD_OWN(ld_marker) *drawn = NULL;
    LD_CHECK(mark_rejected(&drawn, c));
    if (c->begun.draws)
        done = count_draws(c, drawn, c->begun.draws->data,
                           c->begun.draws->size < c->k ? c->begun.draws->size : c->k);
    for (uint64_t position = (uint64_t)done; done < c->k; position += (uint64_t)n) {
        n = c->k - done < LD_ALIAS_GROUP ? c->k - done : LD_ALIAS_GROUP;
        ld_alias_draw_group(group, table, c->stream, position, n);
        for (int64_t i = 0; i < n; i++)
            __builtin_prefetch(&drawn->marks[group[i]]);
        done += count_draws(c, drawn, group, n);
        LD_CHECK(ld_poll());
    }
    for (int64_t i = 0; i < c->count; i++)
        c->draws[i].value *= c->mass.total / ((double)c->k * c->p[c->draws[i].at]);
    return LD_OK;
}

/* Returns how many positions the factor would bring above 1. */
static int64_t count_capped(const choice *c, double factor)
{
    int64_t capped = 0;
    for (int64_t i = 0; i < c->n; i++)
        capped += factor * c->p[i] > 1.0;
    return capped;
}

static double at_most_one(double x)
{
    return x < 1.0 ? x : 1.0;
}

/* Finds the factor c with sum of min(1, c p_u) = k < support. Without the cap at 1 the sum is c
 * times the mass, never smaller: so c = k / mass is at most the right one, and those that it caps are
 * capped in the end, too. Without these c is found again, until no further one is capped. */
static double poisson_factor(const choice *c)
{
    double factor, rest = c->mass.total;
    int64_t capped = 0, before;
    for (;;) {
        factor = (double)(c->k - capped) / rest;
        before = capped;
        capped = count_capped(c, factor);
        if (capped <= before || capped >= c->k) /* k of them by rounding alone */
            return factor;
        rest = 0.0;
        for (int64_t i = 0; i < c->n; i++)
            rest += factor * c->p[i] <= 1.0 ? c->p[i] : 0.0f;
    }
}

static ld_status draw_poisson(choice *c)
{
    double u[BLOCK], factor;
    if (c->k >= c->mass.support) {
        take_all(c);
        return LD_OK;
    }
    factor = poisson_factor(c);
    for (int64_t first = 0; first < c->n; first += BLOCK) {
        int64_t count = c->n - first < BLOCK ? c->n - first : BLOCK;
        ld_fill_uniform(u, c->stream, (uint64_t)first, count);
        for (int64_t i = 0; i < count; i++) {
            double inclusion = at_most_one(factor * c->p[first + i]);
            if (u[i] < inclusion)
                c->draws[c->count++] = (ld_draw){1.0 / inclusion, (int32_t)(first + i)};
        }
        LD_CHECK(ld_poll());
    }
    return LD_OK;
}

/* Draws exactly k positions with the inclusion probabilities of a Poisson draw. */
static ld_status draw_fixed_size(choice *c, ld_choice_draw draw)
{
    double factor;
    LD_FREED double *inclusion = NULL;
    LD_FREED int32_t *pick = NULL;
    if (c->k >= c->mass.support) {
        take_all(c);
        return LD_OK;
    }
    factor = poisson_factor(c);
    inclusion = ld_alloc_array(c->n, sizeof *inclusion, LD_MEM_SCRATCH);
    pick = ld_alloc_array(c->k, sizeof *pick, LD_MEM_SCRATCH);
    if (!inclusion || !pick)
        return LD_NOMEM;
    for (int64_t i = 0; i < c->n; i++)
        inclusion[i] = at_most_one(factor * c->p[i]);
    LD_CHECK((draw == LD_CHOICE_SYSTEMATIC ? ld_systematic
              : draw == LD_CHOICE_PIVOTAL  ? ld_pivotal
                                           : ld_sampford)(pick, inclusion, c->n, c->k, c->stream));
    for (int64_t i = 0; i < c->k; i++)
        c->draws[c->count++] = (ld_draw){1.0 / inclusion[pick[i]], pick[i]};
    return LD_OK;
}

/* Adds the positions of `always` that were not drawn, all with weight 1 / p, as the published
 * program of LADIES does. */
static ld_status unite(choice *c, const ld_index *always)
{
    LD_OWN(ld_marker) *drawn = NULL;
    LD_CHECK(ld_marker_take(&drawn, c->n));
    for (int64_t i = 0; i < c->count; i++)
        ld_marker_set(drawn, c->draws[i].at, 0);
    for (int64_t i = 0; always && i < always->size; i++)
        if (ld_marker_get(drawn, always->data[i]) < 0)
            c->draws[c->count++] = (ld_draw){1.0, always->data[i]};
    for (int64_t i = 0; i < c->count; i++) {
        float p = c->p[c->draws[i].at];
        c->draws[i].value = p > 0.0f ? c->mass.total / p : 1.0;
    }
    return LD_OK;
}

/* --- the call --------------------------------------------------------------------------------- */

static ld_status check_options(int64_t n, int64_t k, const ld_choice_options *o)
{
    if (k < 0)
        return ld_fail(LD_VALUE, "choice: k must be at least 0, got %" PRId64, k);
    if (o->debias && (o->draw != LD_CHOICE_WOR || o->unite))
        return ld_fail(LD_VALUE, "choice: debias is for draw wor and union pre alone: %s",
                       o->unite ? "the weights of union post are 1 / p"
                                : "the others are unbiased as they are");
    if (o->unite && o->draw != LD_CHOICE_WOR)
        return ld_fail(LD_VALUE, "choice: union post is for draw wor alone");
    if (!o->always)
        return LD_OK;
    LD_CHECK(ld_index_check(o->always, 0, n, "choice: always: position"));
    return ld_index_check_unique(o->always, "choice: always: position");
}

/* Stores the draws, and rounds their weights to float32; before, everything is in double. */
static ld_status store(ld_index *pick, ld_tensor *w, int64_t at, const choice *c)
{
    for (int64_t i = 0; i < c->count; i++) {
        const ld_draw *d = &c->draws[i];
        if (d->value > FLT_MAX)
            return ld_fail(LD_VALUE,
                           "choice: the weight %g of position %" PRId32
                           " passes float32: its probability is %g of a total of %g",
                           d->value, d->at + 1, (double)c->p[d->at], c->mass.total);
        pick->data[at + i] = d->at;
        w->data[at + i] = (float)d->value;
    }
    return LD_OK;
}

/* Copies p, with zeros for the positions in `always`. */
static ld_status outside(ld_tensor **out, const ld_tensor *p, const ld_index *always)
{
    LD_CHECK(ld_tensor_clone(out, p));
    for (int64_t i = 0; i < always->size; i++)
        (*out)->data[always->data[i]] = 0.0f;
    return LD_OK;
}

/* Returns true when draws from the table that fall on `always` may simply be repeated: when enough
 * of the mass is outside, in more than `few` positions. `mass` then becomes the mass outside. */
static bool can_reject(ld_mass *mass, const ld_alias *table, const ld_index *always, int64_t few)
{
    ld_mass rest = *mass;
    for (int64_t i = 0; i < always->size; i++) {
        rest.total -= table->p->data[always->data[i]];
        rest.support -= table->p->data[always->data[i]] > 0.0f;
    }
    if (rest.support <= few || rest.total * 16.0 < mass->total)
        return false;
    *mass = rest;
    return true;
}

/* Makes room for the draws, and draws. */
static ld_status run(choice *c, const ld_tensor *p, const ld_alias *table,
                     const ld_choice_options *o)
{
    LD_OWN(ld_alias) *made = NULL;
    int64_t room = o->draw != LD_CHOICE_POISSON && c->k < c->mass.support ? c->k : c->mass.support;
    if (o->unite && o->always)
        room += o->always->size;
    if (!(c->draws = ld_alloc_array(room, sizeof *c->draws, LD_MEM_SCRATCH)))
        return LD_NOMEM;
    if (c->k == 0 || c->mass.support == 0) {
        /* nothing to draw */
    } else if (o->draw == LD_CHOICE_WOR) {
        LD_CHECK(draw_without_replacement(c, table, o->debias));
    } else if (o->draw == LD_CHOICE_POISSON) {
        LD_CHECK(draw_poisson(c));
    } else if (o->draw != LD_CHOICE_WR) {
        LD_CHECK(draw_fixed_size(c, o->draw));
    } else {
        if (!table && !(c->begun.draws && c->begun.draws->size == c->k))
            LD_CHECK(ld_alias_new(&made, p));
        LD_CHECK(draw_with_replacement(c, made ? made : table));
    }
    return o->unite ? unite(c, o->always) : LD_OK;
}

static ld_status choose(ld_index **pick, ld_tensor **w, const ld_tensor *p, const ld_alias *table,
                        int64_t k, ld_choice_options o, ld_choice_begun begun, ld_rng *rng)
{
    const ld_index *certain = o.unite ? NULL : o.always;
    int64_t n_certain = certain ? certain->size : 0;
    LD_CLEANED(choice_clear) choice c = {.n = p->n_rows, .k = k, .begun = begun};
    LD_OWN(ld_tensor) *others = NULL, *weights = NULL;
    LD_OWN(ld_index) *chosen = NULL;
    LD_CHECK(check_options(p->n_rows, k, &o));
    if (table)
        c.mass = (ld_mass){table->total, table->size};
    else
        LD_CHECK(ld_mass_of(&c.mass, p, "choice"));
    if (k > 0 && c.mass.support == 0 && !(o.always && o.always->size > 0))
        return ld_fail(LD_VALUE, "choice: all %" PRId64 " probabilities are zero", c.n);
    c.stream = ld_rng_next(rng);
    if (n_certain > 0 && table && o.draw <= LD_CHOICE_WR &&
        can_reject(&c.mass, table, certain, o.draw == LD_CHOICE_WR ? 0 : k)) {
        c.rejected = certain;
    } else if (n_certain > 0) {
        LD_CHECK(outside(&others, p, certain));
        LD_CHECK(ld_mass_of(&c.mass, others, "choice"));
        p = others;
        table = NULL;
    }
    if (begun.mass)
        c.mass = *begun.mass;
    c.p = p->data;
    LD_CHECK(run(&c, p, table, &o));
    LD_CHECK(ld_index_new(&chosen, n_certain + c.count));
    LD_CHECK(ld_tensor_new(&weights, 1, n_certain + c.count, 1));
    for (int64_t i = 0; i < n_certain; i++) {
        chosen->data[i] = certain->data[i];
        weights->data[i] = 1.0f;
    }
    LD_CHECK(store(chosen, weights, n_certain, &c));
    atomic_init(&chosen->distinct, true);
    *pick = ld_take(&chosen);
    *w = ld_take(&weights);
    return LD_OK;
}

ld_status ld_choice(ld_index **pick, ld_tensor **w, const ld_tensor *p, const ld_alias *table,
                    int64_t k, ld_choice_options o, ld_rng *rng)
{
    return choose(pick, w, p, table, k, o, (ld_choice_begun){0}, rng);
}

ld_status ld_choice_continue(ld_index **pick, ld_tensor **w, const ld_tensor *p, int64_t k,
                             ld_choice_options o, ld_choice_begun begun, ld_rng *rng)
{
    return choose(pick, w, p, NULL, k, o, begun, rng);
}

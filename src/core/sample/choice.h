/* Chooses positions at random, with the weights that make sums over them estimate sums over all.
 *
 * A design weight w_u is such that E[sum of w_u f_u over the chosen] = sum of f_u over all; with
 * P's columns for f this is what a layer of a sampled GCN estimates (LADIES, section 3;
 * doc/samplers). */
#ifndef LD_SAMPLE_CHOICE_H
#define LD_SAMPLE_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "random/rng.h"
#include "sample/alias.h"
#include "sample/mass.h"
#include "tensor/index.h"
#include "tensor/tensor.h"

typedef enum {
    LD_CHOICE_WOR,     /* successive draws without replacement */
    LD_CHOICE_WR,      /* draws with replacement */
    LD_CHOICE_POISSON, /* each position on its own, k of them expected */
    /* Exactly k positions, each with the probability that LD_CHOICE_POISSON includes it with, by the
     * rules of kernel/fixed_size.h: */
    LD_CHOICE_SYSTEMATIC,
    LD_CHOICE_PIVOTAL,
    LD_CHOICE_SAMPFORD,
} ld_choice_draw;

typedef struct {
    ld_choice_draw draw;
    bool debias;            /* wor: weights that are exactly unbiased */
    bool unite;             /* wor: the authors' union, see below */
    const ld_index *always; /* positions that are chosen for certain, or NULL */
} ld_choice_options;

/* Chooses k of the positions 0 .. n-1 with probabilities in proportion to the vector p. `pick` gets
 * distinct positions, `w` their design weights (p normalised):
 *    wor          1 / (k p_u), in draw order: conventional, and biased
 *    wor, debias  Chen et al., "Calibrate and Debias Layer-wise Sampling", TMLR 2023; in draw order
 *    wr           m_u / (k p_u) for m_u draws of u, in the order of first draws
 *    poisson      1 / pi_u, pi_u = min(1, c p_u), c such that the pi_u sum to k; ascending
 *    systematic, pivotal, sampford: the weights of poisson, for exactly k positions; ascending
 * Positions of probability zero are never drawn. Where no more than k are positive, all rules but wr
 * take them all, ascending, with weight 1; wr still draws k.
 *
 * The positions of `always` come first, with weight 1, and k further ones are drawn from p
 * renormalised outside of them. With `unite` (the published program of the LADIES authors) k are
 * drawn from the whole p, those of `always` that were not drawn follow them, and every weight is
 * 1 / p_u, whatever k is. Where p_u is zero it is 1: the column of such a node is empty.
 *
 * `table` is p's alias table, or NULL; with it, draws by wr and wor cost O(k) instead of O(n), with
 * `always` as well unless nearly all of the mass is there, and by wor unless nearly all of it is
 * drawn. All else costs O(n + k log n), and sampford up to n for every try (kernel/fixed_size.c). The
 * result depends on the rng's sub-stream, p, k, the options and, for wor and with `always`, on
 * whether there is a table; its distribution does not. LD_VALUE for bad probabilities (all zero,
 * too, when k > 0 and nothing is certain), a negative k, positions twice in `always`, options that
 * do not go together, or a weight past float32; LD_RANGE for positions in `always` out of range. */
ld_status ld_choice(ld_index **pick, ld_tensor **w, const ld_tensor *p, const ld_alias *table,
                    int64_t k, ld_choice_options o, ld_rng *rng);

/* A choice of which some draws were made elsewhere, in another way. */
typedef struct {
    const ld_index *draws; /* the first draws, or NULL */
    const ld_mass *mass;   /* the mass outside of `always`, if p lacks some of it, or NULL */
    int64_t bound;         /* debias: a bound of the support; 0: the support itself */
} ld_choice_begun;

/* Completes a choice by wor or wr. Its first draws are in `begun`: made by the same rule, in order,
 * none of them in `always` and for wr as often as drawn. Only the others of the k are drawn here.
 * When there are k already, p need not be whole: with `mass`, whose support is more than k, it may
 * hold the drawn positions alone. */
ld_status ld_choice_continue(ld_index **pick, ld_tensor **w, const ld_tensor *p, int64_t k,
                             ld_choice_options o, ld_choice_begun begun, ld_rng *rng);

/* The places in one sub-stream from which keys take their numbers, and columns that are drawn in
 * two stages (draw_cols.c). Draws take theirs from 0 on. */
static const uint64_t LD_CHOICE_KEYS = (uint64_t)1 << 63, LD_CHOICE_STAGES = (uint64_t)3 << 62;

/* Returns true as long as it pays to go on with successive draws, of which those are thrown away
 * that fall on something drawn before. When most are, the rest is drawn in another way from what is
 * left. That is exact, since when it happens depends on past draws only. */
static inline bool ld_worth_redrawing(int64_t drawn, int64_t thrown_away)
{
    return thrown_away <= 2 * drawn + 64;
}

/* Chooses k of 0 .. n-1, each equally likely: with replacement k independent draws, without the
 * first min(k, n) places of a random order. Costs O(k). */
ld_status ld_choice_uniform(ld_index **out, int64_t n, int64_t k, bool replace, ld_rng *rng);

#endif

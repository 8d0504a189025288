/* Node-wise sampling: some entries of each of the given rows, drawn without reading the rest.
 *
 * The draws of row r depend on the rng's sub-stream, r and the row's own entries: not on the other
 * rows, their order or the number of threads. `w` gets a design weight for each entry, such that
 * E[sum of w_e f_e over those drawn] = sum of f_e over the row, where the text says unbiased. */
#ifndef LD_SAMPLE_ROWS_H
#define LD_SAMPLE_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "graph/csr.h"
#include "random/rng.h"

typedef struct {
    bool replace;       /* draw with replacement */
    bool debias;        /* weighted, without replacement: weights that are exactly unbiased */
    bool count;         /* w holds how often an entry was drawn, not its weight */
    const ld_tensor *p; /* entries are drawn in proportion to these (nnz numbers), ... */
    const ld_tensor
        *p_cols; /* ... or to those of their columns (a's n_cols); both NULL: uniformly */
    const ld_index *always; /* an entry of every row of a that is taken for certain, -1 for none;
                                (a's n_rows, places in the row); NULL: none of any row */
    const ld_index *first;  /* columns that come first in src, touched or not; NULL: none */
} ld_sample_options;

/* Draws S, at most k entries of each of a's `rows`, which may not repeat, with their values.
 * Columns are compacted into `src` as by ld_csr_slice. An entry is there once however often it was
 * drawn, and the entries of a row keep their order. Weights, with d entries to draw from:
 *     uniform                d / k, unbiased; every k-subset is equally likely
 *     uniform, replace       m d / k for m draws of the entry, unbiased
 *     weighted, replace      m / (k p_e), p normalised within the row, unbiased
 *     weighted               1 / (k p_e) after k successive draws, conventional and biased
 *     weighted, debias       those of ld_choice, unbiased
 * Entries of probability zero are never drawn. Where no more than k can be, they are all taken with
 * weight 1, but with replacement k are still drawn. An entry of `always` has weight 1 and is not
 * one of the k. Uniform draws cost O(k + d / 64) for a row (k log k with replacement), weighted
 * ones O(d); the rest of the graph costs nothing. Fails with LD_RANGE for rows or columns out of
 * range, and with LD_VALUE for repeated ones, a negative k, bad probabilities or a weight past
 * float32. */
ld_status ld_sample_rows(ld_csr **out, ld_index **src, ld_tensor **w, ld_csr *a,
                         const ld_index *rows, int64_t k, ld_sample_options o, ld_rng *rng);

typedef struct {
    bool shared;            /* one random number for all entries of a column */
    const ld_tensor *r;     /* with `shared`: these numbers (n_cols); NULL: they are drawn */
    const ld_tensor *pi;    /* n_cols factors, or NULL for ones */
    const ld_index *always; /* as above */
    const ld_index *first;  /* as above */
} ld_poisson_options;

/* Draws every entry of the rows on its own: entry e of row i and column u is kept with probability
 * q = min(1, c_i pi_u), where r <= q for a uniform r; its weight is 1 / q, unbiased. With `shared`
 * r is a function of (sub-stream, u), so that rows agree on their columns: LABOR (Balin and
 * Catalyurek, NeurIPS 2023). With `r` that is r_u. c has a number for each of `rows`. Costs O(d)
 * for a row. */
ld_status ld_poisson_rows(ld_csr **out, ld_index **src, ld_tensor **w, ld_csr *a,
                          const ld_index *rows, const ld_tensor *c, ld_poisson_options o,
                          ld_rng *rng);

/* Computes the c of LABOR: for each of `rows` the one for which
 *     sum over the entries' columns u of 1 / min(1, c pi_u)  =  d^2 / k
 * where d is the number of the row's entries without that of `always`. With this c the estimated
 * mean of d independent numbers of unit variance has the variance that k entries drawn without
 * replacement would give. Where d <= k it is the least c that keeps all entries, and in an empty
 * row it is 1. pi (a's n_cols, positive) may be NULL for ones, with which c = k / d. */
ld_status ld_poisson_factors(ld_tensor **c, const ld_csr *a, const ld_index *rows, int64_t k,
                             const ld_tensor *pi, const ld_index *always);

/* Fails with LD_SHAPE or LD_RANGE unless `always` (NULL passes) has for each of `rows`, which are
 * in range, the place of one of its entries or -1. `where` begins the message. */
ld_status ld_check_always(const char *where, const ld_structure *s, const ld_index *rows,
                          const ld_index *always);

#endif

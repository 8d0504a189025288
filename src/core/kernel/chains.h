/* Sums whose order of additions is fixed, for the loops of kernels. Such a sum is a chain: every
 * addition waits for the one before it. To fill that time, several chains are added side by side:
 * those of several rows or, where the order is that of lanes, of one sum. */
#ifndef LD_KERNEL_CHAINS_H
#define LD_KERNEL_CHAINS_H

#include <stdint.h>

#include "system/simd.h"

/* The terms of a sum, made of elements x and y of two matrices; y may be x, and NULL for values. */
typedef enum {
    LD_VALUES,          /* x */
    LD_PRODUCTS,        /* x * y in double, which is exact */
    LD_ROUNDED_PRODUCTS /* x * y rounded to float */
} ld_terms;

enum {
    LD_CHAINS = 8, /* rows that are summed side by side */
    LD_LANES = 8   /* lanes of a sum: lane l adds every eighth term from the l-th on */
};

static LD_INLINE double ld_term(const float *x, const float *y, int64_t i, ld_terms terms)
{
    switch (terms) {
    case LD_VALUES: return x[i];
    case LD_PRODUCTS: return (double)x[i] * y[i];
    case LD_ROUNDED_PRODUCTS: break;
    }
    return x[i] * y[i];
}

/* Adds the terms from j on of a row of k elements to *sum. */
static LD_INLINE void ld_chain(double *sum, const float *x, const float *y, ld_terms terms,
                               int64_t j, int64_t k)
{
    double total = *sum;
    for (; j < k; j++)
        total += ld_term(x, y, j, terms);
    *sum = total;
}

/* Computes the sums of LD_CHAINS rows of k elements. Their terms are made in squares, which
 * compilers transpose in registers. */
static LD_INLINE void ld_chains(double *sums, const float *x, const float *y, ld_terms terms,
                                int64_t k)
{
    double sum[LD_CHAINS] = {0};
    int64_t whole = k / LD_CHAINS * LD_CHAINS;
    for (int64_t j = 0; j < whole; j += LD_CHAINS) {
        double square[LD_CHAINS][LD_CHAINS];
        for (int r = 0; r < LD_CHAINS; r++)
            for (int i = 0; i < LD_CHAINS; i++)
                square[r][i] = ld_term(x + r * k, y + r * k, j + i, terms);
        for (int i = 0; i < LD_CHAINS; i++)
            for (int r = 0; r < LD_CHAINS; r++)
                sum[r] += square[r][i];
    }
    for (int r = 0; r < LD_CHAINS; r++) {
        ld_chain(&sum[r], x + r * k, y + r * k, terms, whole, k);
        sums[r] = sum[r];
    }
}

/* Sums the terms of each row in the order of its k elements: sums[r] is that of row r. */
static LD_INLINE void ld_sum_rows(double *sums, const float *x, const float *y, ld_terms terms,
                                  int64_t n_rows, int64_t k)
{
    int64_t r = 0;
    for (; r + LD_CHAINS <= n_rows; r += LD_CHAINS)
        ld_chains(sums + r, x + r * k, y + r * k, terms, k);
    for (; r < n_rows; r++) {
        sums[r] = 0;
        ld_chain(&sums[r], x + r * k, y + r * k, terms, 0, k);
    }
}

static LD_INLINE double ld_lanes_total(const double lane[LD_LANES])
{
    return ((lane[0] + lane[1]) + (lane[2] + lane[3])) +
           ((lane[4] + lane[5]) + (lane[6] + lane[7]));
}

#endif

/* A sparse matrix as kernels walk it: pointers and sizes, row by row. Kernels take it as one
 * operand. */
#ifndef LD_KERNEL_FACTORS_H
#define LD_KERNEL_FACTORS_H

#include <stddef.h>
#include <stdint.h>

/* The value of entry e in row r and column c is row_scale[r] * values[source ? source[e] : e] *
 * col_scale[c]; values and scales may be NULL, for ones. Row r has the entries offsets[r] ..
 * offsets[r + 1] - 1. */
typedef struct {
    int64_t n_rows, n_cols;
    const int64_t *offsets;
    const int32_t *columns, *source;
    const float *values, *row_scale, *col_scale;
} ld_factors;

/* Returns the matrix of `count` rows from `first` on. */
static inline ld_factors ld_factors_rows(const ld_factors *a, int64_t first, int64_t count)
{
    ld_factors part = *a;
    part.n_rows = count;
    part.offsets += first;
    part.row_scale = a->row_scale ? a->row_scale + first : NULL;
    return part;
}

/* Returns how many entries the matrix has. */
static inline int64_t ld_factors_entries(const ld_factors *a)
{
    return a->n_rows > 0 ? a->offsets[a->n_rows] - a->offsets[0] : 0;
}

/* Returns the value of entry e in row r. The order of the factors matters: floats are rounded after
 * each. */
static inline float ld_factors_value(const ld_factors *a, int64_t r, int64_t e)
{
    float v = a->values ? a->values[a->source ? a->source[e] : e] : 1.0f;
    if (a->row_scale)
        v *= a->row_scale[r];
    return a->col_scale ? v * a->col_scale[a->columns[e]] : v;
}

/* Returns the value of entry e without the scale of its row. */
static inline float ld_factors_weight(const ld_factors *a, int64_t e)
{
    float v = a->values ? a->values[a->source ? a->source[e] : e] : 1.0f;
    return a->col_scale ? v * a->col_scale[a->columns[e]] : v;
}

#endif

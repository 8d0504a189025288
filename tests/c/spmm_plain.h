/* Plain versions of the kernels of spmm.h, with which tests compare these bit by bit. */
#ifndef TESTS_SPMM_PLAIN_H
#define TESTS_SPMM_PLAIN_H

#include <stdbool.h>

#include "kernel/factors.h"

/* Plain ld_spmm_by_rows, and without a bias the other ways: y = a * x, or y += a * x, and a
 * bias. */
static inline void ld_spmm_plain(float *y, const ld_factors *a, const int32_t *meets,
                                 const float *x, int64_t k, bool accumulate, const float *bias)
{
    for (int64_t r = 0; r < a->n_rows; r++)
        for (int64_t j = 0; j < k; j++) {
            float sum = 0, scale = a->row_scale ? a->row_scale[r] : 1.0f;
            for (int64_t e = a->offsets[r]; e < a->offsets[r + 1]; e++)
                sum += ld_factors_weight(a, e) * x[meets[e] * k + j];
            float product = scale * sum;
            y[r * k + j] = accumulate ? y[r * k + j] + product : product;
            if (bias)
                y[r * k + j] += bias[j];
        }
}

/* Plain ld_spmm_by_columns: y = a^T * x, or y += a^T * x. `sums` begins as zeros, a.n_cols x k. */
static inline void ld_spmm_t_plain(float *y, float *sums, const ld_factors *a, const float *x,
                                   int64_t k, bool accumulate)
{
    for (int64_t r = 0; r < a->n_rows; r++)
        for (int64_t e = a->offsets[r]; e < a->offsets[r + 1]; e++)
            for (int64_t j = 0; j < k; j++) {
                float v = a->values ? a->values[e] : 1.0f;
                float scale = a->row_scale ? a->row_scale[r] : 1.0f;
                sums[a->columns[e] * k + j] += v * scale * x[r * k + j];
            }
    for (int64_t c = 0; c < a->n_cols; c++)
        for (int64_t j = 0; j < k; j++) {
            float product = (a->col_scale ? a->col_scale[c] : 1.0f) * sums[c * k + j];
            y[c * k + j] = accumulate ? y[c * k + j] + product : product;
        }
}

/* Plain ld_spmm_in_double: y = a * x in double. */
static inline void ld_spmm_double_plain(float *y, const ld_factors *a, const float *x, int64_t k)
{
    for (int64_t r = 0; r < a->n_rows; r++)
        for (int64_t j = 0; j < k; j++) {
            double sum = 0, scale = a->row_scale ? a->row_scale[r] : 1.0;
            for (int64_t e = a->offsets[r]; e < a->offsets[r + 1]; e++) {
                int32_t c = a->columns[e];
                double v = a->values ? a->values[a->source ? a->source[e] : e] : 1.0;
                v *= scale * (a->col_scale ? a->col_scale[c] : 1.0);
                sum += v * x[c * k + j];
            }
            y[r * k + j] = (float)sum;
        }
}

/* Plain ld_spmm_of_heads. */
static inline void ld_spmm_heads_plain(float *y, const ld_factors *a, const float *w,
                                       const float *x, int64_t heads, int64_t width,
                                       bool accumulate)
{
    int64_t k = heads * width;
    for (int64_t r = 0; r < a->n_rows; r++)
        for (int64_t j = 0; j < k; j++) {
            float sum = accumulate ? y[r * k + j] : 0;
            for (int64_t e = a->offsets[r]; e < a->offsets[r + 1]; e++)
                sum += w[(a->source ? a->source[e] : e) * heads + j / width] *
                       x[a->columns[e] * k + j];
            y[r * k + j] = sum;
        }
}

/* Plain ld_sddmm_of_heads. */
static inline void ld_sddmm_plain(float *w, const ld_factors *a, const float *x, const float *y,
                                  int64_t heads, int64_t width, bool accumulate)
{
    int64_t k = heads * width;
    for (int64_t r = 0; r < a->n_rows; r++)
        for (int64_t e = a->offsets[r]; e < a->offsets[r + 1]; e++)
            for (int64_t h = 0; h < heads; h++) {
                double lane[8] = {0};
                for (int64_t j = 0; j < width; j++)
                    lane[j % 8] +=
                        (double)x[r * k + h * width + j] * y[a->columns[e] * k + h * width + j];
                for (int half = 4; half > 0; half /= 2)
                    for (int l = 0; l < half; l++)
                        lane[l] += lane[l + half];
                float *out = &w[e * heads + h];
                *out = accumulate ? *out + (float)lane[0] : (float)lane[0];
            }
}

#endif

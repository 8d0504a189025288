/* Functions of one element, of two or of three, over whole arrays. All fail as ld_parallel_for
 * does. A result may be written over an operand of the same shape. */
#ifndef LD_KERNEL_MAP_H
#define LD_KERNEL_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* --- of one element --------------------------------------------------------------------------- */

typedef enum {
    LD_RELU,       /* max(x, 0) */
    LD_LEAKY_RELU, /* x > 0 ? x : c * x */
    LD_ELU,        /* x > 0 ? x : c * (exp(x) - 1) */
    LD_SIGMOID,
    LD_TANH,
    LD_EXP,
    LD_LOG,
    LD_SQRT,
    LD_SQUARE,
    LD_ABS,        /* its derivative at 0 is taken for 0 */
    LD_RECIPROCAL, /* c / x */
    LD_CLAMP,      /* min(max(x, c), high) */
    LD_SIN,
    LD_COS,
    LD_HUBER, /* |x| <= c ? x^2 / 2 : c * (|x| - c / 2) */
    LD_FLOOR, /* its derivative is taken for 0 everywhere, as that of the next */
    LD_ROUND, /* to the nearest integer, of two to the even one */
} ld_unary;

/* Computes y[i] = f(x[i]) for n elements; f may have the parameters c and high. */
ld_status ld_map(float *y, const float *x, int64_t n, ld_unary f, float c, float high);

/* Computes dx[i] = dy[i] * f'(x[i]), where y[i] = f(x[i]); added to dx with `accumulate`. Of x and
 * y only those are read that the derivative in map.c contains; the other may be NULL. */
ld_status ld_map_backward(float *dx, const float *dy, const float *x, const float *y, int64_t n,
                          ld_unary f, float c, bool accumulate);

/* y = scale * x + shift. */
ld_status ld_affine(float *y, const float *x, int64_t n, float scale, float shift);

/* y = scale * x, added to y with `accumulate`. */
ld_status ld_scale(float *y, const float *x, int64_t n, float scale, bool accumulate);

/* y = scale * x in double, rounded to float, or scale alone where x is NULL; added with
 * `accumulate`. */
ld_status ld_multiple(float *y, const float *x, int64_t n, double scale, bool accumulate);

/* y[i] += x[i]. */
ld_status ld_add(float *y, const float *x, int64_t n);

/* y[i] = value. */
ld_status ld_fill(float *y, int64_t n, float value);

/* --- of elements that meet -------------------------------------------------------------------- */

/* How an operand is read along a result of n_rows x n_cols: element (r, j) of the result meets
 * data[r * row + j * col]. A stride of 0 repeats a row, a column or a single element. */
typedef struct {
    const float *data;
    int64_t row, col;
} ld_operand;

/* The operations. LD_MOD is the rest of a divided by b, with the sign of b, as Lua's %; NaN for b =
 * 0. */
typedef enum { LD_ADD, LD_SUB, LD_MUL, LD_DIV, LD_POW, LD_MOD } ld_arith;

/* Comparisons of elements with others; all are false of nan. */
typedef enum { LD_ABOVE, LD_BELOW, LD_EQUALS } ld_comparison;

/* z = a op b. */
ld_status ld_combine(float *z, ld_operand a, ld_operand b, int64_t n_rows, int64_t n_cols,
                     ld_arith op);

/* d = g * the derivative of a op b in a, or with of_b in b; added to d with `accumulate`. The
 * derivative of a power in its base is taken for 0 where the exponent is 0, that in its exponent
 * where the base is 0 and the exponent not negative. */
ld_status ld_combine_backward(float *d, const float *g, ld_operand a, ld_operand b, int64_t n_rows,
                              int64_t n_cols, ld_arith op, bool of_b, bool accumulate);

/* z = 1 where the comparison of a with b holds, 0 elsewhere. */
ld_status ld_compare_elements(float *z, ld_operand a, ld_operand b, int64_t n_rows, int64_t n_cols,
                              ld_comparison comparison);

/* z = a where the mask is not 0, b elsewhere. */
ld_status ld_choose(float *z, ld_operand mask, ld_operand a, ld_operand b, int64_t n_rows,
                    int64_t n_cols);

/* d = scale * g, and times 2 * x where x, of d's shape, is not NULL; added to d with
 * `accumulate`. */
ld_status ld_spread(float *d, ld_operand g, const float *x, int64_t n_rows, int64_t n_cols,
                    float scale, bool accumulate);

/* z = x * factor + y[rows], row by row, or + y where `rows` is NULL; z may be x. The product is
 * rounded before the sum, as one after the other would be. */
ld_status ld_mul_add(float *z, const float *x, float factor, const float *y, const int32_t *rows,
                     int64_t n_rows, int64_t n_cols);

#endif

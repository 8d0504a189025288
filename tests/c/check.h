/* Helpers that the test programs here share: numbers to compute with, matrices, and comparisons. */
#ifndef TESTS_CHECK_H
#define TESTS_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/factors.h"

/* The tests of a program, which its own file defines. The program runs them on plain x86-64, AVX2,
 * AVX-512 and AMX, as far as the machine has them, in one thread and in three, and says how many
 * comparisons were made. */
void test(void);

/* Counts a comparison; where `holds` is false, a line on stderr says what did not, with the units. */
void check(bool holds, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Return true if two arrays have the same bits; all NaNs count as the same. */
bool same_floats(const float *got, const float *want, int64_t n);
bool same_doubles(const double *got, const double *want, int64_t n);

/* The kind of numbers that are drawn: from -1 to 1, or denormal ones, NaN, infinities and zeros of
 * both signs too. */
typedef enum { ORDINARY, SPECIAL } numbers;

/* A pseudo-random number of a sequence that begins anew with every run of `test`. */
uint64_t next_bits(void);

/* n zeroed elements, and one more, so that there is a block for none. free_blocks frees all blocks
 * that there are, as happens after every run of `test`. */
void *new_block(int64_t n, size_t size);
void free_blocks(void);

/* n new numbers, in a block. */
float *new_floats(int64_t n, numbers kind);

/* A copy of n floats, in a block. */
float *copy_floats(const float *x, int64_t n);

/* A sparse matrix with the blocks that it points to. */
typedef struct {
    ld_factors a;
    int64_t nnz;
    int64_t *offsets;
    int32_t *columns, *source;
    float *values, *row_scale, *col_scale;
} sparse;

enum { WITH_VALUES = 1, WITH_ROW_SCALE = 2, WITH_COL_SCALE = 4, WITH_SOURCE = 8, ASCENDING = 16 };

/* n_rows x n_cols with about `degree` entries in a row, and none in every seventh. Its parts are those
 * of `what`; columns come in any order, and twice, unless they are ASCENDING. */
sparse sparse_new(int64_t n_rows, int64_t n_cols, int64_t degree, int what, numbers kind);

#endif

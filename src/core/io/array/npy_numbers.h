/* Converts the numbers of .npy files, of whatever type, to int64 or double. */
#ifndef LD_IO_NPY_NUMBERS_H
#define LD_IO_NPY_NUMBERS_H

#include "io/array/npy.h"

/* Converts `count` integers or bools, aligned as their type is; a bool becomes 1 unless it is 0. A
 * uint64 above 2^63 - 1 comes out negative. */
void ld_npy_to_integers(int64_t *out, ld_npy_type type, const void *items, int64_t count);

/* Converts `count` numbers to the nearest doubles. */
void ld_npy_to_doubles(double *out, ld_npy_type type, const void *items, int64_t count);

#endif

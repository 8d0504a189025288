/* Numbers of .npy files, of whatever type, as int64 or double. */
#ifndef LD_IO_NPY_NUMBERS_H
#define LD_IO_NPY_NUMBERS_H

#include "io/array/npy.h"

/* `count` integers or bools, aligned as their type is; of a bool 1 for all that is not 0. A uint64 above
 * 2^63 - 1 comes out negative. */
void ld_npy_to_integers(int64_t *out, ld_npy_type type, const void *items, int64_t count);

/* `count` numbers as the nearest doubles. */
void ld_npy_to_doubles(double *out, ld_npy_type type, const void *items, int64_t count);

#endif

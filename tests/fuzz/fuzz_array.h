/* Reading an .npy array in every way, wherever it lies. */
#ifndef FUZZ_ARRAY_H
#define FUZZ_ARRAY_H

#include "io/array/npy_values.h"

/* Begins to read the array anew. */
typedef ld_status fuzz_begin_array(void *context, ld_npy_header *h, ld_source **s);

/* Reads the array as everything that there is a function for, and requires that the header which we
 * would write of it describes the same array. Arrays of objects are left to the unpickler. */
void fuzz_read_array(fuzz_begin_array *begin, void *context);

#endif

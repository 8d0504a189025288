/* Reading an .npy array in every way, wherever it lies. */
#ifndef FUZZ_ARRAY_H
#define FUZZ_ARRAY_H

#include "io/array/npy_values.h"

/* Begins to read the array anew. */
typedef ld_status fuzz_begin_array(void *context, ld_npy_header *h, ld_source **s);

/* Reads the array as everything that there is a function for, and requires that the header which we
 * would write of it describes the same array. Arrays of objects are left to the unpickler. */
void fuzz_read_array(fuzz_begin_array *begin, void *context);

/* Requires that the array is the same tensor and the same index where it is mapped as where it is
 * read, or in neither place one. */
void fuzz_compare_mapped(fuzz_begin_array *begin, void *plain, void *mapping);

#endif

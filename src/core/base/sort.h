/* Sorting in place, ascending: O(n log n) whatever the order given. */
#ifndef LD_BASE_SORT_H
#define LD_BASE_SORT_H

#include <stdint.h>

void ld_sort_int32(int32_t *x, int64_t n);
void ld_sort_uint64(uint64_t *x, int64_t n);

#endif

/* Binary search for a number among ascending ones. */
#ifndef LD_BASE_SEARCH_H
#define LD_BASE_SEARCH_H

#include <stdint.h>

/* Returns the first of the places begin .. end - 1 whose number is not below x; `end` when there is
 * none. The place of the first number above a whole x is that of x + 1. */
static inline int64_t ld_search_int32(const int32_t *numbers, int64_t begin, int64_t end, int64_t x)
{
    while (begin < end) {
        int64_t middle = begin + (end - begin) / 2;
        if (numbers[middle] < x)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

static inline int64_t ld_search_int64(const int64_t *numbers, int64_t begin, int64_t end, int64_t x)
{
    while (begin < end) {
        int64_t middle = begin + (end - begin) / 2;
        if (numbers[middle] < x)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

#endif

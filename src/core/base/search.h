/* Binary searches among ascending numbers. */
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

/* Returns the first of n sums that exceeds the target, which is at least 0 and below the last. It
 * has no branch, which would be guessed wrong half the time in draws. */
static inline int64_t ld_search_sums(const double *sums, int64_t n, double target)
{
    int64_t at = 0;
    for (; n > 1; n -= n / 2)
        at += sums[at + n / 2 - 1] <= target ? n / 2 : 0;
    return at;
}

#endif

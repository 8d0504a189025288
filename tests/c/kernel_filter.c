/* The filter of ids (kernel/filter.h): which of some ids may be in a set, one by one and many at once. */
#include <inttypes.h>
#include <string.h>

#include "check.h"
#include "kernel/filter.h"

/* Sets of n members among ids below `most`, asked for blocks of every size. */
static void test_set(int n, int32_t most)
{
    ld_filter *filter = new_block(1, sizeof *filter);
    int32_t *members = new_block(n, sizeof *members);
    for (int i = 0; i < n; i++) {
        members[i] = (int32_t)(next_bits() % (uint64_t)most);
        ld_filter_add(filter, members[i]);
    }
    for (int i = 0; i < n; i++)
        check(ld_filter_maybe(filter, members[i]), "member %" PRId32 " of %d", members[i], n);
    for (int size = 1; size <= LD_FILTER_BLOCK; size++) {
        int32_t ids[LD_FILTER_BLOCK], at[LD_FILTER_BLOCK], want[LD_FILTER_BLOCK];
        int count = 0;
        for (int i = 0; i < size; i++) {
            bool member = n > 0 && next_bits() % 3 == 0;
            uint64_t bits = next_bits();
            ids[i] = member ? members[bits % (uint64_t)n] : (int32_t)(bits % (uint64_t)most);
            want[count] = i;
            count += ld_filter_maybe(filter, ids[i]);
        }
        int found = ld_filter_scan(at, ids, size, filter);
        check(found == count && memcmp(at, want, (size_t)count * sizeof *at) == 0,
              "%d ids of a set of %d below %" PRId32, size, n, most);
    }
}

void test(void)
{
    static const int sizes[] = {0, 1, 2, 17, 1000, 100000};
    for (int i = 0; i < 6; i++) {
        test_set(sizes[i], 1);
        test_set(sizes[i], LD_FILTER_BITS);
        test_set(sizes[i], INT32_MAX);
    }
}

#include "base/nearest.h"

#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

enum { LONGEST = 40, FAR = INT_MAX };

static int least(int a, int b)
{
    return a < b ? a : b;
}

static bool same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Row i of the table of costs is for the first i letters of a; three rows are needed at a time. */
static int distance(const char *a, int m, const char *b, int n)
{
    int table[3][LONGEST + 1];
    for (int j = 0; j <= n; j++)
        table[0][j] = j;
    for (int i = 1; i <= m; i++) {
        int *row = table[i % 3], *above = table[(i + 2) % 3], *before = table[(i + 1) % 3];
        row[0] = i;
        for (int j = 1; j <= n; j++) {
            int change = above[j - 1] + !same(a[i - 1], b[j - 1]);
            row[j] = least(least(above[j], row[j - 1]) + 1, change);
            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
                row[j] = least(row[j], before[j - 2] + 1);
        }
    }
    return table[m % 3][n];
}

/* The distance when it is near, FAR otherwise. */
static int nearness(const char *word, const char *candidate)
{
    size_t m = strlen(word), n = strlen(candidate), longer = m > n ? m : n;
    if (longer > LONGEST || longer < 2)
        return FAR;
    size_t prefix = 0;
    while (prefix < m && prefix < n && same(word[prefix], candidate[prefix]))
        prefix++;
    bool begins = prefix == m && m > 1, goes_on = prefix == n && n > 2 && m < 2 * n;
    if (begins || goes_on)
        return 1;
    int cost = distance(word, (int)m, candidate, (int)n);
    return cost <= 1 || cost <= (int)longer / 3 ? cost : FAR;
}

const char *ld_nearer(const char *word, const char *best, const char *candidate)
{
    int cost = nearness(word, candidate);
    return cost < (best ? nearness(word, best) : FAR) ? candidate : best;
}

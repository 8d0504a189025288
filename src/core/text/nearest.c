/* The optimal string alignment distance of two words, and the rules by which one is a likely
 * misspelling of the other. Words are short and few, so the plain table is quick enough. */
#include "text/nearest.h"

#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

enum {
    LONGEST = 40,
    ALIKE = 3, /* words that share so many first letters may differ by as many edits */
    FAR = INT_MAX,
};

static int least(int a, int b)
{
    return a < b ? a : b;
}

static bool same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Returns the number of edits that turn a into b, of m and n letters. Element (i, j) of the table
 * is the number for their first i and j letters; three rows are needed at a time. */
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

/* How near a candidate is to a word. The most important number comes first; the smaller it is, the
 * nearer is the candidate, except that a longer common prefix is nearer. */
typedef struct {
    int cost; /* FAR where it is not near */
    int distance, prefix, length;
} nearness;

static nearness nearness_of(const char *word, const char *candidate)
{
    size_t m = strlen(word), n = strlen(candidate), longer = m > n ? m : n;
    if (longer > LONGEST || longer < 2)
        return (nearness){.cost = FAR};
    size_t prefix = 0;
    while (prefix < m && prefix < n && same(word[prefix], candidate[prefix]))
        prefix++;
    bool begins = prefix == m && m > 1, goes_on = prefix == n && n > 2 && m < 2 * n;
    int edits = distance(word, (int)m, candidate, (int)n);
    bool near = edits <= 1 || edits <= (int)longer / 3 || (prefix >= ALIKE && edits <= ALIKE);
    return (nearness){begins || goes_on ? 1 : near ? edits : FAR, edits, (int)prefix, (int)n};
}

static bool is_nearer(nearness a, nearness b)
{
    if (a.cost != b.cost)
        return a.cost < b.cost;
    if (a.distance != b.distance)
        return a.distance < b.distance;
    return a.prefix != b.prefix ? a.prefix > b.prefix : a.length < b.length;
}

const char *ld_nearer(const char *word, const char *best, const char *candidate)
{
    nearness of_candidate = nearness_of(word, candidate);
    if (of_candidate.cost == FAR)
        return best;
    return !best || is_nearer(of_candidate, nearness_of(word, best)) ? candidate : best;
}

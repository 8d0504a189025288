#include "check.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ladies.h"

static long comparisons, failures;
static const char *units = "";
static uint64_t state;

int main(void)
{
    static const char *const names[] = {"sse2", "avx2", "avx512", "amx"};
    if (ld_init() != LD_OK) {
        fprintf(stderr, "%s\n", ld_message());
        return 1;
    }
    for (int i = 0; i < (int)(sizeof names / sizeof *names); i++) {
        units = names[i];
        if (ld_use_units(units) != LD_OK && (i > 0 || LD_HAVE_CLONES))
            continue;
        for (int threads = 1; threads <= 3; threads += 2) {
            state = 1;
            check(ld_set_threads(threads) == LD_OK, "%d threads", threads);
            test();
            free_blocks();
        }
    }
    printf("%ld comparisons, %ld failed\n", comparisons, failures);
    return failures > 0 || comparisons == 0;
}

void check(bool holds, const char *format, ...)
{
    va_list arguments;
    comparisons++;
    if (holds || ++failures > 50)
        return;
    va_start(arguments, format);
    fprintf(stderr, "%s: ", units);
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
}

bool same_floats(const float *got, const float *want, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (memcmp(&got[i], &want[i], sizeof *got) != 0 && !(isnan(got[i]) && isnan(want[i]))) {
            fprintf(stderr, "element %" PRId64 ": %.9g, %.9g expected; ", i, (double)got[i],
                    (double)want[i]);
            return false;
        }
    return true;
}

bool same_doubles(const double *got, const double *want, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (memcmp(&got[i], &want[i], sizeof *got) != 0 && !(isnan(got[i]) && isnan(want[i])))
            return false;
    return true;
}

/* --- blocks ------------------------------------------------------------------------------------- */

static void **blocks;
static int64_t n_blocks, most_blocks;

void *new_block(int64_t n, size_t size)
{
    if (n_blocks == most_blocks) {
        most_blocks = 2 * most_blocks + 64;
        blocks = realloc(blocks, (size_t)most_blocks * sizeof *blocks);
    }
    return blocks[n_blocks++] = calloc((size_t)n + 1, size);
}

void free_blocks(void)
{
    while (n_blocks > 0)
        free(blocks[--n_blocks]);
}

/* --- numbers ------------------------------------------------------------------------------------ */

uint64_t next_bits(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 33;
}

static float next_float(numbers kind)
{
    float x = (float)next_bits() * 0x1p-30f - 1.0f;
    if (kind == ORDINARY || next_bits() % 4 > 0)
        return x;
    switch (next_bits() % 8) {
    case 0: return NAN;
    case 1: return INFINITY;
    case 2: return -INFINITY;
    case 3: return 0.0f;
    case 4: return -0.0f;
    default: return x * 0x1p-130f; /* denormal */
    }
}

float *new_floats(int64_t n, numbers kind)
{
    float *x = new_block(n, sizeof *x);
    for (int64_t i = 0; i <= n; i++)
        x[i] = next_float(kind);
    return x;
}

float *copy_floats(const float *x, int64_t n)
{
    float *copy = new_block(n, sizeof *copy);
    memcpy(copy, x, (size_t)n * sizeof *copy);
    return copy;
}

/* --- matrices ----------------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Fills a row of `degree` columns; returns how many of them are left once each is there once. */
static int64_t fill_row(int32_t *columns, int64_t degree, int64_t n_cols, bool ascending)
{
    int64_t n = 0;
    for (int64_t i = 0; i < degree; i++)
        columns[i] = (int32_t)(next_bits() % (uint64_t)n_cols);
    if (!ascending)
        return degree;
    qsort(columns, (size_t)degree, sizeof *columns, by_number);
    for (int64_t i = 0; i < degree; i++)
        if (n == 0 || columns[i] != columns[n - 1])
            columns[n++] = columns[i];
    return n;
}

sparse sparse_new(int64_t n_rows, int64_t n_cols, int64_t degree, int what, numbers kind)
{
    sparse s = {.nnz = 0};
    s.offsets = new_block(n_rows, sizeof *s.offsets);
    s.columns = new_block(n_rows * degree * 2, sizeof *s.columns);
    s.offsets[0] = 0;
    for (int64_t r = 0; r < n_rows; r++) {
        int64_t d = n_cols == 0 || r % 7 == 3 ? 0 : (int64_t)(next_bits() % (2 * (uint64_t)degree));
        s.nnz += fill_row(s.columns + s.nnz, d, n_cols, what & ASCENDING);
        s.offsets[r + 1] = s.nnz;
    }
    s.source = new_block(s.nnz, sizeof *s.source);
    for (int64_t e = 0; e < s.nnz; e++) /* backwards: each entry's value lies elsewhere */
        s.source[e] = (int32_t)(s.nnz - 1 - e);
    s.values = new_floats(s.nnz, kind);
    s.row_scale = new_floats(n_rows, kind);
    s.col_scale = new_floats(n_cols, kind);
    s.a = (ld_factors){.n_rows = n_rows,
                       .n_cols = n_cols,
                       .offsets = s.offsets,
                       .columns = s.columns,
                       .source = what & WITH_SOURCE ? s.source : NULL,
                       .values = what & WITH_VALUES ? s.values : NULL,
                       .row_scale = what & WITH_ROW_SCALE ? s.row_scale : NULL,
                       .col_scale = what & WITH_COL_SCALE ? s.col_scale : NULL};
    return s;
}

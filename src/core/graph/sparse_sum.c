/* Sums and differences of two sparse matrices: their rows, which are sorted, are merged. One pass
 * counts the entries of each row, another fills them in. */
#include <inttypes.h>

#include "graph/csr.h"
#include "system/threads.h"

enum { GRAIN = 1024 /* rows */ };

typedef struct {
    const ld_csr *a, *b;
    float sign; /* of b */
    int64_t *offsets;
    int32_t *columns; /* NULL while entries are counted */
    float *values;
} merging;

/* Merges row r into the result from position `at` on, and returns how many entries it has. */
static int64_t merge_row(const merging *p, int64_t r, int64_t at)
{
    const ld_structure *a = p->a->s, *b = p->b->s;
    int64_t e = a->offsets[r], f = b->offsets[r], count = 0;
    while (e < a->offsets[r + 1] || f < b->offsets[r + 1]) {
        const int64_t u = e < a->offsets[r + 1] ? a->columns[e] : INT64_MAX;
        const int64_t v = f < b->offsets[r + 1] ? b->columns[f] : INT64_MAX;
        if (p->columns) {
            float x = u <= v ? ld_csr_value(p->a, r, e) : 0;
            float y = v <= u ? p->sign * ld_csr_value(p->b, r, f) : 0;
            p->columns[at + count] = (int32_t)(u < v ? u : v);
            p->values[at + count] = u == v ? x + y : u < v ? x : y;
        }
        e += u <= v;
        f += v <= u;
        count++;
    }
    return count;
}

static void count_rows(void *ctx, int64_t begin, int64_t end)
{
    const merging *p = ctx;
    for (int64_t r = begin; r < end; r++)
        p->offsets[r + 1] = merge_row(p, r, 0);
}

static void fill_rows(void *ctx, int64_t begin, int64_t end)
{
    const merging *p = ctx;
    for (int64_t r = begin; r < end; r++)
        merge_row(p, r, p->offsets[r]);
}

ld_status ld_csr_add(ld_csr **out, ld_csr *a, ld_csr *b, bool subtract)
{
    const int64_t n_rows = a->s->n_rows, n_cols = a->s->n_cols;
    LD_OWN(ld_csr) *first = NULL, *second = NULL;
    LD_OWN(ld_structure) *counts = NULL, *s = NULL;
    LD_OWN(ld_tensor) *values = NULL;
    if (b->s->n_rows != n_rows || b->s->n_cols != n_cols)
        return ld_fail(LD_SHAPE,
                       "sum of matrices: %" PRId64 " x %" PRId64 " and %" PRId64 " x %" PRId64,
                       n_rows, n_cols, b->s->n_rows, b->s->n_cols);
    LD_CHECK(ld_csr_canonical(&first, a));
    LD_CHECK(ld_csr_canonical(&second, b));
    LD_CHECK(ld_structure_new(&counts, n_rows, n_cols, 0, false));
    merging p = {.a = first, .b = second, .sign = subtract ? -1 : 1, .offsets = counts->offsets};
    LD_CHECK(ld_parallel_for(n_rows, GRAIN, count_rows, &p));
    p.offsets[0] = 0;
    for (int64_t r = 0; r < n_rows; r++)
        p.offsets[r + 1] += p.offsets[r];
    LD_CHECK(ld_structure_check(n_rows, n_cols, p.offsets[n_rows]));
    LD_CHECK(ld_structure_new(&s, n_rows, n_cols, p.offsets[n_rows], false));
    LD_CHECK(ld_tensor_new(&values, 1, s->nnz, 1));
    memcpy(s->offsets, p.offsets, (size_t)(n_rows + 1) * sizeof *s->offsets);
    p.columns = s->columns;
    p.values = values->data;
    LD_CHECK(ld_parallel_for(n_rows, GRAIN, fill_rows, &p));
    s->canonical = true;
    return ld_csr_new(out, s, values, NULL, NULL);
}

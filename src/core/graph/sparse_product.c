/* Products of two sparse matrices, row by row (Gustavson 1978). A row of the result is the sum of b's
 * rows that a's entries name, times these entries. One pass counts the entries of each row, another
 * fills them in; both go by a marker, which says where in the row a column is. */
#include <inttypes.h>

#include "base/sort.h"
#include "graph/csr.h"
#include "graph/marker.h"
#include "memory/memory.h"
#include "system/threads.h"

enum { GRAIN = 256 /* rows */ };

typedef struct {
    const ld_csr *a, *b;
    int64_t *offsets;
    int32_t *columns;
    float *values;
    ld_loop_failure failure;
} product;

static int64_t count_row(const product *p, int64_t r, ld_marker *seen)
{
    const ld_structure *a = p->a->s, *b = p->b->s;
    int64_t count = 0;
    ld_marker_clear(seen);
    for (int64_t e = a->offsets[r]; e < a->offsets[r + 1]; e++) {
        const int32_t u = a->columns[e];
        for (int64_t f = b->offsets[u]; f < b->offsets[u + 1]; f++)
            if (ld_marker_get(seen, b->columns[f]) < 0) {
                ld_marker_set(seen, b->columns[f], 0);
                count++;
            }
    }
    return count;
}

/* The count of row r goes to offsets[r + 1]. */
static void count_rows(void *ctx, int64_t begin, int64_t end)
{
    product *p = ctx;
    LD_OWN(ld_marker) *seen = NULL;
    ld_status st = ld_marker_take(&seen, p->b->s->n_cols);
    for (int64_t r = begin; st == LD_OK && r < end; r++)
        p->offsets[r + 1] = count_row(p, r, seen);
    ld_loop_note(&p->failure, st);
}

/* Fills in a row, with room for its sums and for keys to sort it by. */
static void fill_row(const product *p, int64_t r, ld_marker *places, double *sums, uint64_t *keys)
{
    const ld_structure *a = p->a->s, *b = p->b->s;
    const int64_t first = p->offsets[r];
    int32_t count = 0;
    ld_marker_clear(places);
    for (int64_t e = a->offsets[r]; e < a->offsets[r + 1]; e++) {
        const int32_t u = a->columns[e];
        const double v = ld_csr_value(p->a, r, e);
        for (int64_t f = b->offsets[u]; f < b->offsets[u + 1]; f++) {
            const int32_t c = b->columns[f];
            int32_t place = ld_marker_get(places, c);
            if (place < 0) {
                place = count++;
                ld_marker_set(places, c, place);
                keys[place] = (uint64_t)c << 32 | (uint64_t)place;
                sums[place] = 0;
            }
            sums[place] += v * ld_csr_value(p->b, u, f);
        }
    }
    ld_sort_uint64(keys, count);
    for (int64_t i = 0; i < count; i++) {
        p->columns[first + i] = (int32_t)(keys[i] >> 32);
        p->values[first + i] = (float)sums[keys[i] & UINT32_MAX];
    }
}

static ld_status fill_some(const product *p, int64_t begin, int64_t end)
{
    LD_OWN(ld_marker) *places = NULL;
    LD_FREED double *sums = NULL;
    LD_FREED uint64_t *keys = NULL;
    int64_t most = 1;
    for (int64_t r = begin; r < end; r++)
        if (p->offsets[r + 1] - p->offsets[r] > most)
            most = p->offsets[r + 1] - p->offsets[r];
    LD_CHECK(ld_marker_take(&places, p->b->s->n_cols));
    sums = ld_alloc_array(most, sizeof *sums, LD_MEM_SCRATCH);
    keys = ld_alloc_array(most, sizeof *keys, LD_MEM_SCRATCH);
    if (!sums || !keys)
        return LD_NOMEM;
    for (int64_t r = begin; r < end; r++)
        fill_row(p, r, places, sums, keys);
    return LD_OK;
}

static void fill_rows(void *ctx, int64_t begin, int64_t end)
{
    product *p = ctx;
    ld_loop_note(&p->failure, fill_some(p, begin, end));
}

ld_status ld_csr_multiply(ld_csr **out, const ld_csr *a, const ld_csr *b)
{
    const int64_t n_rows = a->s->n_rows;
    LD_FREED int64_t *offsets = NULL;
    LD_OWN(ld_structure) *s = NULL;
    LD_OWN(ld_tensor) *values = NULL;
    if (a->s->n_cols != b->s->n_rows)
        return ld_fail(LD_SHAPE,
                       "matmul_sparse: (%" PRId64 " x %" PRId64 ") * (%" PRId64 " x %" PRId64 ")",
                       n_rows, a->s->n_cols, b->s->n_rows, b->s->n_cols);
    if (!(offsets = ld_alloc_array(n_rows + 1, sizeof *offsets, LD_MEM_SCRATCH)))
        return LD_NOMEM;
    product p = {.a = a, .b = b, .offsets = offsets};
    LD_CHECK(ld_loop_result(&p.failure, ld_parallel_for(n_rows, GRAIN, count_rows, &p)));
    offsets[0] = 0;
    for (int64_t r = 0; r < n_rows; r++)
        offsets[r + 1] += offsets[r];
    LD_CHECK(ld_structure_check(n_rows, b->s->n_cols, offsets[n_rows]));
    LD_CHECK(ld_structure_new(&s, n_rows, b->s->n_cols, offsets[n_rows], false));
    LD_CHECK(ld_tensor_new(&values, 1, offsets[n_rows], 1));
    memcpy(s->offsets, offsets, (size_t)(n_rows + 1) * sizeof *offsets);
    p.columns = s->columns;
    p.values = values->data;
    LD_CHECK(ld_loop_result(&p.failure, ld_parallel_for(n_rows, GRAIN, fill_rows, &p)));
    s->canonical = true;
    return ld_csr_new(out, s, values, NULL, NULL);
}

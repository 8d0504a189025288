/* Makes the union of a matrix with its transpose.
 *
 * Rows are visited in ascending order, so the entries (r, c) arrive at row c in the order in which
 * its columns are sorted: row c of the union is its own entries, merged with those. Beside a and
 * the union only a position in each row is held. */
#include <string.h>

#include "graph/csr.h"
#include "memory/memory.h"

/* Moves own[c] over the entries of row c before column r. Returns true if the next one is in column
 * r. */
static bool has_mirror(const ld_structure *s, int64_t *own, int32_t c, int64_t r)
{
    while (own[c] < s->offsets[c + 1] && s->columns[own[c]] < r)
        own[c]++;
    return own[c] < s->offsets[c + 1] && s->columns[own[c]] == r;
}

/* Counts the entries of each row r of the union in offsets[r + 1]. *equal becomes true if the union
 * is a itself, which then has no scales and is no slice. */
static ld_status count_union(const ld_csr *a, int64_t *offsets, int64_t *own, bool *equal)
{
    const ld_structure *s = a->s;
    *equal = !s->from.rows && !a->row_scale && !a->col_scale;
    for (int64_t r = 0; r < s->n_rows; r++)
        offsets[r + 1] = s->offsets[r + 1] - s->offsets[r];
    for (int64_t r = 0; r < s->n_rows; r++) {
        LD_CHECK(ld_poll_at(r));
        for (int64_t e = s->offsets[r]; e < s->offsets[r + 1]; e++) {
            int32_t c = s->columns[e];
            bool mirrored = has_mirror(s, own, c, r);
            offsets[c + 1] += !mirrored;
            *equal = *equal && mirrored && ld_csr_value(a, r, e) == ld_csr_value(a, c, own[c]);
        }
    }
    return LD_OK;
}

typedef struct {
    const ld_csr *a;
    int64_t *own; /* the next entry of each row in a */
    int64_t *at;  /* the place of each row's next entry in the union */
    int32_t *columns;
    float *values; /* NULL when all are ones */
} merger;

static void put(merger *m, int64_t r, int32_t column, float value)
{
    if (m->values)
        m->values[m->at[r]] = value;
    m->columns[m->at[r]++] = column;
}

/* Copies row r's own entries before a column. */
static void put_own(merger *m, int64_t r, int64_t column)
{
    const ld_structure *s = m->a->s;
    for (int64_t *e = &m->own[r]; *e < s->offsets[r + 1] && s->columns[*e] < column; ++*e)
        put(m, r, s->columns[*e], ld_csr_value(m->a, r, *e));
}

static ld_status fill_union(merger *m)
{
    const ld_structure *s = m->a->s;
    for (int64_t r = 0; r < s->n_rows; r++) {
        LD_CHECK(ld_poll_at(r));
        for (int64_t e = s->offsets[r]; e < s->offsets[r + 1]; e++) {
            int32_t c = s->columns[e];
            float value = ld_csr_value(m->a, r, e), mirrored;
            put_own(m, c, r);
            if (m->own[c] < s->offsets[c + 1] && s->columns[m->own[c]] == r) {
                mirrored = ld_csr_value(m->a, c, m->own[c]++);
                value = value > mirrored ? value : mirrored;
            }
            put(m, c, (int32_t)r, value);
        }
    }
    for (int64_t r = 0; r < s->n_rows; r++)
        put_own(m, r, INT64_MAX);
    return LD_OK;
}

static void start_rows(int64_t *own, const ld_structure *s)
{
    if (s->n_rows > 0)
        memcpy(own, s->offsets, (size_t)s->n_rows * sizeof *own);
}

/* Makes the union of a with its transpose, where each row r has offsets[r + 1] entries. */
static ld_status make_union(ld_csr **out, const ld_csr *a, int64_t *offsets, int64_t *own)
{
    LD_OWN(ld_structure) *s = NULL;
    LD_OWN(ld_tensor) *values = NULL;
    int64_t n_rows = a->s->n_rows;
    offsets[0] = 0;
    for (int64_t r = 0; r < n_rows; r++)
        offsets[r + 1] += offsets[r];
    LD_CHECK(ld_structure_new(&s, n_rows, n_rows, offsets[n_rows], false));
    if (ld_csr_is_valued(a))
        LD_CHECK(ld_tensor_new(&values, 1, s->nnz, 1));
    memcpy(s->offsets, offsets, (size_t)(n_rows + 1) * sizeof *offsets);
    start_rows(own, a->s);
    LD_CHECK(fill_union(&(merger){a, own, offsets, s->columns, values ? values->data : NULL}));
    s->symmetric = true;
    return ld_csr_new(out, s, values, NULL, NULL);
}

ld_status ld_csr_symmetrize(ld_csr **out, ld_csr *given)
{
    int64_t n_rows = given->s->n_rows;
    LD_CHECK(ld_structure_check_square(given->s, "symmetrize"));
    LD_OWN(ld_csr) *a = NULL;
    LD_FREED int64_t *own = NULL, *offsets = NULL;
    bool equal;
    LD_CHECK(ld_csr_canonical(&a, given));
    if (!(own = ld_alloc_array(n_rows, sizeof *own, LD_MEM_SCRATCH)) ||
        !(offsets = ld_alloc_array(n_rows + 1, sizeof *offsets, LD_MEM_SCRATCH)))
        return LD_NOMEM;
    start_rows(own, a->s);
    LD_CHECK(count_union(a, offsets, own, &equal));
    if (!equal)
        return make_union(out, a, offsets, own);
    a->s->symmetric = true;
    *out = ld_take(&a);
    return LD_OK;
}

/* The bounds on the size of structures, and hints to the system about those in files. */
#include "graph/structure.h"

#include <inttypes.h>

static const int64_t MOST = (int64_t)1 << 40; /* entries: sizes in bytes never overflow */
static atomic_llong lowered;                  /* see ld_structure_limit */

void ld_structure_limit(int64_t n)
{
    atomic_store(&lowered, n);
}

ld_status ld_structure_check(int64_t n_rows, int64_t n_cols, int64_t nnz)
{
    if (n_rows < 0 || n_cols < 0 || n_rows > INT32_MAX || n_cols > INT32_MAX)
        return ld_fail(LD_SHAPE, "matrix: a dimension must be 0 to %d, got %" PRId64 " x %" PRId64,
                       INT32_MAX, n_rows, n_cols);
    if (nnz < 0 || nnz > MOST)
        return ld_fail(LD_SHAPE, "matrix: %" PRId64 " entries; at most %" PRId64 " fit", nnz, MOST);
    return LD_OK;
}

static int64_t most_positions(void)
{
    int64_t limit = atomic_load_explicit(&lowered, memory_order_relaxed);
    return limit > 0 ? limit : INT32_MAX;
}

bool ld_structure_has_positions(const ld_structure *s)
{
    return s->nnz <= most_positions();
}

ld_status ld_structure_check_positions(const ld_structure *s, const char *what)
{
    if (ld_structure_has_positions(s))
        return LD_OK;
    return ld_fail(LD_RANGE,
                   "%s: the matrix has %" PRId64 " entries; positions of more than %" PRId64
                   " do not fit an Index",
                   what, s->nnz, most_positions());
}

ld_status ld_structure_check_square(const ld_structure *s, const char *where)
{
    if (s->n_rows == s->n_cols)
        return LD_OK;
    return ld_fail(LD_SHAPE, "%s: a square matrix expected, got %" PRId64 " x %" PRId64, where,
                   s->n_rows, s->n_cols);
}

void ld_structure_advise(const ld_structure *s, ld_access access)
{
    if (s->mapped[1])
        ld_mapping_advise(s->mapped[1], access);
}

ld_status ld_structure_prefetch(const ld_structure *s, const ld_index *rows)
{
    if (!s->mapped[1] || !s->mapped[1]->is_large)
        return LD_OK;
    LD_CHECK(ld_mapping_prefetch(s->mapped[0], s->offsets, sizeof *s->offsets, NULL, rows->data,
                                 rows->size));
    return ld_mapping_prefetch(s->mapped[1], s->columns, sizeof *s->columns, s->offsets, rows->data,
                               rows->size);
}

void ld_structure_forget(const ld_structure *s, int64_t first, int64_t end)
{
    const ld_mapping *m = s->shared ? s->shared->mapping : s->mapped[1];
    if (m)
        ld_mapping_forget(m, s->columns + first, s->columns + end);
}

int64_t ld_structure_count(const ld_structure *s, const ld_index *rows)
{
    int64_t n = 0;
    for (int64_t i = 0; i < rows->size; i++)
        n += s->offsets[rows->data[i] + 1] - s->offsets[rows->data[i]];
    return n;
}

/* Counts the columns that are not higher than the one before in the array, whatever their rows. */
static int64_t count_falls(const int32_t *columns, int64_t n)
{
    int64_t falls = 0;
    for (int64_t e = 1; e < n; e++)
        falls += columns[e] <= columns[e - 1];
    return falls;
}

/* The columns of every row ascend if all columns that are not higher than the one before are the
 * first of their rows. */
bool ld_structure_is_canonical(ld_structure *s)
{
    if (s->canonical)
        return true;
    int64_t falls = count_falls(s->columns, s->nnz);
    for (int64_t r = 0; r < s->n_rows; r++) {
        int64_t first = s->offsets[r];
        if (first > 0 && first < s->offsets[r + 1])
            falls -= s->columns[first] <= s->columns[first - 1];
    }
    s->canonical = falls == 0;
    return s->canonical;
}

/* Lifetime of structures and matrices. */
#include "graph/csr.h"

#include <inttypes.h>
#include <stddef.h>

#include "base/memory.h"

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

/* A structure without arrays. */
static ld_status bare_new(ld_structure **out, int64_t n_rows, int64_t n_cols, int64_t nnz)
{
    ld_status st = ld_structure_check(n_rows, n_cols, nnz);
    if (st != LD_OK)
        return st;
    ld_structure *s = ld_calloc_array(1, sizeof *s, LD_MEM_MATRIX);
    if (!s)
        return LD_NOMEM;
    atomic_init(&s->refs, 1);
    atomic_init(&s->transpose, NULL);
    atomic_init(&s->transposing, false);
    s->n_rows = n_rows;
    s->n_cols = n_cols;
    s->nnz = nnz;
    *out = s;
    return LD_OK;
}

/* A structure without columns. */
static ld_status header_new(ld_structure **out, int64_t n_rows, int64_t n_cols, int64_t nnz)
{
    ld_structure *s;
    ld_status st = bare_new(&s, n_rows, n_cols, nnz);
    if (st != LD_OK)
        return st;
    s->offsets = ld_alloc_array(n_rows + 1, sizeof *s->offsets, LD_MEM_MATRIX);
    if (!s->offsets) {
        ld_structure_unref(s);
        return LD_NOMEM;
    }
    s->offsets[0] = 0;
    *out = s;
    return LD_OK;
}

ld_status ld_structure_new(ld_structure **out, int64_t n_rows, int64_t n_cols, int64_t nnz,
                           bool with_origin)
{
    ld_structure *s;
    ld_status st = header_new(&s, n_rows, n_cols, nnz);
    if (st != LD_OK)
        return st;
    s->columns = ld_alloc_array(nnz, sizeof *s->columns, LD_MEM_MATRIX);
    if (s->columns && with_origin)
        s->origin = ld_alloc_array(nnz, sizeof *s->origin, LD_MEM_MATRIX);
    if (s->origin)
        s->origin_row = ld_alloc_array(n_rows, sizeof *s->origin_row, LD_MEM_MATRIX);
    if (!s->columns || (with_origin && !s->origin_row)) {
        ld_structure_unref(s);
        return LD_NOMEM;
    }
    *out = s;
    return LD_OK;
}

ld_status ld_structure_over(ld_structure **out, int64_t n_rows, int64_t n_cols, ld_index *columns)
{
    ld_status st = header_new(out, n_rows, n_cols, columns->size);
    if (st != LD_OK)
        return st;
    (*out)->shared = ld_index_ref(columns);
    (*out)->columns = columns->data;
    return LD_OK;
}

ld_status ld_structure_of_block(ld_structure **out, int64_t n_rows, int64_t n_cols, int64_t nnz,
                                int32_t *columns)
{
    ld_status st = header_new(out, n_rows, n_cols, nnz);
    if (st == LD_OK)
        (*out)->columns = columns;
    else
        ld_free(columns);
    return st;
}

ld_status ld_structure_over_mappings(ld_structure **out, int64_t n_rows, int64_t n_cols,
                                     int64_t nnz, ld_mapping *offsets, ld_mapping *columns)
{
    ld_status st = bare_new(out, n_rows, n_cols, nnz);
    if (st != LD_OK)
        return st;
    (*out)->mapped[0] = ld_mapping_ref(offsets);
    (*out)->mapped[1] = ld_mapping_ref(columns);
    (*out)->offsets = (int64_t *)offsets->data;
    (*out)->columns = (int32_t *)columns->data;
    ld_structure_advise(*out, LD_ACCESS_RANDOM);
    return LD_OK;
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
    ld_status st = ld_mapping_prefetch(s->mapped[0], s->offsets, sizeof *s->offsets, NULL,
                                       rows->data, rows->size);
    return st == LD_OK ? ld_mapping_prefetch(s->mapped[1], s->columns, sizeof *s->columns,
                                             s->offsets, rows->data, rows->size)
                       : st;
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

void ld_structure_sliced(ld_structure *s, ld_csr *a)
{
    s->root = ld_csr_ref(a->s->root ? a->s->root : a);
}

ld_structure *ld_structure_ref(ld_structure *s)
{
    atomic_fetch_add_explicit(&s->refs, 1, memory_order_relaxed);
    return s;
}

void ld_structure_unref(ld_structure *s)
{
    if (!s || atomic_fetch_sub_explicit(&s->refs, 1, memory_order_acq_rel) != 1)
        return;
    ld_structure_unref(atomic_load(&s->transpose));
    if (!s->mapped[0])
        ld_free(s->offsets);
    if (!s->shared && !s->mapped[1])
        ld_free(s->columns);
    ld_index_unref(s->shared);
    ld_mapping_unref(s->mapped[0]);
    ld_mapping_unref(s->mapped[1]);
    ld_free(s->origin_row);
    ld_free(s->origin);
    ld_csr_unref(s->root);
    ld_index_unref(s->row_ids);
    ld_free(s->source);
    ld_free(s);
}

ld_status ld_csr_new(ld_csr **out, ld_structure *s, ld_tensor *values, ld_tensor *row_scale,
                     ld_tensor *col_scale)
{
    ld_csr *a = ld_alloc(sizeof *a, LD_MEM_MATRIX);
    if (!a)
        return LD_NOMEM;
    atomic_init(&a->refs, 1);
    a->s = ld_structure_ref(s);
    a->values = ld_tensor_ref(values);
    a->row_scale = ld_tensor_ref(row_scale);
    a->col_scale = ld_tensor_ref(col_scale);
    atomic_init(&a->row_mass[0], NULL);
    atomic_init(&a->row_mass[1], NULL);
    atomic_init(&a->summing, false);
    *out = a;
    return LD_OK;
}

ld_csr *ld_csr_ref(ld_csr *a)
{
    if (a)
        atomic_fetch_add_explicit(&a->refs, 1, memory_order_relaxed);
    return a;
}

void ld_csr_unref(ld_csr *a)
{
    if (!a || atomic_fetch_sub_explicit(&a->refs, 1, memory_order_acq_rel) != 1)
        return;
    ld_structure_unref(a->s);
    ld_tensor_unref(a->values);
    ld_tensor_unref(a->row_scale);
    ld_tensor_unref(a->col_scale);
    ld_free(atomic_load(&a->row_mass[0]));
    ld_free(atomic_load(&a->row_mass[1]));
    ld_free(a);
}

ld_status ld_csr_freeze(ld_csr *a)
{
    ld_status st = a->values ? ld_tensor_freeze(a->values) : LD_OK;
    if (st == LD_OK && a->row_scale)
        st = ld_tensor_freeze(a->row_scale);
    if (st == LD_OK && a->col_scale)
        st = ld_tensor_freeze(a->col_scale);
    if (st == LD_OK && a->s->root)
        st = ld_csr_freeze(a->s->root);
    return st;
}

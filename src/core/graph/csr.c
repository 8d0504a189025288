/* Makes and frees structures and matrices. They are in one file since they hold each other: the
 * structure of a slice holds the matrix that was sliced. */
#include "graph/csr.h"

#include "memory/memory.h"

/* Makes a structure without arrays. */
static ld_status bare_new(ld_structure **out, int64_t n_rows, int64_t n_cols, int64_t nnz)
{
    LD_CHECK(ld_structure_check(n_rows, n_cols, nnz));
    ld_structure *s = ld_calloc_array(1, sizeof *s, LD_MEM_MATRIX);
    if (!s)
        return LD_NOMEM;
    atomic_init(&s->refs, 1);
    atomic_init(&s->kept.transpose, NULL);
    atomic_init(&s->kept.transposing, false);
    s->n_rows = n_rows;
    s->n_cols = n_cols;
    s->nnz = nnz;
    *out = s;
    return LD_OK;
}

/* Makes a structure with offsets to be filled in, without columns. */
static ld_status header_new(ld_structure **out, int64_t n_rows, int64_t n_cols, int64_t nnz)
{
    LD_OWN(ld_structure) *s = NULL;
    LD_CHECK(bare_new(&s, n_rows, n_cols, nnz));
    if (!(s->offsets = ld_alloc_array(n_rows + 1, sizeof *s->offsets, LD_MEM_MATRIX)))
        return LD_NOMEM;
    s->offsets[0] = 0;
    *out = ld_take(&s);
    return LD_OK;
}

ld_status ld_structure_new(ld_structure **out, int64_t n_rows, int64_t n_cols, int64_t nnz,
                           bool with_origin)
{
    LD_OWN(ld_structure) *s = NULL;
    LD_CHECK(header_new(&s, n_rows, n_cols, nnz));
    if (!(s->columns = ld_alloc_array(nnz, sizeof *s->columns, LD_MEM_MATRIX)) ||
        (with_origin &&
         (!(s->from.places = ld_alloc_array(nnz, sizeof *s->from.places, LD_MEM_MATRIX)) ||
          !(s->from.rows = ld_alloc_array(n_rows, sizeof *s->from.rows, LD_MEM_MATRIX)))))
        return LD_NOMEM;
    *out = ld_take(&s);
    return LD_OK;
}

ld_status ld_structure_over(ld_structure **out, int64_t n_rows, int64_t n_cols, ld_index *columns)
{
    LD_CHECK(header_new(out, n_rows, n_cols, columns->size));
    (*out)->shared = ld_index_ref(columns);
    (*out)->columns = columns->data;
    return LD_OK;
}

ld_status ld_structure_of_block(ld_structure **out, int64_t n_rows, int64_t n_cols, int64_t nnz,
                                int32_t *columns)
{
    LD_FREED int32_t *given = columns;
    LD_CHECK(header_new(out, n_rows, n_cols, nnz));
    (*out)->columns = ld_take(&given);
    return LD_OK;
}

ld_status ld_structure_over_mappings(ld_structure **out, int64_t n_rows, int64_t n_cols,
                                     int64_t nnz, ld_mapping *offsets, ld_mapping *columns)
{
    LD_CHECK(bare_new(out, n_rows, n_cols, nnz));
    (*out)->mapped[0] = ld_mapping_ref(offsets);
    (*out)->mapped[1] = ld_mapping_ref(columns);
    (*out)->offsets = (int64_t *)offsets->data;
    (*out)->columns = (int32_t *)columns->data;
    ld_structure_advise(*out, LD_ACCESS_RANDOM);
    return LD_OK;
}

void ld_structure_sliced(ld_structure *s, ld_csr *a)
{
    s->from.root = ld_csr_ref(a->s->from.root ? a->s->from.root : a);
}

void ld_structure_unref(ld_structure *s)
{
    if (!s || atomic_fetch_sub_explicit(&s->refs, 1, memory_order_acq_rel) != 1)
        return;
    ld_structure_unref(atomic_load(&s->kept.transpose));
    if (!s->mapped[0])
        ld_free(s->offsets);
    if (!s->shared && !s->mapped[1])
        ld_free(s->columns);
    ld_index_unref(s->shared);
    ld_mapping_unref(s->mapped[0]);
    ld_mapping_unref(s->mapped[1]);
    ld_free(s->from.rows);
    ld_free(s->from.places);
    ld_csr_unref(s->from.root);
    ld_index_unref(s->from.row_ids);
    ld_free(s->source);
    ld_free(s);
}

/* --- matrices --------------------------------------------------------------------------------- */

ld_status ld_csr_new(ld_csr **out, ld_structure *s, ld_tensor *values, ld_tensor *row_scale,
                     ld_tensor *col_scale)
{
    ld_csr *a = ld_alloc(sizeof *a, LD_MEM_MATRIX);
    if (!a)
        return LD_NOMEM;
    atomic_init(&a->refs, 1);
    a->s = s;
    atomic_fetch_add_explicit(&s->refs, 1, memory_order_relaxed);
    a->values = ld_tensor_ref(values);
    a->row_scale = ld_tensor_ref(row_scale);
    a->col_scale = ld_tensor_ref(col_scale);
    atomic_init(&a->kept.row_mass[0], NULL);
    atomic_init(&a->kept.row_mass[1], NULL);
    atomic_init(&a->kept.summing, false);
    *out = a;
    return LD_OK;
}

static const float *data_of(const ld_tensor *t)
{
    return t ? t->data : NULL;
}

ld_factors ld_csr_factors(const ld_csr *a)
{
    return (ld_factors){.n_rows = a->s->n_rows,
                        .n_cols = a->s->n_cols,
                        .offsets = a->s->offsets,
                        .columns = a->s->columns,
                        .values = data_of(a->values),
                        .row_scale = data_of(a->row_scale),
                        .col_scale = data_of(a->col_scale)};
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
    ld_free(atomic_load(&a->kept.row_mass[0]));
    ld_free(atomic_load(&a->kept.row_mass[1]));
    ld_free(a);
}

ld_status ld_csr_freeze(ld_csr *a)
{
    ld_tensor *const factors[] = {a->values, a->row_scale, a->col_scale};
    for (int i = 0; i < 3; i++)
        if (factors[i])
            LD_CHECK(ld_tensor_freeze(factors[i]));
    return a->s->from.root ? ld_csr_freeze(a->s->from.root) : LD_OK;
}

/* Lifetime of structures and matrices, and the plain accessors. */
#include "graph/csr.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

static atomic_llong lowered; /* see ld_structure_limit */

void ld_structure_limit(int64_t n)
{
    atomic_store(&lowered, n);
}

ld_status ld_structure_check(int64_t n_rows, int64_t n_cols, int64_t nnz)
{
    if (n_rows < 0 || n_cols < 0 || n_rows > INT32_MAX || n_cols > INT32_MAX)
        return ld_fail(LD_SHAPE, "matrix: a dimension must be 0 to %d, got %" PRId64 " x %" PRId64,
                       INT32_MAX, n_rows, n_cols);
    int64_t limit = atomic_load_explicit(&lowered, memory_order_relaxed), most = INT32_MAX;
    most = limit > 0 ? limit : most;
    if (nnz > most)
        return ld_fail(LD_SHAPE, "matrix: %" PRId64 " entries; at most %" PRId64 " fit", nnz, most);
    return LD_OK;
}

/* A structure without columns. */
static ld_status header_new(ld_structure **out, int64_t n_rows, int64_t n_cols, int64_t nnz)
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
    if (!s->columns || (with_origin && !s->origin)) {
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
    ld_free(s->offsets);
    if (s->shared)
        ld_index_unref(s->shared);
    else
        ld_free(s->columns);
    ld_free(s->origin_row);
    ld_free(s->origin);
    ld_csr_unref(s->root);
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

ld_status ld_csr_degrees(ld_tensor **out, const ld_csr *a, const ld_index *rows)
{
    const ld_structure *s = a->s;
    int64_t n = rows ? rows->size : s->n_rows;
    ld_status st = rows ? ld_index_check(rows, 0, s->n_rows, "degrees: row") : LD_OK;
    if (st == LD_OK)
        st = ld_tensor_new(out, 1, n, 1);
    if (st != LD_OK)
        return st;
    for (int64_t i = 0; i < n; i++) {
        int64_t r = rows ? rows->data[i] : i;
        (*out)->data[i] = (float)(s->offsets[r + 1] - s->offsets[r]);
    }
    return LD_OK;
}

int64_t ld_csr_empty_rows(const ld_csr *a)
{
    int64_t empty = 0;
    for (int64_t r = 0; r < a->s->n_rows; r++)
        empty += a->s->offsets[r] == a->s->offsets[r + 1];
    return empty;
}

int64_t ld_csr_loops(const ld_csr *a)
{
    const ld_structure *s = a->s;
    int64_t loops = 0;
    for (int64_t r = 0; r < s->n_rows; r++)
        for (int64_t e = s->offsets[r]; e < s->offsets[r + 1]; e++)
            loops += s->columns[e] == r;
    return loops;
}

ld_status ld_csr_diagonal(ld_index **out, const ld_csr *a)
{
    const ld_structure *s = a->s;
    ld_status st = ld_index_new(out, s->n_rows);
    for (int64_t r = 0; st == LD_OK && r < s->n_rows; r++) {
        (*out)->data[r] = -1;
        for (int64_t e = s->offsets[r]; e < s->offsets[r + 1]; e++)
            if (s->columns[e] == r)
                (*out)->data[r] = (int32_t)e;
    }
    return st;
}

ld_status ld_csr_entries(ld_tensor **out, const ld_csr *a)
{
    const ld_structure *s = a->s;
    ld_status st = ld_tensor_new(out, 1, s->nnz, 1);
    if (st != LD_OK)
        return st;
    for (int64_t r = 0; r < s->n_rows; r++)
        for (int64_t e = s->offsets[r]; e < s->offsets[r + 1]; e++)
            (*out)->data[e] = ld_csr_value(a, r, e);
    return LD_OK;
}

ld_status ld_csr_row_of(ld_index **out, const ld_csr *a)
{
    const ld_structure *s = a->s;
    ld_status st = ld_index_new(out, s->nnz);
    if (st != LD_OK)
        return st;
    for (int64_t r = 0; r < s->n_rows; r++)
        for (int64_t e = s->offsets[r]; e < s->offsets[r + 1]; e++)
            (*out)->data[e] = (int32_t)r;
    return LD_OK;
}

ld_status ld_csr_col_of(ld_index **out, const ld_csr *a)
{
    ld_status st = ld_index_new(out, a->s->nnz);
    if (st == LD_OK)
        memcpy((*out)->data, a->s->columns, (size_t)a->s->nnz * sizeof(int32_t));
    return st;
}

ld_status ld_csr_offsets(ld_index **out, const ld_csr *a)
{
    const ld_structure *s = a->s;
    ld_status st = ld_index_new(out, s->n_rows + 1);
    for (int64_t r = 0; st == LD_OK && r <= s->n_rows; r++)
        (*out)->data[r] = (int32_t)s->offsets[r];
    return st;
}

ld_status ld_csr_origin(ld_index **out, const ld_csr *a)
{
    const ld_structure *s = a->s;
    if (!s->origin && !s->origin_row)
        return ld_index_range(out, 0, s->nnz);
    ld_status st = ld_index_new(out, s->nnz);
    if (st != LD_OK)
        return st;
    if (s->origin) {
        memcpy((*out)->data, s->origin, (size_t)s->nnz * sizeof(int32_t));
        return LD_OK;
    }
    for (int64_t r = 0; r < s->n_rows; r++)
        for (int64_t e = s->offsets[r]; e < s->offsets[r + 1]; e++)
            (*out)->data[e] = (int32_t)(s->origin_row[r] + e - s->offsets[r]);
    return LD_OK;
}

ld_status ld_csr_to_dense(ld_tensor **out, const ld_csr *a)
{
    const ld_structure *s = a->s;
    ld_status st = ld_tensor_full(out, 2, s->n_rows, s->n_cols, 0.0f);
    if (st != LD_OK)
        return st;
    for (int64_t r = 0; r < s->n_rows; r++)
        for (int64_t e = s->offsets[r]; e < s->offsets[r + 1]; e++)
            (*out)->data[r * s->n_cols + s->columns[e]] = ld_csr_value(a, r, e);
    return LD_OK;
}

static bool same_structure(const ld_structure *s, const ld_structure *t)
{
    return s == t ||
           (s->n_rows == t->n_rows && s->n_cols == t->n_cols && s->nnz == t->nnz &&
            memcmp(s->offsets, t->offsets, (size_t)(s->n_rows + 1) * sizeof *s->offsets) == 0 &&
            memcmp(s->columns, t->columns, (size_t)s->nnz * sizeof *s->columns) == 0);
}

bool ld_csr_is_close(const ld_csr *a, const ld_csr *b, double tolerance)
{
    if (a == b)
        return true;
    if (!same_structure(a->s, b->s))
        return false;
    for (int64_t r = 0; r < a->s->n_rows; r++)
        for (int64_t e = a->s->offsets[r]; e < a->s->offsets[r + 1]; e++) {
            double x = ld_csr_value(a, r, e), y = ld_csr_value(b, r, e);
            if (x != y && !(fabs(x - y) <= tolerance * fmax(fabs(x), fabs(y))))
                return false;
        }
    return true;
}

static uint64_t hash_values(const void *ctx, int64_t begin, int64_t end)
{
    const ld_csr *a = ctx;
    ld_hash_lanes h = {{0, 1, 2, 3}};
    for (int64_t r = begin; r < end; r++) {
        for (int64_t e = a->s->offsets[r]; e < a->s->offsets[r + 1]; e++) {
            uint32_t word;
            float v = ld_csr_value(a, r, e);
            memcpy(&word, &v, sizeof word);
            uint64_t *lane = &h.lane[e % LD_HASH_LANES];
            *lane = ld_hash_word(*lane, word);
        }
    }
    return ld_hash_join(LD_HASH_SEED, &h);
}

ld_status ld_csr_hash(uint64_t *hash, const ld_csr *a)
{
    ld_status st = LD_OK;
    const ld_structure *s = a->s;
    *hash = ld_hash_word(ld_hash_word(LD_HASH_SEED, (uint64_t)s->n_rows), (uint64_t)s->n_cols);
    LD_TRY(ld_hash_bytes(hash, s->offsets, (size_t)(s->n_rows + 1) * sizeof *s->offsets));
    LD_TRY(ld_hash_bytes(hash, s->columns, (size_t)s->nnz * sizeof *s->columns));
    LD_TRY(ld_hash_items(hash, s->n_rows, hash_values, a));
done:
    return st;
}

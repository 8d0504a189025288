/* Answers questions about matrices: the numbers of entries in rows, entries and places as vectors,
 * sums, a dense copy, comparisons and a hash. */
#include <math.h>
#include <string.h>

#include "graph/csr.h"
#include "kernel/entry_sums.h"
#include "memory/hash.h"
#include "memory/memory.h"
#include "system/threads.h"

enum { GRAIN = 4096 /* rows */ };

ld_status ld_csr_degrees(ld_tensor **out, const ld_csr *a, const ld_index *rows)
{
    const ld_structure *s = a->s;
    int64_t n = rows ? rows->size : s->n_rows;
    if (rows)
        LD_CHECK(ld_index_check(rows, 0, s->n_rows, "degrees: row"));
    LD_CHECK(ld_tensor_new(out, 1, n, 1));
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

/* The entries of a matrix as a vector: their values, or their rows. */
typedef struct {
    const ld_csr *a;
    float *values;
    int32_t *rows;
} entry_vector;

static void values_of_rows(void *ctx, int64_t begin, int64_t end)
{
    const entry_vector *p = ctx;
    const int64_t *offsets = p->a->s->offsets;
    for (int64_t r = begin; r < end; r++)
        for (int64_t e = offsets[r]; e < offsets[r + 1]; e++)
            p->values[e] = ld_csr_value(p->a, r, e);
}

static void numbers_of_rows(void *ctx, int64_t begin, int64_t end)
{
    const entry_vector *p = ctx;
    const int64_t *offsets = p->a->s->offsets;
    for (int64_t r = begin; r < end; r++)
        for (int64_t e = offsets[r]; e < offsets[r + 1]; e++)
            p->rows[e] = (int32_t)r;
}

ld_status ld_csr_entries(ld_tensor **out, const ld_csr *a)
{
    LD_OWN(ld_tensor) *values = NULL;
    LD_CHECK(ld_tensor_new(&values, 1, a->s->nnz, 1));
    entry_vector p = {.a = a, .values = values->data};
    LD_CHECK(ld_parallel_for(a->s->n_rows, GRAIN, values_of_rows, &p));
    *out = ld_tensor_ref(values);
    return LD_OK;
}

ld_status ld_csr_row_of(ld_index **out, const ld_csr *a)
{
    LD_OWN(ld_index) *rows = NULL;
    LD_CHECK(ld_index_new(&rows, a->s->nnz));
    entry_vector p = {.a = a, .rows = rows->data};
    LD_CHECK(ld_parallel_for(a->s->n_rows, GRAIN, numbers_of_rows, &p));
    *out = ld_index_ref(rows);
    return LD_OK;
}

ld_status ld_csr_col_of(ld_index **out, const ld_csr *a)
{
    LD_CHECK(ld_index_new(out, a->s->nnz));
    memcpy((*out)->data, a->s->columns, (size_t)a->s->nnz * sizeof(int32_t));
    return LD_OK;
}

ld_status ld_csr_offsets(ld_index **out, const ld_csr *a)
{
    const ld_structure *s = a->s;
    LD_CHECK(ld_structure_check_positions(s, "offsets"));
    LD_CHECK(ld_index_new(out, s->n_rows + 1));
    for (int64_t r = 0; r <= s->n_rows; r++)
        (*out)->data[r] = (int32_t)s->offsets[r];
    return LD_OK;
}

ld_status ld_csr_origin(ld_index **out, const ld_csr *a)
{
    const ld_structure *s = a->s, *of = s->from.root ? s->from.root->s : s;
    LD_CHECK(ld_structure_check_positions(of, "edge"));
    if (of->from.row_ids)
        return ld_fail(LD_STATE,
                       "edge: these are entries of a graph in shards, of which each rank has "
                       "its own rows; their positions in it are not known");
    if (!s->from.rows)
        return ld_index_range(out, 0, s->nnz);
    LD_CHECK(ld_index_new(out, s->nnz));
    for (int64_t r = 0; r < s->n_rows; r++)
        for (int64_t e = s->offsets[r]; e < s->offsets[r + 1]; e++)
            (*out)->data[e] = (int32_t)(s->from.rows[r] +
                                        (s->from.places ? s->from.places[e] : e - s->offsets[r]));
    return LD_OK;
}

ld_status ld_csr_to_dense(ld_tensor **out, const ld_csr *a)
{
    const ld_structure *s = a->s;
    LD_CHECK(ld_tensor_full(out, 2, s->n_rows, s->n_cols, 0.0f));
    for (int64_t r = 0; r < s->n_rows; r++)
        for (int64_t e = s->offsets[r]; e < s->offsets[r + 1]; e++)
            (*out)->data[r * s->n_cols + s->columns[e]] += ld_csr_value(a, r, e);
    return LD_OK;
}

ld_status ld_csr_row_sums(ld_tensor **out, const ld_csr *a, int power)
{
    ld_factors factors = ld_csr_factors(a);
    LD_CHECK(ld_tensor_new(out, 1, a->s->n_rows, 1));
    ld_entry_row_sums((*out)->data, &factors, power);
    return LD_OK;
}

ld_status ld_csr_col_sums(ld_tensor **out, const ld_csr *a, int power)
{
    const ld_structure *s = a->s;
    ld_factors factors = ld_csr_factors(a);
    LD_FREED double *sums = ld_calloc_array(s->n_cols, sizeof *sums, LD_MEM_SCRATCH);
    if (!sums)
        return LD_NOMEM;
    ld_structure_advise(s, LD_ACCESS_SEQUENTIAL);
    ld_entry_col_sums(sums, &factors, power);
    ld_structure_advise(s, LD_ACCESS_RANDOM);
    LD_CHECK(ld_tensor_new(out, 1, s->n_cols, 1));
    for (int64_t c = 0; c < s->n_cols; c++)
        (*out)->data[c] = (float)sums[c];
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
    ld_structure_advise(s, LD_ACCESS_SEQUENTIAL);
    LD_TRY(ld_hash_bytes(hash, s->columns, (size_t)s->nnz * sizeof *s->columns));
    LD_TRY(ld_hash_items(hash, s->n_rows, hash_values, a));
done:
    ld_structure_advise(s, LD_ACCESS_RANDOM);
    return st;
}

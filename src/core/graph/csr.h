/* Sparse matrices in compressed sparse row form, factored.
 *
 * A matrix is a structure (row offsets and columns), optional values (none = all ones), an optional
 * scale per row and an optional scale per column; entry e in row r and column c is
 *     row_scale[r] * values[e] * column_scale[c].
 * So normalising and reweighting make no copy of the entries, and many matrices share a structure.
 * Everything is immutable; the structure's transpose is made when first wanted and kept.
 *
 * Matrices that are built from entries are coalesced and sorted by column within a row. A slice
 * keeps the order of its parent's entries, whatever its columns are renamed to. */
#ifndef LD_GRAPH_CSR_H
#define LD_GRAPH_CSR_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/mapping.h"
#include "base/status.h"
#include "tensor/index.h"
#include "tensor/tensor.h"

typedef struct ld_structure {
    atomic_int refs;
    int64_t n_rows, n_cols, nnz;
    int64_t *offsets;      /* n_rows + 1 */
    int32_t *columns;      /* nnz, 0-based */
    ld_index *shared;      /* whose data the columns are, or NULL: they are the structure's own */
    ld_mapping *mapped[2]; /* that offsets and columns lie in, or NULL: memory of its own */
    atomic_bool symmetric; /* known to equal its transpose */
    atomic_bool canonical; /* rows known to be sorted, no column twice in one */
    atomic_bool looped;    /* every row known to have an entry on the diagonal */
    /* Where the entries came from in the graph that was sliced: row r's lay from position
     * origin_row[r] on, entry e in place origin[e] there, or e - offsets[r] where whole rows were
     * taken. Places in a row are int32 as columns are, however many entries a graph has. */
    int64_t *origin_row; /* n_rows, or NULL */
    int32_t *origin;     /* nnz, or NULL */
    struct ld_csr *root; /* that graph's matrix, no slice itself; NULL when nothing was sliced */
    /* Of which rows of a whole that is elsewhere this is a copy (graph_rows.h), or NULL: by these its
     * random numbers and its diagonal go. Its entries have no positions in that whole. */
    ld_index *row_ids;
    /* Only in a transpose: its entries' positions in the structure that it transposes. */
    int32_t *source;
    struct ld_structure *_Atomic transpose;
    atomic_bool transposing; /* held by who makes it */
} ld_structure;

typedef struct ld_csr {
    atomic_int refs;
    ld_structure *s;
    ld_tensor *values;                       /* nnz, or NULL = all ones */
    ld_tensor *row_scale;                    /* n_rows, or NULL */
    ld_tensor *col_scale;                    /* n_cols, or NULL */
    struct ld_row_mass *_Atomic row_mass[2]; /* of powers 1 and 2, once wanted: row_mass.h */
    atomic_bool summing;                     /* held by who makes one */
} ld_csr;

/* --- lifetime ------------------------------------------------------------------------------- */

/* A structure with uninitialised arrays and one reference; with_origin makes `origin_row` and
 * `origin` as well. */
ld_status ld_structure_new(ld_structure **out, int64_t n_rows, int64_t n_cols, int64_t nnz,
                           bool with_origin);

/* The same with the elements of an index, which it takes a reference of, for columns. */
ld_status ld_structure_over(ld_structure **out, int64_t n_rows, int64_t n_cols, ld_index *columns);

/* The same with a block of `nnz` columns, which it takes, also on failure. */
ld_status ld_structure_of_block(ld_structure **out, int64_t n_rows, int64_t n_cols, int64_t nnz,
                                int32_t *columns);

/* The same over mapped memory, of which it takes references: n_rows + 1 int64 and nnz int32, which
 * are looked at by ld_structure_verify alone. */
ld_status ld_structure_over_mappings(ld_structure **out, int64_t n_rows, int64_t n_cols,
                                     int64_t nnz, ld_mapping *offsets, ld_mapping *columns);

/* Whether arrays that somebody else made are those of a structure whose rows are sorted, without a
 * column twice: LD_RANGE with the position of what is wrong, from 0, and its row. s->canonical, and
 * s->looped if it is square, say so afterwards. */
ld_status ld_structure_verify(ld_structure *s);

/* How pages of a mapped structure will be touched; nothing for one in memory. */
void ld_structure_advise(const ld_structure *s, ld_access access);

/* Brings these rows into memory, which must be in range, all of them at once: where they lie in a file
 * that is large. Otherwise, and for a structure in memory, nothing is done. */
ld_status ld_structure_prefetch(const ld_structure *s, const ld_index *rows);

/* The columns of entries first .. end - 1 will not be read for long: where they lie in a file they
 * take no memory until they are. */
void ld_structure_forget(const ld_structure *s, int64_t first, int64_t end);

/* Whether a matrix may have these numbers: LD_SHAPE if not. Everything that makes one asks. */
ld_status ld_structure_check(int64_t n_rows, int64_t n_cols, int64_t nnz);

/* Positions of entries are int32 where they are an Index, or lead from a transpose back: whether
 * they fit; and LD_RANGE, with `what` beginning the message, when they do not. */
bool ld_structure_has_positions(const ld_structure *s);
ld_status ld_structure_check_positions(const ld_structure *s, const char *what);

/* For tests: a matrix of more than n entries is one of those from now on; 0 switches this off. */
void ld_structure_limit(int64_t n);

/* How many entries these rows have, which must be in range. */
int64_t ld_structure_count(const ld_structure *s, const ld_index *rows);

/* Where the entries of row r of a lay in the graph that a was sliced from: origin_row of a slice. */
static inline int64_t ld_structure_origin(const ld_structure *s, int64_t r)
{
    return s->origin_row ? s->origin_row[r] : s->offsets[r];
}

/* The number of row r in the graph, which it is part of. */
static inline int64_t ld_structure_row_id(const ld_structure *s, int64_t r)
{
    return s->row_ids ? s->row_ids->data[r] : r;
}

/* Says that s, which is new, is of a slice of a. */
void ld_structure_sliced(ld_structure *s, ld_csr *a);

ld_structure *ld_structure_ref(ld_structure *s);
void ld_structure_unref(ld_structure *s);

/* A matrix of the given parts; takes a reference of each (any but s may be NULL). */
ld_status ld_csr_new(ld_csr **out, ld_structure *s, ld_tensor *values, ld_tensor *row_scale,
                     ld_tensor *col_scale);
ld_csr *ld_csr_ref(ld_csr *a);
void ld_csr_unref(ld_csr *a);

/* The value of entry e in row r. */
static inline float ld_csr_value(const ld_csr *a, int64_t r, int64_t e)
{
    float v = a->values ? a->values->data[e] : 1.0f;
    if (a->row_scale)
        v *= a->row_scale->data[r];
    if (a->col_scale)
        v *= a->col_scale->data[a->s->columns[e]];
    return v;
}

/* Freezes values and scales (see ld_tensor_freeze), those of the root too; the rest is immutable
 * anyway. */
ld_status ld_csr_freeze(ld_csr *a);

/* --- building (build.c, entries.c) ---------------------------------------------------------- */

/* From coordinates: rows and cols of equal length, values of that length or NULL. Entries that
 * occur twice are summed (with values), or kept once (without). LD_RANGE when an id is outside. */
ld_status ld_csr_from_coo(ld_csr **out, int64_t n_rows, int64_t n_cols, const ld_index *rows,
                          const ld_index *cols, ld_tensor *values);

/* From the entries (rows[i], s->columns[i], values->data[i]), i < s->nnz, in any order, with ids that
 * are in range; values may be NULL. Entries that occur twice are treated as above. Works in place
 * (entries.c): s becomes the structure, its nnz falls where entries are merged, and values, of at
 * least that length, becomes the storage of the matrix's; what is in them after a failure is of no
 * use. `rows` is only worked on. */
ld_status ld_csr_from_entries(ld_csr **out, ld_structure *s, int32_t *rows, ld_tensor *values);

/* The same where the entries lie in their rows already, in any order within them. */
ld_status ld_csr_from_rows(ld_csr **out, ld_structure *s, ld_tensor *values);

/* From CSR arrays, which are checked, sorted within rows and coalesced as above. Columns that are
 * sorted are shared, and values that are frozen; all else is copied. */
ld_status ld_csr_from_arrays(ld_csr **out, int64_t n_rows, int64_t n_cols, const ld_index *offsets,
                             ld_index *columns, ld_tensor *values);

/* a itself (another reference) when its rows are sorted and free of duplicates, a copy with sorted
 * and merged rows otherwise. */
ld_status ld_csr_canonical(ld_csr **out, ld_csr *a);

/* From a dense tensor: its entries that are not zero. */
ld_status ld_csr_from_dense(ld_csr **out, const ld_tensor *t);

/* The n matrices one after the other along the diagonal (block_diagonal.c), none for n = 0. They must
 * all be slices of one matrix, as the result then is, or none of them one: LD_VALUE otherwise. */
ld_status ld_csr_block_diagonal(ld_csr **out, ld_csr *const *parts, int64_t n);

/* --- transposes (transpose.c, symmetrize.c) ------------------------------------------------- */

/* The transpose as a matrix of its own; sorted by column. */
ld_status ld_csr_transpose(ld_csr **out, ld_csr *a);

/* The structure's transpose with `source` filled; made once and kept in s, so the caller gives
 * nothing back. A symmetric structure still has one when its entries must be followed. */
ld_status ld_structure_transpose(ld_structure **out, ld_structure *s);

/* What says which rows have entries in a column: s itself when it is symmetric, else its transpose,
 * made if it is not there, or NULL then without `make`. NULL for slices, whose rows may be unsorted,
 * for rows of a whole that is elsewhere, and where a transpose has no positions. As above, the caller
 * gives nothing back. */
ld_status ld_structure_by_cols(const ld_structure **out, ld_structure *s, bool make);

/* Whether a is square and equals its transpose, values included. */
ld_status ld_csr_is_symmetric(bool *out, ld_csr *a);

/* The union of a and its transpose (values: the larger of the two entries). Square a. Holds nothing
 * beside the two but a few numbers for each row; gives a itself if it is its own transpose. */
ld_status ld_csr_symmetrize(ld_csr **out, ld_csr *a);

/* --- the diagonal (diagonal.c) -------------------------------------------------------------- */

/* a with v, or the vector v, added on the diagonal; missing diagonal entries are made. Square a. */
ld_status ld_csr_add_diag(ld_csr **out, ld_csr *a, float v);
ld_status ld_csr_add_diagonal(ld_csr **out, ld_csr *a, const ld_tensor *v);

/* The diagonal of a square matrix as a vector, 0 where there is no entry. */
ld_status ld_csr_diagonal_values(ld_tensor **out, const ld_csr *a);

/* a with the diagonal dropped, or replaced by ones. */
ld_status ld_csr_set_loops(ld_csr **out, ld_csr *a, bool loops);

/* Number of entries on the diagonal. */
int64_t ld_csr_loops(const ld_csr *a);

/* The place in every row of its entry on the diagonal, -1 where there is none. */
ld_status ld_csr_diagonal(ld_index **out, const ld_csr *a);

/* --- scaling and sums (scale.c, sums.c) ----------------------------------------------------- */

/* diag(w) * a and a * diag(w); the structure and values are shared. */
ld_status ld_csr_scale_rows(ld_csr **out, ld_csr *a, ld_tensor *w);
ld_status ld_csr_scale_cols(ld_csr **out, ld_csr *a, ld_tensor *w);

/* Entry e times w[e]; the structure and the scales are shared. */
ld_status ld_csr_scale_entries(ld_csr **out, ld_csr *a, const ld_tensor *w);

/* Sums over rows or columns of |entry|^power, power 1 (the entries themselves) or 2 (squares),
 * accumulated in double. */
ld_status ld_csr_row_sums(ld_tensor **out, const ld_csr *a, int power);
ld_status ld_csr_col_sums(ld_tensor **out, const ld_csr *a, int power);

/* --- reading (csr_read.c) ------------------------------------------------------------------- */

/* Number of entries of each row (all rows for NULL). */
ld_status ld_csr_degrees(ld_tensor **out, const ld_csr *a, const ld_index *rows);

/* Number of rows without entries. */
int64_t ld_csr_empty_rows(const ld_csr *a);

/* The entries' values, scales included, as a vector. */
ld_status ld_csr_entries(ld_tensor **out, const ld_csr *a);

/* Dense copy. */
ld_status ld_csr_to_dense(ld_tensor **out, const ld_csr *a);

/* The row and the column of every entry. */
ld_status ld_csr_row_of(ld_index **out, const ld_csr *a);
ld_status ld_csr_col_of(ld_index **out, const ld_csr *a);

/* Where each row's entries begin, and the last one's end. LD_RANGE as ld_structure_check_positions. */
ld_status ld_csr_offsets(ld_index **out, const ld_csr *a);

/* Positions of the entries in the graph that a was sliced from (in a itself when it is no slice).
 * LD_RANGE as ld_structure_check_positions of that graph; LD_STATE where that is elsewhere. */
ld_status ld_csr_origin(ld_index **out, const ld_csr *a);

/* Whether a and b have entries in the same places, in the same order, with values that differ by no
 * more than tolerance times the larger one; at once when they are one matrix. */
bool ld_csr_is_close(const ld_csr *a, const ld_csr *b, double tolerance);

ld_status ld_csr_hash(uint64_t *hash, const ld_csr *a);

/* --- slicing (slice.c, slice_cols.c, pick_entries.c) ---------------------------------------- */

/* U = a[rows, touched]: whole rows, the columns renamed to those touched, in order of first touch
 * along the rows. `first` (NULL for none): these columns come first, touched or not. `src` gets
 * the touched columns' ids. Time and memory grow with the entries of U, not with a. Rows may not
 * repeat. */
ld_status ld_csr_slice(ld_csr **out, ld_index **src, ld_csr *a, const ld_index *rows,
                       const ld_index *first);

/* The matrix of s, which has some entries of the distinct rows `rows` of a under a's columns, with
 * `values` (NULL for none) and a's scales: the columns are compacted as above, in s itself. `first`
 * must be in range; when it repeats, `what` begins the message. */
ld_status ld_csr_compact(ld_csr **out, ld_index **src, const ld_csr *a, ld_structure *s,
                         ld_tensor *values, const ld_index *rows, const ld_index *first,
                         const char *what);

/* a[rows, cols] for given, distinct rows and columns; cols may be `rows` itself: the induced
 * subgraph. Time and memory grow with the entries of those rows or, where they are fewer and the
 * transpose is at hand (ld_structure_by_cols), with those of those columns. */
ld_status ld_csr_slice_cols(ld_csr **out, ld_csr *a, const ld_index *rows, const ld_index *cols);

/* a[rows, :] with the columns as they are; rows may repeat. */
ld_status ld_csr_rows(ld_csr **out, ld_csr *a, const ld_index *rows);

/* For every entry of `part` its position in a, which has them all: row i and column j of `part` are
 * rows[i] and cols[j] of a (NULL: i and j themselves). */
ld_status ld_csr_positions(ld_index **out, const ld_csr *a, const ld_csr *part,
                           const ld_index *rows, const ld_index *cols);

/* The entries at `positions`, which must ascend; rows and columns stay. LD_VALUE if they do not,
 * LD_RANGE for one that a does not have. */
ld_status ld_csr_pick_entries(ld_csr **out, ld_csr *a, const ld_index *positions);

/* Column choice by position: column j of the result is column pick[j] of a. Distinct positions. */
ld_status ld_csr_pick_cols(ld_csr **out, ld_csr *a, const ld_index *pick);

/* --- products (spmm.c, spmm_blocks.c, spmm_precise.c) --------------------------------------- */

/* y = a * x, or y += a * x when accumulate; x is n_cols x k, y n_rows x k. Each row of y is summed
 * in the order of the row's entries, so results do not depend on the number of threads. */
ld_status ld_spmm(ld_tensor *y, const ld_csr *a, const ld_tensor *x, bool accumulate);

/* y = a * x with `bias`, a vector of k elements or NULL, added to each row. Given `rows`, which x must
 * have, column c of a meets row rows[c] of x: to the bit the product with a copy of these rows. */
ld_status ld_spmm_bias(ld_tensor *y, const ld_csr *a, const ld_tensor *x, const ld_index *rows,
                       const ld_tensor *bias);

/* y = a^T * x: through the kept transpose, or without one where a has few columns (spmm_columns.c). */
ld_status ld_spmm_t(ld_tensor *y, const ld_csr *a, const ld_tensor *x, bool accumulate);

/* A new y = a * x, or a^T * x with `transpose`: products and sums in double, each element rounded to
 * float once. LD_SHAPE when the shapes do not fit. */
ld_status ld_spmm_precise(ld_tensor **out, const ld_csr *a, bool transpose, const ld_tensor *x);

/* out[e] = x[row of e] . y[column of e]; a's values and scales do not matter. */
ld_status ld_sddmm(ld_tensor *out, const ld_csr *a, const ld_tensor *x, const ld_tensor *y);

#endif

/* Sparse matrices in compressed sparse row form, factored.
 *
 * A matrix is a structure (row offsets and columns: structure.h), optional values (none = all
 * ones), an optional scale per row and an optional scale per column; entry e in row r and column c
 * is
 *     row_scale[r] * values[e] * column_scale[c].
 * So normalising and reweighting make no copy of the entries. Everything is immutable. */
#ifndef LD_GRAPH_CSR_H
#define LD_GRAPH_CSR_H

#include "graph/structure.h"
#include "kernel/factors.h"
#include "tensor/tensor.h"

typedef struct ld_csr {
    atomic_int refs;
    ld_structure *s;
    /* The factors. */
    ld_tensor *values;    /* nnz, or NULL = all ones */
    ld_tensor *row_scale; /* n_rows, or NULL */
    ld_tensor *col_scale; /* n_cols, or NULL */
    struct {
        struct ld_row_mass *_Atomic row_mass[2]; /* for powers 1 and 2: row_mass.h */
        atomic_bool summing;                     /* held by the thread that makes one */
    } kept;
} ld_csr;

/* Makes a matrix of the given parts and takes a reference to each (any but s may be NULL). */
ld_status ld_csr_new(ld_csr **out, ld_structure *s, ld_tensor *values, ld_tensor *row_scale,
                     ld_tensor *col_scale);
ld_csr *ld_csr_ref(ld_csr *a);
void ld_csr_unref(ld_csr *a);
LD_OWNED_BY(ld_csr, ld_csr_unref)

/* Returns the matrix as kernels take it: pointers into a, valid as long as a is. */
ld_factors ld_csr_factors(const ld_csr *a);

/* Returns true if a has values or a scale; without them all entries are 1. */
static inline bool ld_csr_is_valued(const ld_csr *a)
{
    return a->values || a->row_scale || a->col_scale;
}

/* Returns the value of entry e in row r, scales included. */
static inline float ld_csr_value(const ld_csr *a, int64_t r, int64_t e)
{
    float v = a->values ? a->values->data[e] : 1.0f;
    if (a->row_scale)
        v *= a->row_scale->data[r];
    if (a->col_scale)
        v *= a->col_scale->data[a->s->columns[e]];
    return v;
}

/* Freezes values and scales (see ld_tensor_freeze), and those of the root, since slices share them.
 * All else is immutable anyway. */
ld_status ld_csr_freeze(ld_csr *a);

/* --- building (build.c, entries.c) ---------------------------------------------------------- */

/* Builds a matrix from coordinates: rows and cols of equal length, and values of that length or
 * NULL. Entries that occur twice are summed (with values), or kept once (without). Fails with
 * LD_RANGE when an id is outside. */
ld_status ld_csr_from_coo(ld_csr **out, int64_t n_rows, int64_t n_cols, const ld_index *rows,
                          const ld_index *cols, ld_tensor *values);

/* Builds a matrix from the entries (rows[i], s->columns[i], values->data[i]), i < s->nnz, in any
 * order, with ids that are in range; values may be NULL. Entries that occur twice are treated as
 * above. It works in place (entries.c): s becomes the structure, and its nnz falls where entries
 * are merged; values, of at least that length, becomes the storage of the matrix's. After a failure
 * their contents are of no use, and so are those of `rows` in any case. */
ld_status ld_csr_from_entries(ld_csr **out, ld_structure *s, int32_t *rows, ld_tensor *values);

/* Builds a matrix as ld_csr_from_entries does, but from entries that lie in their rows already, in
 * any order within them. */
ld_status ld_csr_from_rows(ld_csr **out, ld_structure *s, ld_tensor *values);

/* Builds a matrix from CSR arrays, which are checked, sorted within rows and coalesced as above.
 * Columns that are sorted are shared, and values that are frozen; all else is copied. */
ld_status ld_csr_from_arrays(ld_csr **out, int64_t n_rows, int64_t n_cols, const ld_index *offsets,
                             ld_index *columns, ld_tensor *values);

/* Gives a itself (another reference) when its rows are sorted and free of duplicates; otherwise a
 * copy with sorted and merged rows. */
ld_status ld_csr_canonical(ld_csr **out, ld_csr *a);

/* Builds a matrix of the elements of a dense tensor that are not zero. */
ld_status ld_csr_from_dense(ld_csr **out, const ld_tensor *t);

/* Puts n matrices one after the other along the diagonal (block_diagonal.c); none for n = 0. They
 * must all be slices of one matrix, as the result then is, or none of them a slice: LD_VALUE
 * otherwise. */
ld_status ld_csr_block_diagonal(ld_csr **out, ld_csr *const *parts, int64_t n);

/* --- transposes (transpose.c, symmetrize.c) ------------------------------------------------- */

/* Makes the transpose as a matrix of its own, its rows sorted by column. */
ld_status ld_csr_transpose(ld_csr **out, ld_csr *a);

/* Sets *out to true if a is square and equals its transpose, values included. */
ld_status ld_csr_is_symmetric(bool *out, ld_csr *a);

/* Makes the union of a square matrix and its transpose; where both have an entry, its value is the
 * larger one. Beside the two matrices it takes only a few numbers for each row. Gives a itself if
 * it is its own transpose. */
ld_status ld_csr_symmetrize(ld_csr **out, ld_csr *a);

/* Numbers the connected components of a square matrix, entries taken both ways: *out gets the
 * component of every node, *count how many there are. They count from 0 in the order of their
 * smallest nodes. Takes nearly O(entries) (components.c). */
ld_status ld_csr_components(ld_index **out, int64_t *count, const ld_csr *a);

/* --- the diagonal (diagonal.c) -------------------------------------------------------------- */

/* Adds the vector v to the diagonal of a square matrix; missing diagonal entries are made, and loops
 * that stand several times become one entry, their sum. */
ld_status ld_csr_add_diagonal(ld_csr **out, ld_csr *a, const ld_tensor *v);

/* Gives the diagonal of a square matrix as a vector, 0 where there is no entry, the sum where there
 * are several. */
ld_status ld_csr_diagonal_values(ld_tensor **out, const ld_csr *a);

/* Drops the diagonal of a square matrix, or with `loops` makes all of it ones. */
ld_status ld_csr_set_loops(ld_csr **out, ld_csr *a, bool loops);

/* Returns the number of entries on the diagonal. */
int64_t ld_csr_loops(const ld_csr *a);

/* Gives for every row the place in it of the entry on the diagonal (the last of several), -1 where
 * there is none. */
ld_status ld_csr_diagonal(ld_index **out, const ld_csr *a);

/* --- sums (csr_query.c) --------------------------------------------------------------------- */

/* Give the sums over rows or columns of the entries (power 1) or of their squares (power 2),
 * accumulated in double. */
ld_status ld_csr_row_sums(ld_tensor **out, const ld_csr *a, int power);
ld_status ld_csr_col_sums(ld_tensor **out, const ld_csr *a, int power);

/* --- reading (csr_query.c) ------------------------------------------------------------------ */

/* Gives the number of entries of each of these rows, or of all for NULL. */
ld_status ld_csr_degrees(ld_tensor **out, const ld_csr *a, const ld_index *rows);

/* Returns the number of rows without entries. */
int64_t ld_csr_empty_rows(const ld_csr *a);

/* Gives the entries' values, scales included, as a vector. */
ld_status ld_csr_entries(ld_tensor **out, const ld_csr *a);

/* Makes a dense copy, in which parallel entries are added up. */
ld_status ld_csr_to_dense(ld_tensor **out, const ld_csr *a);

/* Give the row and the column of every entry. */
ld_status ld_csr_row_of(ld_index **out, const ld_csr *a);
ld_status ld_csr_col_of(ld_index **out, const ld_csr *a);

/* Gives the positions at which the rows begin, and the end of the last one. Fails with LD_RANGE as
 * ld_structure_check_positions does. */
ld_status ld_csr_offsets(ld_index **out, const ld_csr *a);

/* Gives the positions of the entries in the graph that a was sliced from (in a itself when it is no
 * slice). Fails with LD_RANGE as ld_structure_check_positions of that graph does, and with LD_STATE
 * where that graph is in shards. */
ld_status ld_csr_origin(ld_index **out, const ld_csr *a);

/* Returns true when a and b have entries in the same places, in the same order, with values that
 * differ by no more than tolerance times the larger one. A matrix is close to itself without a
 * look. */
bool ld_csr_is_close(const ld_csr *a, const ld_csr *b, double tolerance);

ld_status ld_csr_hash(uint64_t *hash, const ld_csr *a);

/* --- slicing (slice.c, slice_cols.c) -------------------------------------------------------- */

/* Slices whole rows: U = a[rows, touched], the columns renamed to those that the rows touch, in
 * order of first touch. The columns in `first` (NULL for none) come before these, touched or not.
 * `src` gets the ids of U's columns. Time and memory grow with the entries of U, not with a. Rows
 * may not repeat. */
ld_status ld_csr_slice(ld_csr **out, ld_index **src, ld_csr *a, const ld_index *rows,
                       const ld_index *first);

/* Makes a matrix of s, which has some entries of the distinct rows `rows` of a under a's columns,
 * with `values` (NULL for none) and a's scales. Columns are compacted as above, in s itself.
 * `first` must be in range; when it repeats, `what` begins the message. */
ld_status ld_csr_compact(ld_csr **out, ld_index **src, const ld_csr *a, ld_structure *s,
                         ld_tensor *values, const ld_index *rows, const ld_index *first,
                         const char *what);

/* Slices a[rows, cols] for given, distinct rows and columns; if cols is `rows` itself, that is the
 * induced subgraph. Time and memory grow with the entries of those rows or, where they are fewer
 * and the transpose is at hand (ld_structure_by_cols), with those of those columns. */
ld_status ld_csr_slice_cols(ld_csr **out, ld_csr *a, const ld_index *rows, const ld_index *cols);

/* Slices a[rows, :] with all columns of a; rows may repeat. */
ld_status ld_csr_rows(ld_csr **out, ld_csr *a, const ld_index *rows);

/* Finds for every entry of `part` its position in a, which has them all: row i and column j of
 * `part` are rows[i] and cols[j] of a (NULL: i and j themselves). */
ld_status ld_csr_positions(ld_index **out, const ld_csr *a, const ld_csr *part,
                           const ld_index *rows, const ld_index *cols);

/* Keeps the entries at `positions`, which must ascend; rows and columns stay. Fails with LD_VALUE
 * if they do not ascend, and with LD_RANGE for one that a does not have. */
ld_status ld_csr_pick_entries(ld_csr **out, ld_csr *a, const ld_index *positions);

/* Keeps columns by position: column j of the result is column pick[j] of a. Positions must be
 * distinct. */
ld_status ld_csr_pick_cols(ld_csr **out, ld_csr *a, const ld_index *pick);

/* --- pairs of nodes (node_pairs.c) ------------------------------------------------------------ */

/* Finds for each pair of a row and a column the position of its entry, -1 where there is none.
 * Fails with LD_SHAPE unless there are as many rows as columns, and with LD_RANGE for one that a
 * does not have and as ld_structure_check_positions does. */
ld_status ld_csr_find(ld_index **out, ld_csr *a, const ld_index *rows, const ld_index *cols);

/* Gives a vector with 1 where a has an entry for the pair of a row and a column, and 0
 * elsewhere. */
ld_status ld_csr_has(ld_tensor **out, ld_csr *a, const ld_index *rows, const ld_index *cols);

/* Counts for each pair of rows of a the columns that both have entries in or, given `weights`, a
 * vector of n_cols, sums these columns' weights. */
ld_status ld_csr_common(ld_tensor **out, ld_csr *a, const ld_index *first, const ld_index *second,
                        const ld_tensor *weights);

/* --- products and sums of matrices (sparse_product.c, sparse_sum.c) -------------------------- */

/* Multiplies two sparse matrices. The result has an entry wherever a path of an entry of a and one of
 * b leads, even if its value is 0; rows are sorted. Values are summed in double, in the order of a's
 * entries. Fails with LD_SHAPE unless a has as many columns as b rows. Costs the entries of b's rows
 * that a's entries meet, and sorts each row. */
ld_status ld_csr_multiply(ld_csr **out, const ld_csr *a, const ld_csr *b);

/* Adds b, or with `subtract` -b, to a: the result has the entries of both. Fails with LD_SHAPE unless
 * their shapes are equal. */
ld_status ld_csr_add(ld_csr **out, ld_csr *a, ld_csr *b, bool subtract);

/* --- products (spmm.c) ---------------------------------------------------------------------- */

/* Computes y = a * x, or y += a * x when accumulate; x is n_cols x k, y n_rows x k. Each row of y
 * is summed in the order of the row's entries, so results do not depend on the number of
 * threads. */
ld_status ld_spmm(ld_tensor *y, const ld_csr *a, const ld_tensor *x, bool accumulate);

/* Computes y = a * x with `bias`, a vector of k elements or NULL, added to each row. Given `rows`,
 * which x must have, column c of a meets row rows[c] of x: the same bits as with a copy of these
 * rows, without the copy. */
ld_status ld_spmm_bias(ld_tensor *y, const ld_csr *a, const ld_tensor *x, const ld_index *rows,
                       const ld_tensor *bias);

/* Adds to y, for a product a * X, what the rows of X from `first` on give that x has: see
 * ld_spmm_of_window for the order of calls. y must not overlap x. Fails with LD_SHAPE, and with
 * LD_VALUE where the columns of a row do not ascend. */
ld_status ld_spmm_window(ld_tensor *y, const ld_csr *a, const ld_tensor *x, int64_t first,
                         const ld_tensor *bias);

/* Computes y = a^T * x through the kept transpose, or without one where a has few columns. */
ld_status ld_spmm_t(ld_tensor *y, const ld_csr *a, const ld_tensor *x, bool accumulate);

/* Makes y = a * x, or a^T * x with `transpose`, with products and sums in double, each element
 * rounded to float once. Fails with LD_SHAPE when the shapes do not fit. */
ld_status ld_spmm_precise(ld_tensor **out, const ld_csr *a, bool transpose, const ld_tensor *x);

/* Multiplies by a matrix for each head of attention: for head h and its `width` columns y = A_h x,
 * or y += A_h x when accumulate; with `transpose` A_h^T x. A_h has a's structure and column h of w
 * (nnz x heads) as values; x is n_cols x heads * width, y n_rows x heads * width. Fails with
 * LD_SHAPE when the shapes do not fit. */
ld_status ld_spmm_heads(ld_tensor *y, ld_csr *a, bool transpose, const ld_tensor *w,
                        const ld_tensor *x, bool accumulate);

/* Computes w[e][h] = x[row of e] . y[column of e], over the columns of head h, or += when
 * accumulate. */
ld_status ld_sddmm_heads(ld_tensor *w, ld_csr *a, const ld_tensor *x, const ld_tensor *y,
                         bool accumulate);

/* Computes out[e] = x[row of e] . y[column of e]; a's values and scales are not used. */
ld_status ld_sddmm(ld_tensor *out, const ld_csr *a, const ld_tensor *x, const ld_tensor *y);

#endif
